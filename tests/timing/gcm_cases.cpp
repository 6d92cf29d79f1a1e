// Comparison of GCM tags: alone, in the opening of a message by each row, and in the unwrapping of a file key.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/secret.h"
#include "cpu/features.h"
#include "format/recipient.h"
#include "gcm/gcm_variants.h"
#include "stockade/stockade.h"
#include "timing/leak_test.h"

namespace stockade::timing {
namespace {

using Buffer = std::vector<uint8_t>;

void demand(bool condition) {
  if (!condition) std::abort();
}

// One byte changed.
Buffer changed(Buffer bytes, size_t at) {
  bytes[at] ^= 0x80;
  return bytes;
}

Operation comparison(size_t first_wrong, size_t second_wrong) {
  struct Data {
    Buffer right = Buffer(16, 0x3c), first, second, tag = Buffer(16);
    volatile bool verdict = false;
  };
  auto data = std::make_shared<Data>();
  data->first = changed(data->right, first_wrong);
  data->second = changed(data->right, second_wrong);
  return {[=](uint32_t which) { pick(which, data->first.data(), data->second.data(), data->tag.data(), 16); },
          [=] { data->verdict = equal_constant_time(data->right.data(), data->tag.data(), 16); }};
}

Operation opening(const char* row, size_t length) {
  struct Data {
    std::shared_ptr<stockade_key> key;
    Buffer sealed, out, tag = Buffer(16), first, second;
  };
  auto data = std::make_shared<Data>();
  const uint8_t bytes[32] = {1, 2, 3};
  static constexpr uint8_t iv[12] = {4};
  stockade_key* key = nullptr;
  demand(stockade_key_create(&key, STOCKADE_GCM, bytes, sizeof bytes, (std::string("gcm:") + row).c_str()) ==
         STOCKADE_OK);
  data->key.reset(key, stockade_key_free);
  data->sealed.resize(length);
  data->out.resize(length);
  const Buffer plain(length, 0x61);
  demand(stockade_seal(key, iv, sizeof iv, nullptr, 0, plain.data(), length, data->sealed.data(), data->tag.data(), 16,
                       nullptr) == STOCKADE_OK);
  data->first = changed(data->tag, 0);
  data->second = changed(data->tag, 15);
  return {[=](uint32_t which) { pick(which, data->first.data(), data->second.data(), data->tag.data(), 16); },
          [=] {
            demand(stockade_open(data->key.get(), iv, sizeof iv, nullptr, 0, data->sealed.data(), data->sealed.size(),
                                 data->out.data(), data->tag.data(), 16, nullptr) == STOCKADE_ERROR_AUTHENTICATION);
          }};
}

constexpr size_t right = SIZE_MAX;

// A stanza for a symmetric key whose body is right, or wrong in one byte.
Operation unwrapping(size_t first_wrong, size_t second_wrong) {
  struct Data {
    format::Keyring::SymmetricKey key;
    format::Stanza stanza;
    Buffer first, second;
    uint8_t file_key[format::file_key_bytes];
  };
  auto data = std::make_shared<Data>();
  std::memset(*data->key.bytes, 0x17, format::symmetric_key_bytes);
  const uint8_t file_key[format::file_key_bytes] = {9};
  demand(format::wrap_for_key(data->key, file_key, system_random(), data->stanza) == STOCKADE_OK);
  data->first = first_wrong == right ? data->stanza.body : changed(data->stanza.body, first_wrong);
  data->second = changed(data->stanza.body, second_wrong);
  return {[=](uint32_t which) {
            pick(which, data->first.data(), data->second.data(), data->stanza.body.data(), data->first.size());
          },
          [=] {
            bool opened;
            demand(format::unwrap_with_key(data->key, data->stanza, data->file_key, &opened) == STOCKADE_OK);
          }};
}

}  // namespace

std::vector<Case> gcm_cases() {
  const gcm::Variant* best = nullptr;
  demand(gcm::choose("", cpu::usable(), &best) == STOCKADE_OK);
  constexpr size_t tag = format::file_key_bytes;  // where it begins in a stanza's body
  std::vector<Case> cases = {
      {"comparison of tags", "any", "wrong in first byte, in last", comparison(0, 15)},
      {"unwrapping, symmetric", best->name, "good, tag wrong in first byte", unwrapping(right, tag)},
      {"unwrapping, symmetric", best->name, "tag wrong in first byte, in last", unwrapping(tag, tag + 15)},
  };
  for (const gcm::Variant& row : gcm::variants()) {
    if ((row.needs & ~cpu::usable()) != 0) continue;
    cases.push_back({"opening of 64 bytes", row.name, "tag wrong in first byte, in last", opening(row.name, 64)});
    cases.push_back({"opening of 4 KiB", row.name, "tag wrong in first byte, in last", opening(row.name, 4096)});
  }
  return cases;
}

}  // namespace stockade::timing
