// Many messages in one call: each comes out as if it had been alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "cross/guarded_memory.h"
#include "cross/handles.h"
#include "cross/message.h"
#include "cross/random_source.h"

namespace stockade::tests {
namespace {

// A message of the batch with its own buffers, and the status that it must get.
struct Entry {
  Message message;
  const stockade_key* key;
  CanaryBuffer out, tag;
  bool in_place;
  stockade_status expected = STOCKADE_OK;
};

class Batch {
 public:
  Batch(stockade_direction direction, RandomSource& random) : direction_(direction), random_(random) {}

  // A message of its own key, or of the key of an earlier one of the same mode.
  void add(stockade_mode mode, uint32_t bits, uint64_t length, const Row& row, bool share) {
    Message message = random_message(mode, bits, length, random_);
    const stockade_key* key = nullptr;
    for (const Entry& entry : entries_) {
      if (!share || entry.message.mode != mode) continue;
      message.key = entry.message.key;
      seal_by_openssl(message);
      key = entry.key;
      break;
    }
    if (key == nullptr) {
      keys_.push_back(make_key(mode, message.key, row));
      key = keys_.back().get();
    }
    const uint64_t tag_length = message.tag.size();
    entries_.push_back({std::move(message), key, CanaryBuffer(length, random_.below(64)), CanaryBuffer(tag_length, 0),
                        random_.one_in(3)});
  }

  // Makes some messages wrong in a way that has a status of its own.
  void spoil_some() {
    for (Entry& entry : entries_) {
      if (!random_.one_in(5)) continue;
      Message& m = entry.message;
      if (m.mode == STOCKADE_GCM && direction_ == STOCKADE_DECRYPT) {
        m.tag[0] ^= 0x40;
        entry.expected = STOCKADE_ERROR_AUTHENTICATION;
      } else if (m.mode == STOCKADE_GCM) {
        m.iv.clear();
        entry.expected = STOCKADE_ERROR_IV_LENGTH;
      } else {
        m.iv.push_back(0);
        entry.expected = STOCKADE_ERROR_IV_LENGTH;
      }
    }
  }

  void check(const stockade_engine* engine) {
    std::vector<stockade_message> calls;
    for (Entry& entry : entries_) calls.push_back(prepared(entry));
    const auto function = direction_ == STOCKADE_ENCRYPT ? stockade_encrypt_many : stockade_decrypt_many;
    const stockade_status status = function(calls.data(), calls.size(), engine);
    stockade_status first = STOCKADE_OK;
    for (size_t i = 0; i < entries_.size(); ++i) {
      SCOPED_TRACE("message " + std::to_string(i) + " of " + std::to_string(entries_.size()) + ": " +
                   entries_[i].message.describe(direction_) + " on " + stockade_key_row(entries_[i].key));
      ASSERT_NO_FATAL_FAILURE(check_entry(entries_[i], calls[i].status));
      if (first == STOCKADE_OK) first = entries_[i].expected;
    }
    ASSERT_EQ(status, first);
  }

 private:
  stockade_message prepared(Entry& entry) {
    const Message& m = entry.message;
    const Bytes& in = m.input(direction_);
    // What the call does not write must keep this value.
    std::fill(entry.out.data(), entry.out.data() + m.length(), 0x77);
    if (entry.in_place) std::copy(in.begin(), in.end(), entry.out.data());
    std::fill(entry.tag.data(), entry.tag.data() + m.tag.size(), 0x77);
    if (direction_ == STOCKADE_DECRYPT) std::copy(m.tag.begin(), m.tag.end(), entry.tag.data());
    stockade_message call = {};
    call.key = entry.key;
    call.iv = m.iv.data();
    call.iv_length = m.iv.size();
    call.aad = m.aad.data();
    call.aad_length = m.aad.size();
    call.in = entry.in_place ? entry.out.data() : in.data();
    call.length = m.length();
    call.out = entry.out.data();
    if (m.mode == STOCKADE_GCM) {
      call.tag = entry.tag.data();
      call.tag_length = m.tag.size();
    }
    call.status = STOCKADE_ERROR_STATE;
    return call;
  }

  void check_entry(Entry& entry, stockade_status status) {
    const Message& m = entry.message;
    ASSERT_EQ(status, entry.expected) << stockade_status_name(status);
    ASSERT_TRUE(entry.out.intact());
    ASSERT_TRUE(entry.tag.intact());
    if (status == STOCKADE_OK) {
      ASSERT_TRUE(same_bytes(entry.out.data(), m.output(direction_).data(), m.length()));
      ASSERT_TRUE(same_bytes(entry.tag.data(), m.tag.data(), m.tag.size()));
    } else if (status == STOCKADE_ERROR_AUTHENTICATION) {
      ASSERT_TRUE(same_bytes(entry.out.data(), Bytes(m.length(), 0).data(), m.length()));
    } else {
      const Bytes untouched = entry.in_place ? m.input(direction_) : Bytes(m.length(), 0x77);
      ASSERT_TRUE(same_bytes(entry.out.data(), untouched.data(), m.length()));
    }
  }

  stockade_direction direction_;
  RandomSource& random_;
  std::vector<Key> keys_;
  std::vector<Entry> entries_;
};

class Many : public testing::TestWithParam<stockade_direction> {
 protected:
  Row any_row(stockade_mode mode) {
    const std::vector<Row> rows = rows_for(mode);
    return rows[random_.below(rows.size())];
  }
  uint64_t any_length(stockade_mode mode, const Row& row) {
    return row.slow() ? allowed_length(mode, random_.below(200)) : random_length(mode, random_);
  }
  uint32_t any_key_size(stockade_mode mode) {
    const std::vector<uint32_t> sizes = key_sizes(mode);
    return sizes[random_.below(sizes.size())];
  }
  RandomSource random_;
};
std::string direction_label(const testing::TestParamInfo<stockade_direction>& info) {
  return info.param == STOCKADE_ENCRYPT ? "encrypt" : "decrypt";
}
INSTANTIATE_TEST_SUITE_P(Both, Many, testing::ValuesIn(both_directions), direction_label);

TEST_P(Many, of_all_modes_rows_keys_and_lengths) {
  for (uint64_t i = scaled(120); i > 0; --i) {
    Batch batch(GetParam(), random_);
    for (uint64_t count = random_.below(70); count > 0; --count) {
      const stockade_mode mode = all_modes[random_.below(std::size(all_modes))];
      const Row row = any_row(mode);
      batch.add(mode, any_key_size(mode), any_length(mode, row), row, random_.one_in(2));
    }
    if (random_.one_in(3)) batch.spoil_some();
    const NamedEngine& engine = all_engines()[random_.below(all_engines().size())];
    SCOPED_TRACE(engine.name);
    ASSERT_NO_FATAL_FAILURE(batch.check(engine.engine));
  }
}

// Around the number of lanes of every row, in each sequential mode: lanes that run dry take the next message.
TEST_P(Many, of_one_mode_around_the_number_of_lanes) {
  for (const stockade_mode mode : all_modes) {
    for (const Row& row : rows_for(mode)) {
      for (const uint64_t count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65}) {
        if (row.slow() && count > 9) continue;
        const uint32_t bits = any_key_size(mode);
        Batch batch(GetParam(), random_);
        for (uint64_t i = 0; i < count; ++i) {
          batch.add(mode, bits, any_length(mode, row), row, count % 2 == 0 || random_.one_in(2));
        }
        ASSERT_NO_FATAL_FAILURE(batch.check(all_engines()[count % all_engines().size()].engine));
      }
    }
  }
}

// One message is far longer than all others: workers and lanes end at very different times.
TEST_P(Many, of_very_different_lengths) {
  for (const stockade_mode mode : all_modes) {
    for (const NamedEngine& engine : all_engines()) {
      SCOPED_TRACE(engine.name);
      Row row = any_row(mode);
      if (row.slow()) row = rows_for(mode).front();
      Batch batch(GetParam(), random_);
      for (int i = 0; i < 40; ++i) {
        const uint64_t length = i == 17 && !row.slow() ? 700000 + random_.below(99) : random_.below(300);
        batch.add(mode, any_key_size(mode), allowed_length(mode, length), row, true);
      }
      ASSERT_NO_FATAL_FAILURE(batch.check(engine.engine));
    }
  }
}

TEST_P(Many, thousands_of_short_ones) {
  for (const stockade_mode mode : {STOCKADE_CBC, STOCKADE_OFB, STOCKADE_CTR, STOCKADE_GCM}) {
    Batch batch(GetParam(), random_);
    const Row row = rows_for(mode).front();
    for (uint64_t i = scaled(row.slow() ? 500 : 5000); i > 0; --i) {
      batch.add(mode, 128, 16 * random_.between(0, 6), row, true);
    }
    ASSERT_NO_FATAL_FAILURE(batch.check(all_engines()[1].engine));
  }
}

TEST_P(Many, of_none_is_nothing) {
  const auto function = GetParam() == STOCKADE_ENCRYPT ? stockade_encrypt_many : stockade_decrypt_many;
  EXPECT_EQ(function(nullptr, 0, nullptr), STOCKADE_OK);
  stockade_message untouched = {};
  untouched.status = STOCKADE_ERROR_STATE;
  EXPECT_EQ(function(&untouched, 0, nullptr), STOCKADE_OK);
  EXPECT_EQ(untouched.status, STOCKADE_ERROR_STATE);
}

}  // namespace
}  // namespace stockade::tests
