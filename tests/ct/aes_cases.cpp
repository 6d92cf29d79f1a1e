// AES and GCM under secret keys and data, on the rows that valgrind can run.
#include <cstring>

#include "aes/aes_variants.h"
#include "base/secret.h"
#include "cpu/features.h"
#include "ct/secrets.h"
#include "gcm/gcm.h"

namespace stockade::ct {
namespace {

template <typename Variant>
bool runs(const Variant& row) {
  return row.automatic && (row.needs & ~cpu::usable()) == 0;
}

void block_ciphers() {
  for (const aes::Variant& row : aes::variants()) {
    if (!runs(row)) continue;
    uint8_t key[32] = {9}, data[80] = {1}, counter[16] = {2};
    make_secret(key);
    make_secret(data);
    aes::Schedule schedule;
    row.kernels->expand(key, sizeof key, schedule);
    row.kernels->ecb_encrypt(schedule, data, data, 5, aes::Stores::ordinary);
    row.kernels->ecb_decrypt(schedule, data, data, 5, aes::Stores::ordinary);
    row.kernels->ctr(schedule, counter, data, data, 5, aes::Stores::ordinary);
    row.kernels->xts_encrypt(schedule, counter, data, data, 5, aes::Stores::ordinary);
    row.kernels->cbc_decrypt(schedule, counter, data, data, 5, aes::Stores::ordinary);
    row.kernels->sequential(aes::Chain::cbc_encrypt, schedule, counter, data, data, 5);
    demand(is_secret(data, sizeof data), "secret that reached the result");
  }
}

void sealed_messages() {
  for (const gcm::Variant& row : gcm::variants()) {
    if ((row.needs & ~cpu::usable()) != 0) continue;
    uint8_t bytes[32] = {3}, data[100] = {4}, tag[16];
    const uint8_t iv[12] = {5}, aad[20] = {6};
    make_secret(bytes);
    make_secret(data);
    Secret<gcm::Key> key;
    demand(gcm::expand(*key, &row, bytes, sizeof bytes) == STOCKADE_OK, "key");
    gcm::run_message(*key, STOCKADE_ENCRYPT, iv, sizeof iv, aad, sizeof aad, data, sizeof data, data, tag,
                     aes::Stores::ordinary);
    gcm::run_message(*key, STOCKADE_DECRYPT, iv, sizeof iv, aad, sizeof aad, data, sizeof data, data, tag,
                     aes::Stores::ordinary);
    demand(is_secret(tag, sizeof tag), "secret that reached the tag");
  }
}

// The verdict alone becomes public.
void tags() {
  for (const bool right : {true, false}) {
    uint8_t tag[16] = {7}, expected[16] = {7};
    if (!right) tag[9] ^= 1;
    make_secret(tag);
    make_secret(expected);
    bool equal = equal_constant_time(tag, expected, sizeof tag);
    make_public(equal);
    demand(equal == right, "right verdict");
  }
}

}  // namespace

std::span<const Case> aes_cases() {
  static constexpr Case cases[] = {{"AES, every row that runs here", block_ciphers},
                                   {"AES-GCM, every row that runs here", sealed_messages},
                                   {"comparison of tags", tags}};
  return cases;
}

}  // namespace stockade::ct
