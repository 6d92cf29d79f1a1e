#include "format/shared_journal.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/bytes.h"
#include "format/at_offset.h"
#include "format/derive.h"

namespace stockade::format {
namespace {

constexpr char record_name[24] = "stockade plan v1\n";
constexpr uint64_t mac_bytes = 32;
// The record of the terms: its name, the terms, the MAC of both.
constexpr uint64_t covered_bytes = sizeof record_name + terms_record_bytes;
constexpr uint64_t whole_record_bytes = covered_bytes + mac_bytes;

Status derive_mac_key(const SharedTerms& terms, Secret<uint8_t[32]>& mac_key) {
  const Bytes info[] = {bytes_of("stockade/v1 plan")};
  return hkdf_expand({terms.file_key, file_key_bytes}, info, {*mac_key, 32});
}

Status make_record(const SharedTerms& terms, uint8_t record[whole_record_bytes]) {
  Secret<uint8_t[32]> mac_key;
  const Status status = derive_mac_key(terms, mac_key);
  if (status != STOCKADE_OK) return status;
  std::memcpy(record, record_name, sizeof record_name);
  write_record(terms, record + sizeof record_name);
  return hmac_sha256({*mac_key, 32}, {record, covered_bytes}, record + covered_bytes);
}

// OK, or JOURNAL if it is not what who has the file key of the terms has written.
Status open_record(const uint8_t record[whole_record_bytes], SharedTerms& terms) {
  Secret<uint8_t[32]> mac_key;
  Status status = derive_mac_key(terms, mac_key);
  uint8_t mac[mac_bytes];
  if (status == STOCKADE_OK) status = hmac_sha256({*mac_key, 32}, {record, covered_bytes}, mac);
  if (status != STOCKADE_OK) return status;
  const bool authentic = equal_constant_time(mac, record + covered_bytes, mac_bytes) &&
                         std::memcmp(record, record_name, sizeof record_name) == 0;
  return authentic && read_record(record + sizeof record_name, terms) ? STOCKADE_OK : STOCKADE_ERROR_JOURNAL;
}

bool is_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

Status compose_journal(const Keyring& keyring, RandomSource& random, SharedTerms& terms, std::vector<uint8_t>& bytes) {
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

Status write_journal(int fd, const SharedTerms& terms, Bytes bytes) {
  const uint64_t length = bytes.size() + terms.slices() * SliceRecords::record_bytes;
  if (::ftruncate(fd, 0) != 0 || ::ftruncate(fd, static_cast<off_t>(length)) != 0) return STOCKADE_ERROR_IO;
  // The header last: with it, the rest is there as well.
  const uint64_t header = terms.journal_header_length;
  Status status = write_at(fd, header, bytes.data() + header, bytes.size() - header);
  if (status == STOCKADE_OK) status = sync_data(fd);
  if (status == STOCKADE_OK) status = write_at(fd, 0, bytes.data(), header);
  return status == STOCKADE_OK ? sync_data(fd) : status;
}

Status read_journal(int fd, const Keyring& keyring, uint32_t max_work_factor, SharedTerms& terms,
                    stockade_fault& fault) {
  std::vector<uint8_t> bytes(max_header_bytes + whole_record_bytes);
  uint64_t got;
  Status status = read_at(fd, 0, bytes.data(), bytes.size(), &got);
  if (status != STOCKADE_OK) return status;
  bytes.resize(got);
  if (is_zero(Bytes(bytes).first(std::min<uint64_t>(got, magic.size())))) return STOCKADE_ERROR_TRUNCATED;
  Header header;
  status = parse_header(bytes, header, &terms.journal_header_length, fault);
  if (status == STOCKADE_ERROR_MEMORY || status == STOCKADE_ERROR_TRUNCATED) return status;
  if (status != STOCKADE_OK || got - terms.journal_header_length < whole_record_bytes) return STOCKADE_ERROR_JOURNAL;
  status = unwrap_file_key(keyring, header, max_work_factor, terms.file_key, fault);
  if (status == STOCKADE_ERROR_HEADER_MAC) return STOCKADE_ERROR_JOURNAL;
  if (status != STOCKADE_OK) return status;
  terms.cipher = header.cipher;
  terms.has_input = true;
  return open_record(bytes.data() + terms.journal_header_length, terms);
}

Status SliceRecords::open(int fd, const SharedTerms& terms) {
  fd_ = fd;
  begin_ = terms.journal_header_length + whole_record_bytes;
  slices_ = terms.slices();
  std::memcpy(id_, terms.id, sizeof id_);
  std::memcpy(salt_, terms.preamble, sizeof salt_);
  uint8_t expected[whole_record_bytes], found[whole_record_bytes];
  uint64_t got = 0;
  Status status = derive_mac_key(terms, mac_key_);
  if (status == STOCKADE_OK) status = make_record(terms, expected);
  if (status == STOCKADE_OK) status = read_at(fd, terms.journal_header_length, found, sizeof found, &got);
  if (status != STOCKADE_OK) return status;
  const bool same = got == sizeof found && equal_constant_time(found, expected, sizeof found);
  return same && terms.journal_header_length != 0 ? STOCKADE_OK : STOCKADE_ERROR_JOURNAL;
}

Status SliceRecords::make(uint64_t slice, uint8_t record[record_bytes]) const {
  constexpr std::string_view label = "slice";
  uint8_t message[label.size() + job_id_bytes + salt_bytes + 8];
  uint8_t* to = message;
  for (const Bytes part : {bytes_of(label), Bytes(id_), Bytes(salt_)}) {
    std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  store_be64(to, slice);
  return hmac_sha256({*mac_key_, 32}, message, record);
}

Status SliceRecords::note(std::span<const uint64_t> slices) {
  for (const uint64_t slice : slices) {
    uint8_t record[record_bytes];
    Status status = make(slice, record);
    if (status == STOCKADE_OK) status = write_at(fd_, offset_of(slice), record, sizeof record);
    if (status != STOCKADE_OK) return status;
  }
  return sync_data(fd_);
}

Status SliceRecords::forget(uint64_t slice) {
  constexpr uint8_t none[record_bytes] = {};
  const Status status = write_at(fd_, offset_of(slice), none, sizeof none);
  return status == STOCKADE_OK ? sync_data(fd_) : status;
}

Status SliceRecords::find_missing(std::vector<uint64_t>& slices) const {
  slices.clear();
  std::vector<uint8_t> records(slices_ * record_bytes);
  uint64_t got;
  // What is not there is as good as zero.
  if (const Status status = read_at(fd_, begin_, records.data(), records.size(), &got); status != STOCKADE_OK) {
    return status;
  }
  for (uint64_t slice = 0; slice < slices_; ++slice) {
    const Bytes found = Bytes(records).subspan(slice * record_bytes, record_bytes);
    uint8_t expected[record_bytes];
    if (!is_zero(found)) {
      if (const Status status = make(slice, expected); status != STOCKADE_OK) return status;
      if (equal_constant_time(found.data(), expected, record_bytes)) continue;
    }
    slices.push_back(slice);
  }
  return STOCKADE_OK;
}

}  // namespace stockade::format
