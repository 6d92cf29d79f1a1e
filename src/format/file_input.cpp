#include "format/file_input.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/secret.h"

namespace stockade::format {
namespace {

// Holds the header of a file with a few recipients.
constexpr uint64_t first_fetch = 4096;
constexpr int patience = 100;  // milliseconds, between two looks whether the job shall stop

}  // namespace

Status FileInput::open_at_beginning() { return ::fstat(fd_, &stat_) == 0 ? STOCKADE_OK : STOCKADE_ERROR_IO; }

Status FileInput::open() {
  if (::fstat(fd_, &stat_) != 0) return STOCKADE_ERROR_IO;
  if (!regular()) return STOCKADE_OK;
  const off_t position = ::lseek(fd_, 0, SEEK_CUR);
  if (position < 0) return STOCKADE_ERROR_IO;
  position_ = static_cast<uint64_t>(position);
  return STOCKADE_OK;
}

Status FileInput::fetch(uint64_t count) {
  const uint64_t had = bytes_.size();
  bytes_.resize(had + count);
  ssize_t got = -1;
  Status status = STOCKADE_OK;
  while (status == STOCKADE_OK && got < 0) {
    // A read that has to wait could only be ended by a signal.
    status = regular() ? STOCKADE_OK : await();
    if (status == STOCKADE_OK) got = read_once(bytes_.data() + had, count, had);
    if (got < 0 && status == STOCKADE_OK && errno != EINTR && errno != EAGAIN) status = STOCKADE_ERROR_IO;
  }
  bytes_.resize(had + (got > 0 ? static_cast<uint64_t>(got) : 0));
  ended_ = got == 0;
  return status;
}

Status FileInput::read_at(uint64_t offset, uint8_t* out, uint64_t length) const {
  while (length != 0) {
    const ssize_t got = ::pread(fd_, out, length, static_cast<off_t>(position_ + offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return STOCKADE_ERROR_IO;
    if (got == 0) return STOCKADE_ERROR_INPUT_CHANGED;
    out += got;
    offset += static_cast<uint64_t>(got);
    length -= static_cast<uint64_t>(got);
  }
  return STOCKADE_OK;
}

ssize_t FileInput::read_once(uint8_t* out, uint64_t count, uint64_t had) const {
  if (regular()) return ::pread(fd_, out, count, static_cast<off_t>(position_ + had));
  return ::read(fd_, out, count);
}

// Until there is something to read, or the job shall stop.
Status FileInput::await() const {
  for (;;) {
    pollfd entry{fd_, POLLIN, 0};
    const int ready = ::poll(&entry, 1, patience);
    if (ready > 0) return STOCKADE_OK;
    if (ready < 0 && errno != EINTR && errno != EAGAIN) return STOCKADE_ERROR_IO;
    if (progress_ != nullptr && progress_(context_, 0, 0) != 0) return STOCKADE_ERROR_CANCELLED;
  }
}

Status find_beginning(const FileFormat& format, FileInput& input, Beginning& beginning, bool* armored,
                      stockade_fault& fault) {
  *armored = false;
  BeginningOpener opener;
  for (;;) {
    const Status status = input.fetch(first_fetch);
    if (status != STOCKADE_OK) {
      fault = make_fault(status);
      return status;
    }
    if (format.keyring != nullptr && (*armored = looks_armored(input.bytes()))) return STOCKADE_OK;
    const Status opened = opener.open(format, input.bytes(), beginning, fault);
    if (opened != STOCKADE_ERROR_TRUNCATED || input.ended()) return opened;
  }
}

Status check_end(const FileInput& input, const Beginning& beginning, stockade_fault& fault) {
  const uint64_t payload = input.length() - beginning.header_length;
  uint64_t plain;
  Status status = chunked::plaintext_length(payload, &plain);
  fault = fault_at(status, status == STOCKADE_ERROR_TRUNCATED ? input.length() : nowhere);
  if (status != STOCKADE_OK) return status;
  const uint64_t chunk = chunked::chunk_count(payload) - 1;
  const uint64_t bytes = payload - chunked::chunk_offset(chunk);
  const uint64_t offset = beginning.header_length + chunked::chunk_offset(chunk);
  Secret<uint8_t[chunked::sealed_chunk_bytes]> sealed;
  status = input.read_at(offset, *sealed, bytes);
  fault = make_fault(status);
  if (status != STOCKADE_OK || chunked::check_chunk(*beginning.key, chunk, *sealed, bytes)) return status;
  fault = fault_in_chunk(STOCKADE_ERROR_CHUNK, chunk, offset);
  fault.value = 1;
  if (const uint64_t end = chunked::find_end(*beginning.key, chunk, *sealed, bytes)) {
    fault = fault_at(STOCKADE_ERROR_TRAILING_DATA, offset + end);
  }
  return fault.status;
}

}  // namespace stockade::format
