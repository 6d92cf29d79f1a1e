// What every process that takes part in a shared job must know: plain data, with forms as bytes for whoever hands it
// on.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>

#include "base/status.h"
#include "engine/files.h"
#include "format/cobblestone.h"
#include "format/header.h"

namespace stockade::format {

inline constexpr uint64_t machine_bytes = 16, job_id_bytes = 16;
inline constexpr uint64_t max_slices = uint64_t{1} << 20;

// An input as it was when the job was made. Size and time of modification mean the same everywhere; the rest is
// compared where the machine is the same.
struct InputIdentity {
  uint64_t size;
  int64_t modified_seconds, modified_nanoseconds;
  int64_t changed_seconds, changed_nanoseconds;
  uint64_t inode;
  uint8_t machine[machine_bytes];  // which one, since it was started; zeros where it does not say
};

InputIdentity identify(const struct stat& input);
bool is_same(const InputIdentity& was, const InputIdentity& is);

// Holds the file key: lives in Secret<>.
struct SharedTerms {
  stockade_shared_kind kind;
  stockade_cipher cipher;
  uint64_t header_length;          // of the Stockade file
  uint64_t length;                 // of what is cut into slices: the plaintext, or all chunks with their tags
  uint64_t slice_chunks;           // in each slice but the last: run_chunks times a power of two
  uint64_t journal_header_length;  // 0: the job has no journal
  bool has_input;                  // false: it is for chunks in memory alone, and `input` means nothing
  InputIdentity input;
  uint8_t id[job_id_bytes];  // no two jobs have the same
  uint8_t preamble[preamble_bytes];
  uint8_t file_key[file_key_bytes];

  bool seals() const { return kind == STOCKADE_SHARED_ENCRYPT; }
  uint64_t beginning_length() const { return header_length + preamble_bytes; }
  // Of the plaintext; of a file that is verified, as far as its length can tell.
  uint64_t plain_length() const;
  // Of the Stockade file.
  uint64_t file_length() const;
  // Of the input in one slice but the last; how many slices.
  uint64_t slice_bytes() const { return slice_chunks * (seals() ? chunk_bytes : sealed_chunk_bytes); }
  uint64_t slices() const { return engine::last_run(length, slice_bytes()) + 1; }
  // Of the input in a slice.
  uint64_t bytes_in(uint64_t slice) const {
    return slice + 1 < slices() ? slice_bytes() : length - slice * slice_bytes();
  }
};

// Sets slice_chunks: to what holds `slice_bytes` of plaintext, or for 0 to what suits the length and the number of
// processes. ARGUMENT (no power of two of runs, or too many slices).
Status choose_slices(uint64_t slice_bytes, uint32_t processes, SharedTerms& terms);

// The terms as STOCKADE_SHARED_TERMS_BYTES bytes, the file key among them. Only the version of the library that has
// written them reads them: MISMATCH for any other, and for what cannot be terms.
void write_terms(const SharedTerms& terms, uint8_t out[STOCKADE_SHARED_TERMS_BYTES]);
Status read_terms(const uint8_t in[STOCKADE_SHARED_TERMS_BYTES], SharedTerms& terms);

// What a journal's record says of them: neither the file key nor the cipher, which its header has. False for what
// cannot be terms.
inline constexpr uint64_t terms_record_bytes = 168;
void write_record(const SharedTerms& terms, uint8_t out[terms_record_bytes]);
bool read_record(const uint8_t in[terms_record_bytes], SharedTerms& terms);

}  // namespace stockade::format
