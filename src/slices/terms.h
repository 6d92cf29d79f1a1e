// What every process that makes slices of a file must know: plain data, and its forms as bytes, in memory and in a
// journal.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>

#include "base/status.h"
#include "chunked/payload.h"
#include "cipher/transform.h"
#include "format/header.h"

namespace stockade::slices {

inline constexpr uint64_t boot_id_bytes = 16, job_id_bytes = 16;
// Of plaintext. A worker holds a whole slice in memory.
inline constexpr uint64_t least_slice_chunks = 16, most_slice_chunks = 4096;
inline constexpr uint64_t max_slices = chunked::max_chunks / most_slice_chunks;

// An input as it was when the job was made. Device numbers change from boot to boot and from machine to machine, so
// they are compared within the boot that made the job; all else is compared everywhere.
struct InputIdentity {
  uint64_t size;
  int64_t modified_seconds, modified_nanoseconds;
  int64_t changed_seconds, changed_nanoseconds;
  uint64_t inode, device;
  uint8_t boot_id[boot_id_bytes];  // zeros where the system does not say
};

InputIdentity identify(const struct stat& input);
bool is_same(const InputIdentity& was, const InputIdentity& is);

// Holds the file key: lives in Secret<>.
struct Terms {
  stockade_shared_kind kind;
  stockade_cipher cipher;
  uint64_t header_length;          // of the Stockade file
  uint64_t length;                 // of what is cut into slices: the plaintext, or all chunks with their tags
  uint64_t slice_chunks;           // in each slice but the last: a power of two
  uint64_t journal_header_length;  // 0: the job has no journal
  bool has_input;                  // false: it is for chunks in memory alone, and `input` means nothing
  InputIdentity input;
  uint8_t id[job_id_bytes];  // no two jobs have the same
  uint8_t preamble[chunked::preamble_bytes];
  uint8_t file_key[format::file_key_bytes];

  bool seals() const { return kind == STOCKADE_SHARED_ENCRYPT; }
  uint64_t beginning_length() const { return header_length + chunked::preamble_bytes; }
  // Of the plaintext; of a file that is verified, as far as its length can tell.
  uint64_t plain_length() const;
  // Of the Stockade file.
  uint64_t file_length() const;
  uint64_t output_length() const { return seals() ? file_length() : plain_length(); }
  // Of the input in one slice but the last; how many slices.
  uint64_t slice_bytes() const { return slice_chunks * (seals() ? chunked::chunk_bytes : chunked::sealed_chunk_bytes); }
  uint64_t slices() const { return cipher::last_segment(length, slice_bytes()) + 1; }
  // Of the input in a slice.
  uint64_t bytes_in(uint64_t slice) const {
    return slice + 1 < slices() ? slice_bytes() : length - slice * slice_bytes();
  }
  bool is_last(uint64_t slice) const { return slice + 1 == slices(); }
  uint64_t first_chunk(uint64_t slice) const { return slice * slice_chunks; }
  // Of a slice in the Stockade file: where its first chunk begins, and the length of its chunks with their tags.
  uint64_t sealed_offset(uint64_t slice) const {
    return beginning_length() + first_chunk(slice) * chunked::sealed_chunk_bytes;
  }
  uint64_t sealed_bytes_in(uint64_t slice) const {
    return seals() ? chunked::sealed_length(bytes_in(slice), is_last(slice)) : bytes_in(slice);
  }
  // Of a slice in the plaintext.
  uint64_t plain_offset(uint64_t slice) const { return first_chunk(slice) * chunked::chunk_bytes; }
  uint64_t plain_bytes_in(uint64_t slice) const {
    if (seals()) return bytes_in(slice);
    return is_last(slice) ? plain_length() - plain_offset(slice) : slice_chunks * chunked::chunk_bytes;
  }
};

// Sets slice_chunks: to what holds `slice_bytes` of plaintext, or for 0 to what suits the length and the number of
// processes. ARGUMENT (not a power of two from 256 KiB to 64 MiB).
Status choose_slices(uint64_t slice_bytes, uint32_t processes, Terms& terms);

// The terms as STOCKADE_SHARED_TERMS_BYTES bytes, the file key among them. Only the version of the library that has
// written them reads them: MISMATCH for any other, and for what cannot be terms.
void write_terms(const Terms& terms, uint8_t out[STOCKADE_SHARED_TERMS_BYTES]);
Status read_terms(const uint8_t in[STOCKADE_SHARED_TERMS_BYTES], Terms& terms);

// What a journal's record says of them: neither the file key nor the cipher, which its header has. False for what
// cannot be terms.
inline constexpr uint64_t terms_record_bytes = 176;
void write_record(const Terms& terms, uint8_t out[terms_record_bytes]);
bool read_record(const uint8_t in[terms_record_bytes], Terms& terms);

}  // namespace stockade::slices
