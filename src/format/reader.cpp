#include "format/reader.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cipher/chunk_span.h"
#include "format/file_stream.h"

namespace stockade::format {
namespace {

// Chunks that are fetched and opened together: 4 MiB.
constexpr uint64_t batch_chunks = 256;
// Holds the header of a file with a few recipients.
constexpr uint64_t first_fetch = 4096;

}  // namespace

Status Reader::fetch(uint64_t offset, uint8_t* out, uint64_t length, stockade_fault& fault) const {
  if (read_(context_, offset, out, length) == 0) return STOCKADE_OK;
  fault = fault_at(STOCKADE_ERROR_IO, offset);
  return STOCKADE_ERROR_IO;
}

Status Reader::open(const FileFormat& format, stockade_fault& fault) {
  fault = make_fault(STOCKADE_OK);
  Status status = check_format(format, STOCKADE_DECRYPT);
  if (status == STOCKADE_OK) status = open_header(format, fault);
  if (status != STOCKADE_OK) {
    if (fault.status == STOCKADE_OK) fault = make_fault(status);
    return status;
  }
  const uint64_t payload_bytes = file_length_ - beginning_.header_length;
  status = chunked::plaintext_length(payload_bytes, &length_);
  if (status != STOCKADE_OK) {
    fault = fault_at(status, status == STOCKADE_ERROR_TRUNCATED ? file_length_ : nowhere);
    return status;
  }
  chunks_ = chunked::chunk_count(payload_bytes);
  return open_last_chunk(fault);
}

// Fetches as much as it takes, each time twice as much.
Status Reader::open_header(const FileFormat& format, stockade_fault& fault) {
  std::vector<uint8_t> bytes;
  BeginningOpener opener;
  for (uint64_t wish = first_fetch;; wish *= 2) {
    const uint64_t had = bytes.size();
    bytes.resize(std::min(wish, file_length_));
    Status status = fetch(had, bytes.data() + had, bytes.size() - had, fault);
    if (status != STOCKADE_OK) return status;
    if (format.keyring != nullptr && looks_armored(bytes)) {
      fault = make_fault(STOCKADE_ERROR_ARMOR);
      return fault.status;
    }
    status = opener.open(format, bytes, beginning_, fault);
    if (status != STOCKADE_ERROR_TRUNCATED || bytes.size() == file_length_) return status;
  }
}

// With its tag. Not for the last chunk alone: the file's length says how long that one is.
uint64_t Reader::sealed_bytes(uint64_t chunk) const {
  if (chunk + 1 < chunks_) return chunked::sealed_chunk_bytes;
  return file_length_ - beginning_.header_length - chunked::chunk_offset(chunk);
}

Status Reader::open_last_chunk(stockade_fault& fault) const {
  const uint64_t chunk = chunks_ - 1;
  const uint64_t bytes = sealed_bytes(chunk);
  Secret<uint8_t[chunked::sealed_chunk_bytes]> sealed, opened;
  const uint64_t offset = beginning_.header_length + chunked::chunk_offset(chunk);
  Status status = fetch(offset, *sealed, bytes, fault);
  if (status != STOCKADE_OK) return status;
  uint64_t damaged = UINT64_MAX;
  status = cipher::open_span(engine_, *beginning_.key, {chunk, *sealed, bytes, true, *opened}, &damaged);
  if (status != STOCKADE_OK) fault = make_fault(status);
  if (status != STOCKADE_OK || damaged == UINT64_MAX) return status;
  fault = fault_in_chunk(STOCKADE_ERROR_CHUNK, chunk, offset);
  fault.value = 1;
  if (const uint64_t end = chunked::find_end(*beginning_.key, chunk, *sealed, bytes)) {
    fault = fault_at(STOCKADE_ERROR_TRAILING_DATA, offset + end);
  }
  return fault.status;
}

// `out` has room for count * chunk_bytes, less what the last chunk of the file is short of that.
Status Reader::open_chunks(uint64_t first, uint64_t count, Bytes sealed, uint8_t* out, stockade_fault& fault) const {
  uint64_t lowest = UINT64_MAX;
  const cipher::ChunkSpan span{first, sealed.data(), sealed.size(), first + count == chunks_, out};
  const Status status = cipher::open_span(engine_, *beginning_.key, span, &lowest);
  if (status != STOCKADE_OK) fault = make_fault(status);
  if (status != STOCKADE_OK || lowest == UINT64_MAX) return status;
  const uint64_t chunk = first + lowest;
  fault = fault_in_chunk(STOCKADE_ERROR_CHUNK, chunk, beginning_.header_length + chunked::chunk_offset(chunk));
  return fault.status;
}

// At most batch_chunks - 1 chunks' worth, within the plaintext.
Status Reader::read_part(uint64_t offset, std::span<uint8_t> out, stockade_fault& fault) const {
  const uint64_t first = offset / chunked::chunk_bytes;
  const uint64_t count = (offset + out.size() - 1) / chunked::chunk_bytes - first + 1;
  const uint64_t bytes = (count - 1) * chunked::sealed_chunk_bytes + sealed_bytes(first + count - 1);
  SecretBuffer sealed, opened;
  if (!sealed.allocate(bytes)) return STOCKADE_ERROR_MEMORY;
  Status status = fetch(beginning_.header_length + chunked::chunk_offset(first), sealed.data(), bytes, fault);
  if (status != STOCKADE_OK) return status;
  const uint64_t skipped = offset % chunked::chunk_bytes;
  const bool whole = skipped == 0 && out.size() == bytes - count * chunked::tag_bytes;
  if (whole) return open_chunks(first, count, {sealed.data(), bytes}, out.data(), fault);
  if (!opened.allocate(count * chunked::chunk_bytes)) return STOCKADE_ERROR_MEMORY;
  status = open_chunks(first, count, {sealed.data(), bytes}, opened.data(), fault);
  if (status == STOCKADE_OK) std::memcpy(out.data(), opened.data() + skipped, out.size());
  return status;
}

Status Reader::read_at(uint64_t offset, std::span<uint8_t> out, uint64_t* read, stockade_fault& fault) const {
  fault = make_fault(STOCKADE_OK);
  *read = 0;
  if (offset >= length_ || out.empty()) return STOCKADE_OK;
  out = out.first(std::min<uint64_t>(out.size(), length_ - offset));
  for (uint64_t done = 0; done < out.size();) {
    // Up to a chunk boundary, so that the parts behind the first begin with one.
    const uint64_t room = (batch_chunks - 1) * chunked::chunk_bytes - (offset + done) % chunked::chunk_bytes;
    const uint64_t part = std::min<uint64_t>(room, out.size() - done);
    const Status status = read_part(offset + done, out.subspan(done, part), fault);
    if (status != STOCKADE_OK) {
      if (fault.status == STOCKADE_OK) fault = make_fault(status);
      wipe(out.data(), out.size());
      return status;
    }
    done += part;
  }
  *read = out.size();
  return STOCKADE_OK;
}

Status ciphertext_range(uint64_t header_length, uint64_t offset, uint64_t length, uint64_t* file_offset,
                        uint64_t* file_length) {
  if (header_length > max_header_bytes) return STOCKADE_ERROR_ARGUMENT;
  constexpr uint64_t most = chunked::max_chunks * chunked::chunk_bytes;
  if (offset > most || length > most - offset) return STOCKADE_ERROR_TOO_MANY_CHUNKS;
  const uint64_t first = offset / chunked::chunk_bytes;
  const uint64_t end = length == 0 ? first : (offset + length - 1) / chunked::chunk_bytes + 1;
  *file_offset = header_length + chunked::chunk_offset(first);
  *file_length = (end - first) * chunked::sealed_chunk_bytes;
  return STOCKADE_OK;
}

}  // namespace stockade::format
