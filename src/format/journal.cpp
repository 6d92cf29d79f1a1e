#include "format/journal.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "format/at_offset.h"
#include "format/derive.h"

namespace stockade::format {
namespace {

constexpr uint64_t slots = 2;
// More than the longest header and the records.
constexpr uint64_t most_journal_bytes = max_header_bytes + 4096;

}  // namespace

// As it lies in the file, in the byte order of the machine: a journal does not travel.
struct Journal::Record {
  char name[24];
  uint64_t sequence;
  JournalState state;
  uint8_t mac[32];

  Bytes covered() const { return {reinterpret_cast<const uint8_t*>(this), offsetof(Record, mac)}; }
};

namespace {
constexpr char record_name[24] = "stockade journal v1\n";
}

void describe_input(const struct stat& input, JournalState& state) {
  state.input_size = static_cast<uint64_t>(input.st_size);
  state.device = input.st_dev;
  state.inode = input.st_ino;
  state.modified_seconds = input.st_mtim.tv_sec;
  state.modified_nanoseconds = input.st_mtim.tv_nsec;
  state.changed_seconds = input.st_ctim.tv_sec;
  state.changed_nanoseconds = input.st_ctim.tv_nsec;
}

bool same_input(const JournalState& a, const JournalState& b) {
  return a.input_size == b.input_size && a.device == b.device && a.inode == b.inode &&
         a.modified_seconds == b.modified_seconds && a.modified_nanoseconds == b.modified_nanoseconds &&
         a.changed_seconds == b.changed_seconds && a.changed_nanoseconds == b.changed_nanoseconds;
}

Status Journal::derive() {
  const Bytes info[] = {bytes_of("stockade/v1 journal")};
  return hkdf_expand({*file_key_, file_key_bytes}, info, {*mac_key_, 32});
}

Status Journal::write_record(uint64_t sequence) {
  static_assert(sizeof(Record) == 24 + 8 + sizeof(JournalState) + 32, "no padding, which would be written as it is");
  Record record{};
  std::memcpy(record.name, record_name, sizeof record.name);
  record.sequence = sequence;
  record.state = state_;
  Status status = hmac_sha256({*mac_key_, 32}, record.covered(), record.mac);
  if (status != STOCKADE_OK) return status;
  const uint64_t offset = header_length_ + sequence % slots * sizeof record;
  status = write_at(fd_, offset, reinterpret_cast<const uint8_t*>(&record), sizeof record);
  if (status != STOCKADE_OK) return status;
  sequence_ = sequence;
  return sync_data(fd_);
}

Status Journal::create(const Keyring& keyring, stockade_cipher cipher, const uint8_t file_key[file_key_bytes],
                       RandomSource& random, const JournalState& state) {
  std::memcpy(*file_key_, file_key, file_key_bytes);
  state_ = state;
  Status status = derive();
  Header header;
  header.cipher = cipher;
  if (status == STOCKADE_OK) status = wrap_file_key(keyring, file_key, random, header.stanzas);
  if (status == STOCKADE_OK) status = seal_header(header, file_key);
  if (status != STOCKADE_OK) return status;
  const std::string text = serialise_header(header);
  header_length_ = text.size();
  if (::ftruncate(fd_, 0) != 0) return STOCKADE_ERROR_IO;
  // The record first: with the header in front of it, it is there as well.
  if ((status = write_record(0)) != STOCKADE_OK) return status;
  return write_at(fd_, 0, bytes_of(text).data(), text.size());
}

Status Journal::advance(uint64_t runs) {
  state_.runs = runs;
  return write_record(sequence_ + 1);
}

Status Journal::read_record(uint64_t slot, Record& record, bool* whole, bool* valid) {
  uint64_t got;
  const uint64_t offset = header_length_ + slot * sizeof record;
  const Status status = read_at(fd_, offset, reinterpret_cast<uint8_t*>(&record), sizeof record, &got);
  if (status != STOCKADE_OK) return status;
  *whole = got == sizeof record;
  *valid = false;
  if (!*whole || std::memcmp(record.name, record_name, sizeof record.name) != 0) return STOCKADE_OK;
  uint8_t mac[32];
  const Status hashed = hmac_sha256({*mac_key_, 32}, record.covered(), mac);
  if (hashed != STOCKADE_OK) return hashed;
  *valid = record.sequence % slots == slot && equal_constant_time(mac, record.mac, sizeof mac);
  return STOCKADE_OK;
}

Status Journal::open(const Keyring& keyring, uint32_t max_work_factor, bool* found, stockade_fault& fault) {
  *found = false;
  std::vector<uint8_t> bytes(most_journal_bytes);
  uint64_t got;
  Status status = read_at(fd_, 0, bytes.data(), bytes.size(), &got);
  if (status != STOCKADE_OK) return status;
  bytes.resize(got);
  // Created and not written, or zeros where the header would be: nothing was begun. A longer file is no journal.
  if (got == most_journal_bytes) return STOCKADE_ERROR_JOURNAL;
  if (std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(got, magic.size())),
                  [](uint8_t byte) { return byte == 0; })) {
    return STOCKADE_OK;
  }
  Header header;
  status = parse_header(bytes, header, &header_length_, fault);
  if (status == STOCKADE_ERROR_MEMORY) return status;
  if (status == STOCKADE_ERROR_TRUNCATED) return STOCKADE_OK;
  if (status != STOCKADE_OK) return STOCKADE_ERROR_JOURNAL;
  status = unwrap_file_key(keyring, header, max_work_factor, *file_key_, fault);
  if (status == STOCKADE_ERROR_HEADER_MAC) return STOCKADE_ERROR_JOURNAL;
  if (status == STOCKADE_OK) status = derive();
  if (status != STOCKADE_OK) return status;
  bool any_whole = false, any_valid = false;
  for (uint64_t slot = 0; slot < slots; ++slot) {
    Record record;
    bool whole = false, valid = false;
    if ((status = read_record(slot, record, &whole, &valid)) != STOCKADE_OK) return status;
    any_whole |= whole;
    if (!valid || (any_valid && record.sequence < sequence_)) continue;
    any_valid = true;
    sequence_ = record.sequence;
    state_ = record.state;
  }
  if (any_whole && !any_valid) return STOCKADE_ERROR_JOURNAL;
  *found = any_valid && state_.runs != 0;
  return STOCKADE_OK;
}

}  // namespace stockade::format
