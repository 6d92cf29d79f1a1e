// A Stockade file front to back, from pieces that are handed in or fetched: what stockade_file holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/forks.h"
#include "base/random.h"
#include "config/environment.h"
#include "format/armor.h"
#include "format/sealed_file.h"

namespace stockade::format {

// Whether bytes (as many as there are) begin like a Stockade file: its magic and the digit of a version, or its armor.
bool looks_sealed(Bytes bytes);

class FileStream {
 public:
  FileStream(const FileFormat& format, stockade_direction direction, const config::EngineChoice& engine)
      : format_(format), direction_(direction), engine_(engine) {}

  // Makes the beginning of a file that is made. Errors of check_format and make_beginning.
  Status start(RandomSource& random);

  // stockade_file_bound, _update, _final, _pull: in a process that was forked after this was made, FORKED and nothing else, for
  // the nonces of chunks go on in its parent. They may throw std::bad_alloc, after which abandon() is due.
  uint64_t bound(uint64_t length) const;
  Status update(Bytes in, std::span<uint8_t> out, uint64_t* written);
  Status finish(std::span<uint8_t> out, uint64_t* written);
  Status pull(stockade_read read, void* context, std::span<uint8_t> out, uint64_t* written);
  void abandon(Status status);

  const stockade_fault& fault() const { return fault_; }

 private:
  enum class State { fresh, running, ended, failed };
  enum class Phase { armor, beginning, payload };

  // Raw output that goes to the caller, or through the armor first.
  struct Output {
    std::span<uint8_t> room;
    uint64_t used = 0;
  };

  bool making() const { return direction_ == STOCKADE_ENCRYPT; }
  bool armoring() const { return making() && format_.armor; }
  uint64_t piece_bytes() const { return making() ? chunked::chunk_bytes : chunked::sealed_chunk_bytes; }
  uint64_t sealed_bound(uint64_t length) const;
  Status check_state(bool ended_is_fine);
  Status fail(const stockade_fault& fault);

  Status take(Bytes in, Output& out);
  Status take_sealed(Bytes in, Output& out);
  Status try_beginning(Output& out);
  Status fail_in_armor(const stockade_fault& fault, Output& out);
  Status leave_beginning(Output& out);
  Status take_payload(Bytes in, Output& out);
  Status run_chunks(const uint8_t* in, uint64_t count, uint8_t* out);
  Status seal_last(uint8_t* out, uint64_t* written);
  Status open_last(Output& out);
  Status fetch(stockade_read read, void* context);
  Status give(Bytes in, bool last, Output& out);
  Status give_armored(Bytes in, bool last, Output& out);
  stockade_fault chunk_fault(uint64_t index, Bytes rest, bool last) const;

  const FileFormat format_;
  const stockade_direction direction_;
  const config::EngineChoice engine_;

  const uint64_t process_ = process_number();
  State state_ = State::fresh;
  stockade_fault fault_ = make_fault(STOCKADE_OK);
  Phase phase_ = Phase::armor;
  ArmorEncoder encoder_;
  ArmorDecoder decoder_;
  bool armored_ = false;                  // the input is
  std::vector<uint8_t> beginning_bytes_;  // to be written; or of the input while it is not complete
  BeginningOpener opener_;
  Beginning beginning_;
  uint64_t next_chunk_ = 0;
  // The chunk that is not complete yet, of plaintext or with its tag.
  Secret<uint8_t[chunked::sealed_chunk_bytes]> held_;
  uint64_t held_length_ = 0;

  // Of pull().
  SecretBuffer fetched_, ready_;
  uint64_t ready_begin_ = 0, ready_end_ = 0;
};

}  // namespace stockade::format
