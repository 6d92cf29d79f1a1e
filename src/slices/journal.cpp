#include "slices/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "base/bytes.h"
#include "base/planted_fault.h"
#include "io/descriptor.h"
#include "libcrypto/derive.h"
#include "parallel/no_signals.h"

namespace stockade::slices {

using namespace format;  // NOLINT(google-build-using-namespace): slices are made of what it has

namespace {

constexpr char record_name[24] = "stockade journal v2\n";
// What stood in its place up to version 0.4: in plans, and in the journals of --resume.
constexpr std::string_view old_names[] = {"stockade plan v1\n", "stockade journal v1\n"};
constexpr uint64_t mac_bytes = 32;
// The record of the terms: its name, the terms, the MAC of both.
constexpr uint64_t covered_bytes = sizeof record_name + terms_record_bytes;
constexpr uint64_t whole_record_bytes = covered_bytes + mac_bytes;

// The records of the slices are aligned to their length, so that none lies in two sectors.
uint64_t records_offset(const Terms& terms) {
  constexpr uint64_t unit = Records::record_bytes;
  return (terms.journal_header_length + whole_record_bytes + unit - 1) / unit * unit;
}

Status derive_mac_key(const Terms& terms, Secret<uint8_t[32]>& mac_key) {
  const Bytes info[] = {bytes_of("stockade/v2 journal")};
  return libcrypto::hkdf_expand({terms.file_key, file_key_bytes}, info, {*mac_key, 32});
}

Status make_record(const Terms& terms, uint8_t record[whole_record_bytes]) {
  Secret<uint8_t[32]> mac_key;
  const Status status = derive_mac_key(terms, mac_key);
  if (status != STOCKADE_OK) return status;
  std::memcpy(record, record_name, sizeof record_name);
  write_record(terms, record + sizeof record_name);
  return libcrypto::hmac_sha256({*mac_key, 32}, {record, covered_bytes}, record + covered_bytes);
}

// OK, or JOURNAL if it is not what who has the file key of the terms has written.
Status open_record(const uint8_t record[whole_record_bytes], Terms& terms) {
  Secret<uint8_t[32]> mac_key;
  Status status = derive_mac_key(terms, mac_key);
  uint8_t mac[mac_bytes];
  if (status == STOCKADE_OK) status = libcrypto::hmac_sha256({*mac_key, 32}, {record, covered_bytes}, mac);
  if (status != STOCKADE_OK) return status;
  const bool authentic = equal_constant_time(mac, record + covered_bytes, mac_bytes) &&
                         std::memcmp(record, record_name, sizeof record_name) == 0;
  return authentic && read_record(record + sizeof record_name, terms) ? STOCKADE_OK : STOCKADE_ERROR_JOURNAL;
}

bool is_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

Status compose_journal(const Keyring& keyring, RandomSource& random, Terms& terms, std::vector<uint8_t>& bytes) {
  Header header;
  header.cipher = terms.cipher;
  Status status = wrap_file_key(keyring, terms.file_key, random, header.stanzas);
  if (status == STOCKADE_OK) status = seal_header(header, terms.file_key);
  if (status != STOCKADE_OK) return status;
  const std::string text = serialise_header(header);
  if (text.size() > max_header_bytes) return STOCKADE_ERROR_HEADER_TOO_LONG;
  terms.journal_header_length = text.size();
  bytes.assign(text.begin(), text.end());
  bytes.resize(text.size() + whole_record_bytes);
  return make_record(terms, bytes.data() + text.size());
}

Status write_journal(int fd, const Terms& terms, Bytes bytes) {
  if (::ftruncate(fd, 0) != 0) return STOCKADE_ERROR_IO;
  // Zeros that are written, not a hole: later a record is noted without any change to the file's metadata, which its
  // fdatasync would have to wait for.
  const uint64_t header = terms.journal_header_length, begin = records_offset(terms);
  const uint64_t length = begin + terms.slices() * Records::record_bytes;
  Status status = io::write_at(fd, header, bytes.data() + header, bytes.size() - header);
  const std::vector<uint8_t> zeros(std::min<uint64_t>(length - bytes.size(), uint64_t{1} << 20));
  for (uint64_t at = bytes.size(); status == STOCKADE_OK && at < length; at += zeros.size()) {
    status = io::write_at(fd, at, zeros.data(), std::min<uint64_t>(zeros.size(), length - at));
  }
  // The header last: with it, the rest is there as well.
  if (status == STOCKADE_OK) status = io::sync_data(fd);
  if (status == STOCKADE_OK) status = io::write_at(fd, 0, bytes.data(), header);
  return status == STOCKADE_OK ? io::sync_data(fd) : status;
}

Status read_journal(int fd, const Keyring& keyring, uint32_t max_work_factor, Terms& terms, stockade_fault& fault) {
  std::vector<uint8_t> bytes(max_header_bytes + whole_record_bytes);
  uint64_t got;
  Status status = io::read_at(fd, 0, bytes.data(), bytes.size(), &got);
  if (status != STOCKADE_OK) return status;
  bytes.resize(got);
  if (is_zero(Bytes(bytes).first(std::min<uint64_t>(got, magic.size())))) return STOCKADE_ERROR_TRUNCATED;
  Header header;
  status = parse_header(bytes, header, &terms.journal_header_length, fault);
  if (status == STOCKADE_ERROR_MEMORY || status == STOCKADE_ERROR_TRUNCATED) return status;
  if (status != STOCKADE_OK) return STOCKADE_ERROR_JOURNAL;
  if (got - terms.journal_header_length < whole_record_bytes) return STOCKADE_ERROR_TRUNCATED;
  status = unwrap_file_key(keyring, header, max_work_factor, terms.file_key, fault);
  if (status == STOCKADE_ERROR_HEADER_MAC) return STOCKADE_ERROR_JOURNAL;
  if (status != STOCKADE_OK) return status;
  terms.cipher = header.cipher;
  terms.has_input = true;
  const uint8_t* const record = bytes.data() + terms.journal_header_length;
  status = open_record(record, terms);
  if (status == STOCKADE_ERROR_JOURNAL) {
    fault = make_fault(status);
    for (const std::string_view name : old_names) {
      if (std::memcmp(record, name.data(), name.size()) == 0) fault.value = 1;
    }
  }
  return status;
}

// ---- syncs ----

SyncGroup::~SyncGroup() {
  if (process_ != process_number()) {
    // The thread is the parent's; threads of the parent may hold the lock or wait.
    if (thread_.joinable()) thread_.detach();
    static_cast<void>(waiting_on_.release());
    return;
  }
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    wanted_.notify_one();
  }
  thread_.join();
}

uint64_t SyncGroup::ask() {
  const std::lock_guard lock(mutex_);
  wanted_.notify_one();
  return ++asked_;
}

bool SyncGroup::is_done(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  return error_ != 0 || synced_ >= ticket;
}

bool SyncGroup::is_slow() {
  const std::lock_guard lock(mutex_);
  return thread_.joinable();
}

Status SyncGroup::wait(uint64_t ticket) {
  std::unique_lock lock(mutex_);
  while (error_ == 0 && synced_ < ticket) {
    if (running_ || thread_.joinable()) {
      ++waiting_;
      wanted_.notify_one();
      done_.wait(lock);
      --waiting_;
    } else {
      sync(lock);
    }
  }
  if (error_ == 0) return STOCKADE_OK;
  errno = error_;
  return STOCKADE_ERROR_IO;
}

// For all who have asked so far; the lock is given up meanwhile.
void SyncGroup::sync(std::unique_lock<std::mutex>& lock) {
  // A worker seals a slice in about a millisecond.
  constexpr std::chrono::microseconds slow{300};
  running_ = true;
  const uint64_t covered = asked_;
  lock.unlock();
  const auto begin = std::chrono::steady_clock::now();
  const int error = io::sync_data(fd_) == STOCKADE_OK ? 0 : errno;
  const bool was_slow = std::chrono::steady_clock::now() - begin > slow;
  lock.lock();
  running_ = false;
  synced_ = covered;
  if (error != 0) error_ = error;
  done_.notify_all();
  if (was_slow && !thread_.joinable()) start_thread();
}

// If no thread can be started, the waiting workers go on syncing in turn.
void SyncGroup::start_thread() {
  const parallel::NoSignals held;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {
    // No thread or no memory for one: those who wait go on taking turns.
  }
}

void SyncGroup::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    // A flush of the disk costs the same for several; it comes at once where somebody waits for it.
    constexpr uint64_t at_once = 4;
    if (error_ == 0 && synced_ < asked_ && (waiting_ > 0 || asked_ - synced_ >= at_once)) {
      sync(lock);
    } else {
      wanted_.wait(lock);
    }
  }
}

// ---- records ----

namespace {

constexpr uint64_t digest_bytes = sizeof(SliceDigest::bytes);

// Keeps other processes and other threads from a part of a file. Locks of open file descriptions do not tell threads
// from one another that use the same one.
class RecordLock {
 public:
  RecordLock(int fd, uint64_t offset, uint64_t length) : threads_(mutex()), fd_(fd) {
    range_.l_whence = SEEK_SET;
    range_.l_start = static_cast<off_t>(offset);
    range_.l_len = static_cast<off_t>(length);
    range_.l_type = F_WRLCK;
    int result;
    do {
      result = ::fcntl(fd_, F_OFD_SETLKW, &range_);
    } while (result != 0 && errno == EINTR);
    held_ = result == 0;
  }
  RecordLock(const RecordLock&) = delete;
  RecordLock& operator=(const RecordLock&) = delete;
  ~RecordLock() {
    range_.l_type = F_UNLCK;
    const int error = errno;
    if (held_) ::fcntl(fd_, F_OFD_SETLK, &range_);
    errno = error;
  }
  bool held() const { return held_; }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  const std::lock_guard<std::mutex> threads_;
  const int fd_;
  struct flock range_ {};
  bool held_ = false;
};

}  // namespace

Status Records::open(int fd, const Terms& terms) {
  fd_ = fd;
  begin_ = records_offset(terms);
  slices_ = terms.slices();
  std::memcpy(id_, terms.id, sizeof id_);
  std::memcpy(salt_, terms.preamble, sizeof salt_);
  memory_.clear();
  Status status = derive_mac_key(terms, mac_key_);
  if (status != STOCKADE_OK || fd_ < 0) return status;
  sync_ = std::make_unique<SyncGroup>(fd);
  uint8_t expected[whole_record_bytes], found[whole_record_bytes];
  uint64_t got = 0;
  status = make_record(terms, expected);
  if (status == STOCKADE_OK) status = io::read_at(fd, terms.journal_header_length, found, sizeof found, &got);
  if (status != STOCKADE_OK) return status;
  const bool same = got == sizeof found && equal_constant_time(found, expected, sizeof found);
  return same && terms.journal_header_length != 0 ? STOCKADE_OK : STOCKADE_ERROR_JOURNAL;
}

Status Records::digest(uint64_t slice, Bytes tags, SliceDigest& digest) const {
  uint8_t number[8];
  store_be64(number, slice);
  std::vector<uint8_t> message;
  for (const Bytes part : {bytes_of("slice"), Bytes(id_), Bytes(salt_), Bytes(number), tags}) {
    message.insert(message.end(), part.begin(), part.end());
  }
  return libcrypto::hmac_sha256({*mac_key_, 32}, message, digest.bytes);
}

Status Records::make(uint64_t slice, SliceState state, const SliceDigest& digest, uint8_t record[record_bytes]) const {
  uint8_t number[8];
  store_be64(number, slice);
  std::vector<uint8_t> message;
  const Bytes word = state == SliceState::done ? bytes_of("done") : bytes_of("begun");
  for (const Bytes part : {word, Bytes(id_), Bytes(salt_), Bytes(number), Bytes(digest.bytes)}) {
    message.insert(message.end(), part.begin(), part.end());
  }
  std::memcpy(record, digest.bytes, digest_bytes);
  return libcrypto::hmac_sha256({*mac_key_, 32}, message, record + digest_bytes);
}

// OK, or JOURNAL if the record is neither zeros nor authentic.
Status Records::judge(uint64_t slice, const uint8_t record[record_bytes], SliceState& state,
                      SliceDigest& digest) const {
  state = SliceState::never_begun;
  if (is_zero({record, record_bytes})) return STOCKADE_OK;
  std::memcpy(digest.bytes, record, digest_bytes);
  for (const SliceState possible : {SliceState::done, SliceState::begun}) {
    uint8_t expected[record_bytes];
    const Status status = make(slice, possible, digest, expected);
    if (status != STOCKADE_OK) return status;
    state = possible;
    if (equal_constant_time(record, expected, record_bytes)) return STOCKADE_OK;
  }
  return STOCKADE_ERROR_JOURNAL;
}

Status Records::read(uint64_t slice, SliceState& state, SliceDigest& digest) const {
  if (fd_ < 0) {
    const std::lock_guard lock(memory_mutex_);
    const auto found = memory_.find(slice);
    state = found == memory_.end() ? SliceState::never_begun : found->second.first;
    if (found != memory_.end()) digest = found->second.second;
    return STOCKADE_OK;
  }
  // Where the file ends before it: zeros that were lost.
  uint8_t record[record_bytes] = {};
  uint64_t got;
  const Status status = io::read_at(fd_, offset_of(slice), record, sizeof record, &got);
  return status == STOCKADE_OK ? judge(slice, record, state, digest) : status;
}

Status Records::write(uint64_t slice, SliceState state, const SliceDigest& digest) {
  if (fd_ < 0) {
    const std::lock_guard lock(memory_mutex_);
    memory_[slice] = {state, digest};
    return STOCKADE_OK;
  }
  uint8_t record[record_bytes];
  const Status status = make(slice, state, digest, record);
  return status == STOCKADE_OK ? io::write_at(fd_, offset_of(slice), record, sizeof record) : status;
}

// The decision of begin(), and the record.
Status Records::admit(uint64_t slice, const SliceDigest& digest, const BlankCheck& is_blank) {
  SliceState state;
  SliceDigest before;
  Status status = read(slice, state, before);
  if (status != STOCKADE_OK) return status;
  if (state == SliceState::never_begun) {
    bool blank = false;
    if ((status = is_blank(blank)) != STOCKADE_OK) return status;
    if (!blank && !is_planted(Fault::zeros_are_never_written)) return STOCKADE_ERROR_JOURNAL;
  } else if (!equal_constant_time(before.bytes, digest.bytes, digest_bytes) &&
             !is_planted(Fault::zeros_are_never_written)) {
    return STOCKADE_ERROR_INPUT_CHANGED;
  }
  // An equal one is written again: after a write-back that failed, the page cache holds what storage does not.
  return write(slice, SliceState::begun, digest);
}

Status Records::begin(uint64_t slice, const SliceDigest& digest, const BlankCheck& is_blank, uint64_t& ticket) {
  ticket = 0;
  if (fd_ < 0) {
    const std::lock_guard lock(admission_mutex_);
    return admit(slice, digest, is_blank);
  }
  const RecordLock lock(fd_, offset_of(slice), record_bytes);
  if (!lock.held()) return STOCKADE_ERROR_IO;
  const Status status = admit(slice, digest, is_blank);
  if (status == STOCKADE_OK) ticket = sync_->ask();
  return status;
}

Status Records::note_done(std::span<const Entry> entries) {
  for (const Entry& entry : entries) {
    if (const Status status = write(entry.slice, SliceState::done, entry.digest); status != STOCKADE_OK) return status;
  }
  return fd_ < 0 ? STOCKADE_OK : sync_->wait(sync_->ask());
}

Status Records::note_begun(const Entry& entry) {
  const Status status = write(entry.slice, SliceState::begun, entry.digest);
  return status != STOCKADE_OK || fd_ < 0 ? status : sync_->wait(sync_->ask());
}

Status Records::find_missing(std::vector<uint64_t>& slices) const {
  slices.clear();
  constexpr uint64_t at_once = 1024;
  std::vector<uint8_t> records;
  for (uint64_t first = 0; first < slices_; first += at_once) {
    const uint64_t count = std::min(at_once, slices_ - first);
    // What is not there is as good as zeros.
    records.assign(count * record_bytes, 0);
    uint64_t got;
    Status status = fd_ < 0 ? STOCKADE_OK : io::read_at(fd_, offset_of(first), records.data(), records.size(), &got);
    for (uint64_t i = 0; i < count; ++i) {
      if (status != STOCKADE_OK) return status;
      SliceState state;
      SliceDigest digest;
      const Status judged =
          fd_ < 0 ? read(first + i, state, digest) : judge(first + i, records.data() + i * record_bytes, state, digest);
      if (judged != STOCKADE_OK && judged != STOCKADE_ERROR_JOURNAL) return judged;
      if (judged == STOCKADE_ERROR_JOURNAL || state != SliceState::done) slices.push_back(first + i);
    }
  }
  return STOCKADE_OK;
}

}  // namespace stockade::slices
