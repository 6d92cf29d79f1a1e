// Any part of a Stockade file: what stockade_reader holds. Nothing changes once it is open, so threads may share it.
#pragma once

#include <cstdint>
#include <span>

#include "config/environment.h"
#include "format/sealed_file.h"

namespace stockade::format {

class Reader {
 public:
  Reader(stockade_read_at read, void* context, uint64_t file_length, const config::EngineChoice& engine)
      : read_(read), context_(context), file_length_(file_length), engine_(engine) {}

  // Reads the header and authenticates the last chunk. As stockade_reader_create.
  Status open(const FileFormat& format, stockade_fault& fault);

  uint64_t length() const { return length_; }
  uint64_t header_length() const { return beginning_.header_length; }

  // As stockade_reader_read_at.
  Status read_at(uint64_t offset, std::span<uint8_t> out, uint64_t* read, stockade_fault& fault) const;

 private:
  Status fetch(uint64_t offset, uint8_t* out, uint64_t length, stockade_fault& fault) const;
  Status open_header(const FileFormat& format, stockade_fault& fault);
  Status open_last_chunk(stockade_fault& fault) const;
  Status open_chunks(uint64_t first, uint64_t count, Bytes sealed, uint8_t* out, stockade_fault& fault) const;
  Status read_part(uint64_t offset, std::span<uint8_t> out, stockade_fault& fault) const;
  uint64_t sealed_bytes(uint64_t chunk) const;

  const stockade_read_at read_;
  void* const context_;
  const uint64_t file_length_;
  const config::EngineChoice engine_;
  Beginning beginning_;
  uint64_t length_ = 0;
  uint64_t chunks_ = 0;
};

// As stockade_ciphertext_range.
Status ciphertext_range(uint64_t header_length, uint64_t offset, uint64_t length, uint64_t* file_offset,
                        uint64_t* file_length);

}  // namespace stockade::format
