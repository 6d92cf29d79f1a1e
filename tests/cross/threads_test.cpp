// Many threads of the caller at once, with one key and one engine between them. Meant for ThreadSanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "cross/handles.h"
#include "cross/message.h"
#include "cross/random_source.h"

namespace stockade::tests {
namespace {

constexpr int callers = 8;

// Runs `body(caller)` on all callers at the same time.
void at_once(const std::function<void(int)>& body) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      ++ready;
      while (ready.load() != callers) std::this_thread::yield();
      body(caller);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class SharedKey : public testing::TestWithParam<stockade_mode> {
 protected:
  // Messages of several lengths under one key.
  std::vector<Message> messages_under_one_key() {
    RandomSource random;
    std::vector<Message> messages;
    for (const uint64_t length : {0, 5, 100, 3000, 150000}) {
      Message message = random_message(GetParam(), 256, allowed_length(GetParam(), length), random);
      if (!messages.empty()) {
        message.key = messages[0].key;
        seal_by_openssl(message);
      }
      messages.push_back(std::move(message));
    }
    return messages;
  }
};
std::string mode_label(const testing::TestParamInfo<stockade_mode>& info) { return mode_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Modes, SharedKey, testing::ValuesIn(all_modes), mode_label);

TEST_P(SharedKey, is_used_by_all_callers_at_once) {
  const std::vector<Message> messages = messages_under_one_key();
  const Key key = make_key(GetParam(), messages[0].key);
  for (const NamedEngine& engine : {all_engines()[0], all_engines()[1], NamedEngine{"default", nullptr}}) {
    SCOPED_TRACE(engine.name);
    const uint64_t rounds = scaled(20);
    std::atomic<int> wrong{0};
    at_once([&](int caller) {
      for (uint64_t i = 0; i < rounds; ++i) {
        const Message& message = messages[(static_cast<uint64_t>(caller) + i) % messages.size()];
        const stockade_direction direction = both_directions[i % 2];
        Bytes out(message.length()), tag = message.tag;
        const stockade_status status = crypt(message, direction, key.get(), message.input(direction).data(), out.data(),
                                             tag.data(), engine.engine);
        wrong += status != STOCKADE_OK || out != message.output(direction) || tag != message.tag;
      }
    });
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST_P(SharedKey, serves_a_stream_of_each_caller) {
  const std::vector<Message> messages = messages_under_one_key();
  const Key key = make_key(GetParam(), messages[0].key);
  std::atomic<int> wrong{0};
  at_once([&](int caller) {
    const Message& message = messages[static_cast<size_t>(caller) % messages.size()];
    for (const stockade_direction direction : both_directions) {
      const Stream stream = make_stream(key.get(), direction, message.iv);
      Bytes out(message.length() + 64), tag = message.tag;
      uint64_t first = 0, second = 0, last = 0;
      const uint64_t half = message.length() / 2;
      const uint8_t* in = message.input(direction).data();
      bool right = true;
      if (GetParam() == STOCKADE_GCM) {
        right = stockade_stream_aad(stream.get(), message.aad.data(), message.aad.size()) == STOCKADE_OK;
      }
      right = right && stockade_stream_update(stream.get(), in, half, out.data(), out.size(), &first) == STOCKADE_OK;
      right = right && stockade_stream_update(stream.get(), half == 0 ? in : in + half, message.length() - half,
                                              out.data() + first, out.size() - first, &second) == STOCKADE_OK;
      right = right && stockade_stream_final(stream.get(), out.data() + first + second, out.size() - first - second,
                                             &last, tag.empty() ? nullptr : tag.data(), tag.size()) == STOCKADE_OK;
      out.resize(first + second + last);
      wrong += !right || out != message.output(direction) || tag != message.tag;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(SharedKey, serves_a_batch_of_each_caller) {
  const std::vector<Message> messages = messages_under_one_key();
  const Key key = make_key(GetParam(), messages[0].key);
  std::atomic<int> wrong{0};
  at_once([&](int caller) {
    const stockade_direction direction = both_directions[caller % 2];
    std::vector<Bytes> outs, tags;
    std::vector<stockade_message> calls;
    for (const Message& message : messages) {
      outs.emplace_back(message.length());
      tags.push_back(message.tag);
    }
    for (size_t i = 0; i < messages.size(); ++i) {
      const Message& m = messages[i];
      calls.push_back({key.get(), m.iv.data(), m.iv.size(), m.aad.data(), m.aad.size(), m.input(direction).data(),
                       m.length(), outs[i].data(), tags[i].empty() ? nullptr : tags[i].data(), tags[i].size(),
                       STOCKADE_OK});
    }
    const auto function = direction == STOCKADE_ENCRYPT ? stockade_encrypt_many : stockade_decrypt_many;
    wrong += function(calls.data(), calls.size(), all_engines()[1].engine) != STOCKADE_OK;
    for (size_t i = 0; i < messages.size(); ++i) {
      wrong += outs[i] != messages[i].output(direction) || tags[i] != messages[i].tag;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Threads, make_and_free_keys_and_engines_at_once) {
  std::atomic<int> wrong{0};
  const uint64_t rounds = scaled(100);
  at_once([&](int caller) {
    for (uint64_t i = 0; i < rounds; ++i) {
      const stockade_mode mode = all_modes[(static_cast<uint64_t>(caller) + i) % std::size(all_modes)];
      Bytes bytes(32, static_cast<uint8_t>(caller + 1));
      bytes[0] = 0;
      stockade_key* key = nullptr;
      stockade_engine* engine = nullptr;
      wrong += stockade_key_create(&key, mode, bytes.data(), bytes.size(), nullptr) != STOCKADE_OK;
      wrong += stockade_engine_create(&engine, nullptr, 0) != STOCKADE_OK;
      stockade_row row;
      wrong += stockade_row_get(0, &row) != STOCKADE_OK;
      stockade_key_free(key);
      stockade_engine_free(engine);
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace stockade::tests
