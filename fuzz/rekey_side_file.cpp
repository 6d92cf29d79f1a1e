// Any bytes as what an interrupted rekey has saved, beside the front of a file: it is only restored where it is authentic
// and of this file, and only thrown away where the file opens. The first byte says how the front of the file is damaged.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "format/recipient_test.h"
#include "format/rekey.h"
#include "format/sealed_file.h"

namespace {

using namespace stockade;
using namespace stockade::format;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Sample {
  Keyring keyring = keys_of({1});
  FileFormat format;
  std::vector<uint8_t> front;  // header, salt and commitment of a file

  Sample() {
    format.keyring = &keyring;
    format.max_work_factor = 8;
    CountingSource random(40);
    Beginning beginning;
    require(make_beginning(format, random, beginning, front) == STOCKADE_OK);
  }
};

bool opens(const Sample& sample, Bytes bytes, Beginning& beginning) {
  stockade_fault fault;
  return open_beginning(sample.format, bytes, beginning, fault) == STOCKADE_OK;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Sample sample;
  if (size < 2) return 0;
  std::vector<uint8_t> front = sample.front, copy(data + 2, data + size);
  front.resize(std::max(front.size(), copy.size()));
  // Intact; a byte changed; the first sector lost; torn within the header.
  if (data[0] % 4 == 1) front[data[1] * front.size() / 256] ^= 1;
  if (data[0] % 4 == 2) std::fill_n(front.begin(), 512, uint8_t{0});
  if (data[0] % 4 == 3) std::fill_n(front.begin() + 12, data[1], uint8_t{0x41});
  // Copies that are near to what is saved: the front itself with the changes that the input asks for.
  if (data[0] >= 128) {
    copy = sample.front;
    for (size_t at = 2; at + 2 < size; at += 3) copy[(data[at] << 8 | data[at + 1]) % copy.size()] ^= data[at + 2];
  }
  stockade_remedy remedy = STOCKADE_REMEDY_FOREIGN;
  stockade_fault fault = make_fault(STOCKADE_OK);
  const Status status = find_remedy(front, copy, sample.keyring, 8, remedy, fault);
  Beginning in_place, saved;
  const bool whole = opens(sample, front, in_place);
  if (status != STOCKADE_OK) {
    require(!whole);
    return 0;
  }
  if (remedy == STOCKADE_REMEDY_KEEP) require(whole);
  if (remedy != STOCKADE_REMEDY_RESTORE) return 0;
  require(!whole && opens(sample, copy, saved) && copy.size() == saved.length());
  // Under the saved header the file has the commitment that stands in it.
  const uint64_t header = saved.header_length;
  require(std::memcmp(front.data() + header, saved.key->preamble, stockade::chunked::preamble_bytes) == 0);
  return 0;
}
