// AES as programs before AES instructions had it, to be measured against and for nothing else: no part of the library. Tables
// are looked up at secret addresses, so both are open to whoever can watch the cache. NOT constant-time.
#pragma once

#include <cstdint>

namespace stockade::bench {

struct TableKey {
  uint8_t bytes[240];  // the schedule of FIPS 197 §5.2
  uint32_t rounds;     // 10, 12 or 14
};

// 16, 24 or 32 bytes of key.
TableKey expand_table_key(const uint8_t* key, uint32_t key_bytes);

// ECB of `length` bytes, a multiple of 16. `in` and `out` are the same or do not overlap.
//
// The steps of the standard one by one, MixColumns with all products of GF(2^8) from a table of 64 KB.
void encrypt_by_products(const TableKey& key, const uint8_t* in, uint8_t* out, uint64_t length);
// SubBytes, ShiftRows and MixColumns as four look-ups for a column, in four tables of 1 KB.
void encrypt_by_t_tables(const TableKey& key, const uint8_t* in, uint8_t* out, uint64_t length);

}  // namespace stockade::bench
