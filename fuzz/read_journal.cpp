// Any bytes as a journal, which is also a plan; and, with the first byte odd, as the records of a journal whose header and
// terms are authentic: a record that is neither zeros nor authentic is refused, no other content is admitted where a record
// stands, and what is not done is listed.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "format/recipient_test.h"
#include "io/descriptor.h"
#include "slices/journal.h"

namespace {

using namespace stockade;
using namespace stockade::format;
using namespace stockade::slices;

constexpr uint64_t slices = 8;

void require(bool condition) {
  if (!condition) std::abort();
}

// A file in memory.
class Memory {
 public:
  explicit Memory(Bytes content) : fd_(::memfd_create("journal", MFD_CLOEXEC)) {
    require(fd_ >= 0 && stockade::io::write_at(fd_, 0, content.data(), content.size()) == STOCKADE_OK);
  }
  ~Memory() { ::close(fd_); }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

void read_any(const Keyring& keyring, Bytes input) {
  const Memory file(input);
  Terms terms{};
  stockade_fault fault = make_fault(STOCKADE_OK);
  const Status status = read_journal(file.fd(), keyring, 8, terms, fault);
  require(status != STOCKADE_OK || (terms.slices() >= 1 && terms.slices() <= max_slices));
}

struct Sample {
  Keyring keyring = keys_of({1});
  Terms terms{};
  std::vector<uint8_t> journal;  // no slice begun

  Sample() {
    terms.kind = STOCKADE_SHARED_ENCRYPT;
    terms.length = slices * 256 * 1024;
    terms.slice_chunks = least_slice_chunks;
    std::memset(terms.file_key, 7, sizeof terms.file_key);
    CountingSource random(1);
    require(compose_journal(keyring, random, terms, journal) == STOCKADE_OK);
    const Memory file({});
    require(terms.slices() == slices && write_journal(file.fd(), terms, journal) == STOCKADE_OK);
    journal.resize(static_cast<size_t>(::lseek(file.fd(), 0, SEEK_END)));
    uint64_t got;
    require(stockade::io::read_at(file.fd(), 0, journal.data(), journal.size(), &got) == STOCKADE_OK &&
            got == journal.size());
  }
};

// The input says for each slice whether it was begun or done with one of two contents, and then which bytes are changed.
void read_records(const Sample& sample, Bytes input) {
  const Memory file(sample.journal);
  Records records;
  require(records.open(file.fd(), sample.terms) == STOCKADE_OK);
  const uint64_t begin = sample.journal.size() - slices * Records::record_bytes;
  bool changed[slices] = {};
  SliceState made[slices] = {};
  uint8_t content[slices] = {};
  for (uint64_t i = 0; i < slices && i < input.size(); ++i) {
    SliceDigest digest;
    uint64_t ticket = 0;
    content[i] = input[i] >> 4;
    const std::vector<uint8_t> tags(16 * least_slice_chunks, content[i]);
    require(records.digest(i, tags, digest) == STOCKADE_OK);
    if (input[i] % 3 == 0) continue;
    made[i] = input[i] % 3 == 1 ? SliceState::begun : SliceState::done;
    const auto blank = [](bool& is) {
      is = true;
      return STOCKADE_OK;
    };
    require(records.begin(i, digest, blank, ticket) == STOCKADE_OK && records.wait(ticket) == STOCKADE_OK);
    const Records::Entry entry{i, digest};
    if (made[i] == SliceState::done) require(records.note_done({&entry, 1}) == STOCKADE_OK);
  }
  for (uint64_t at = slices; at + 2 < input.size(); at += 3) {
    const uint64_t place = (uint64_t{input[at]} << 8 | input[at + 1]) % (slices * Records::record_bytes);
    uint8_t byte;
    uint64_t got;
    require(stockade::io::read_at(file.fd(), begin + place, &byte, 1, &got) == STOCKADE_OK && got == 1);
    if (byte == input[at + 2]) continue;
    require(stockade::io::write_at(file.fd(), begin + place, &input[at + 2], 1) == STOCKADE_OK);
    changed[place / Records::record_bytes] = true;
  }
  std::vector<uint64_t> missing;
  require(records.find_missing(missing) == STOCKADE_OK);
  for (uint64_t i = 0; i < slices; ++i) {
    const bool listed = std::find(missing.begin(), missing.end(), i) != missing.end();
    SliceState state;
    SliceDigest before, other;
    const Status status = records.read(i, state, before);
    require(status == STOCKADE_OK || (status == STOCKADE_ERROR_JOURNAL && changed[i]));
    require(listed == (status != STOCKADE_OK || state != SliceState::done));
    // A changed record is none that was never made, unless the changes undo one another or make it zeros.
    if (status == STOCKADE_OK && state != SliceState::never_begun) require(state == made[i]);
    if (!changed[i]) require(status == STOCKADE_OK && state == made[i]);
    const std::vector<uint8_t> tags(16 * least_slice_chunks, static_cast<uint8_t>(content[i] ^ 1));
    require(records.digest(i, tags, other) == STOCKADE_OK);
    uint64_t ticket = 0;
    const Status admitted = records.begin(
        i, other,
        [](bool& is) {
          is = false;
          return STOCKADE_OK;
        },
        ticket);
    require(admitted == STOCKADE_ERROR_JOURNAL || admitted == STOCKADE_ERROR_INPUT_CHANGED);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Sample sample;
  if (size == 0) return 0;
  const Bytes input(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    read_any(sample.keyring, input);
  } else {
    read_records(sample, input);
  }
  return 0;
}
