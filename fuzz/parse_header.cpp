// Any bytes as a header, and as armor: what is accepted is given back to the byte, and however the input is cut, the
// outcome is the same.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "format/armor.h"
#include "format/fault_text.h"
#include "format/header.h"
#include "format/recipient.h"

namespace {

using namespace stockade::format;
using stockade::Status;
using Bytes = std::vector<uint8_t>;
using Span = std::span<const uint8_t>;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Outcome {
  Status status = STOCKADE_OK;
  uint64_t line = 0, offset = 0;
  Bytes bytes;
  bool operator==(const Outcome&) const = default;
};

void read_sentence(const stockade_fault& fault) {
  char text[256];
  require(describe(fault, text, sizeof text) < sizeof text && text[0] != '\0');
}

// A step that the input chooses, but not one that takes an hour.
uint64_t step_of(Span input) { return input.empty() ? 1 : input.size() / 64 + input.back() % 70 + 1; }

// By a parser that gets to see so many more bytes each time; `bytes` is the header, serialised.
Outcome parse(Span input, uint64_t step) {
  HeaderParser parser;
  Outcome outcome;
  stockade_fault fault = stockade::make_fault(STOCKADE_OK);
  uint64_t length = 0;
  do {
    length = std::min<uint64_t>(input.size(), length + step);
    outcome.status = parser.parse(input.first(length), fault);
  } while (outcome.status == STOCKADE_ERROR_TRUNCATED && length < input.size());
  if (outcome.status == STOCKADE_OK) {
    const std::string text = serialise_header(parser.header());
    require(text.size() == parser.length() && std::memcmp(text.data(), input.data(), text.size()) == 0);
    outcome.bytes.assign(text.begin(), text.end());
  } else {
    require(fault.status == outcome.status && fault.line != 0 && fault.offset <= input.size());
    outcome.line = fault.line;
    outcome.offset = fault.offset;
    read_sentence(fault);
  }
  return outcome;
}

void check_header_text(Span input) {
  const Outcome whole = parse(input, UINT32_MAX);
  require(parse(input, step_of(input)) == whole);
  const Outcome part = parse(input.first(input.size() - input.size() / 3), UINT32_MAX);
  require(part == whole || part.status == STOCKADE_ERROR_TRUNCATED);
  if (whole.status != STOCKADE_OK) return;
  Keyring keyring;
  keyring.keys.push_back(std::make_unique<Keyring::SymmetricKey>());
  for (uint8_t i = 0; i < symmetric_key_bytes; ++i) (*keyring.keys[0]->bytes)[i] = i;
  Header header;
  uint64_t length = 0;
  stockade_fault fault = stockade::make_fault(STOCKADE_OK);
  require(parse_header(input, header, &length, fault) == STOCKADE_OK && length == whole.bytes.size());
  uint8_t file_key[file_key_bytes];
  if (unwrap_file_key(keyring, header, 0, file_key, fault) == STOCKADE_OK) {
    require(check_header(header, file_key) == STOCKADE_OK);
  } else {
    read_sentence(fault);
  }
  pad_header(header);
  require(serialise_header(header).size() % header_alignment == 0 || header.stanzas.size() >= max_stanzas - 1 ||
          length > max_header_bytes - 2 * header_alignment);
}

Outcome decode(Span input, uint64_t step) {
  ArmorDecoder decoder;
  Outcome outcome;
  stockade_fault fault = stockade::make_fault(STOCKADE_OK);
  while (!input.empty() && outcome.status == STOCKADE_OK) {
    const Span piece = input.first(std::min<uint64_t>(step, input.size()));
    outcome.status = decoder.update(piece, outcome.bytes, fault);
    input = input.subspan(piece.size());
  }
  if (outcome.status == STOCKADE_OK) outcome.status = decoder.finish(fault);
  if (outcome.status != STOCKADE_OK) read_sentence(fault);
  outcome.line = fault.line;
  return outcome;
}

Bytes encode(Span input, uint64_t step) {
  ArmorEncoder encoder;
  Bytes text;
  while (!input.empty()) {
    const Span piece = input.first(std::min<uint64_t>(step, input.size()));
    const uint64_t before = text.size();
    encoder.update(piece, text);
    require(text.size() - before <= ArmorEncoder::bound(piece.size()));
    input = input.subspan(piece.size());
  }
  encoder.finish(text);
  return text;
}

void check_armor(Span input) {
  const uint64_t step = step_of(input);
  const Outcome whole = decode(input, UINT32_MAX);
  const Outcome in_pieces = decode(input, step);
  require(in_pieces.status == whole.status && in_pieces.line == whole.line);
  if (whole.status == STOCKADE_OK) {
    require(in_pieces.bytes == whole.bytes);
    require(encode(whole.bytes, UINT32_MAX) == Bytes(input.begin(), input.end()));
  }
  const Bytes text = encode(input, step);
  require(text == encode(input, UINT32_MAX));
  const Outcome back = decode(text, step);
  // Armor around nothing is malformed.
  require(back.status == (input.empty() ? STOCKADE_ERROR_ARMOR : STOCKADE_OK));
  require(back.bytes == Bytes(input.begin(), input.end()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_header_text({data, size});
  check_armor({data, size});
  return 0;
}
