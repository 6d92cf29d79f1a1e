// STOCKADE_ERROR_MEMORY: whichever allocation is the one that fails, the call says so or does without, and loses
// nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "cross/failing_memory.h"
#include "cross/handles.h"
#include "cross/message.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

constexpr auto nothing = [] {};

TEST(Memory, of_a_key) {
  const Bytes bytes(64, 1);
  for (const char* force : {static_cast<const char*>(nullptr), "aes:portable,gcm:portable"}) {
    for (const stockade_mode mode : {STOCKADE_CTR, STOCKADE_GCM}) {
      stockade_key* key = nullptr;
      EXPECT_GE(sweep([&] { return stockade_key_create(&key, mode, bytes.data(), 32, force); },
                      [&] { EXPECT_EQ(key, nullptr); }),
                1);
      ASSERT_NE(key, nullptr);
      stockade_key_free(key);
    }
  }
}

TEST(Memory, of_an_engine) {
  stockade_engine* engine = nullptr;
  EXPECT_GE(sweep([&] { return stockade_engine_create(&engine, "threads", 2); }, [&] { EXPECT_EQ(engine, nullptr); }),
            1);
  ASSERT_NE(engine, nullptr);
  stockade_engine_free(engine);
}

TEST(Memory, of_a_stream) {
  const Key key = make_key(STOCKADE_GCM, Bytes(16, 1));
  const Bytes iv(12, 2);
  stockade_stream* stream = nullptr;
  EXPECT_GE(sweep(
                [&] {
                  return stockade_stream_create(&stream, key.get(), STOCKADE_DECRYPT, iv.data(), iv.size(),
                                                STOCKADE_PADDING_NONE, nullptr);
                },
                [&] { EXPECT_EQ(stream, nullptr); }),
            1);
  ASSERT_NE(stream, nullptr);
  stockade_stream_free(stream);
}

// The ciphertext that a stream keeps until the tag is verified: an update that found no memory can be repeated.
TEST(Memory, of_ciphertext_that_is_kept) {
  RandomSource random;
  const Message message = random_message(STOCKADE_GCM, 128, 50000, random);
  const Key key = make_key(STOCKADE_GCM, message.key);
  const Stream stream = make_stream(key.get(), STOCKADE_DECRYPT, message.iv);
  ASSERT_EQ(stockade_stream_aad(stream.get(), message.aad.data(), message.aad.size()), STOCKADE_OK);
  uint64_t count = 0;
  int said = 0;
  for (uint64_t done = 0; done < message.length(); done += 10000) {
    said += sweep(
        [&] {
          return stockade_stream_update(stream.get(), message.ciphertext.data() + done, 10000, nullptr, 0, &count);
        },
        nothing);
  }
  EXPECT_GE(said, 2);
  Bytes out(message.length()), tag = message.tag;
  ASSERT_EQ(stockade_stream_final(stream.get(), out.data(), out.size(), &count, tag.data(), tag.size()), STOCKADE_OK);
  EXPECT_EQ(out, message.plaintext);
}

// Calls that promise no STOCKADE_ERROR_MEMORY need none.
TEST(Memory, is_not_needed_for_one_message) {
  RandomSource random;
  for (const stockade_mode mode : all_modes) {
    const Message message = random_message(mode, 256, allowed_length(mode, 600000), random);
    const Key key = make_key(mode, message.key);
    for (const NamedEngine& engine : all_engines()) {
      for (const stockade_direction direction : both_directions) {
        Bytes out(message.length()), tag = message.tag;
        // Once before, for what the runtime of the threads allocates when they start.
        ASSERT_TRUE(agrees(message, direction, key.get(), engine.engine));
        EXPECT_EQ(sweep(
                      [&] {
                        return crypt(message, direction, key.get(), message.input(direction).data(), out.data(),
                                     tag.data(), engine.engine);
                      },
                      nothing),
                  0);
        EXPECT_TRUE(same_bytes(out.data(), message.output(direction).data(), out.size()));
      }
    }
  }
}

// Messages that cannot be put in order for want of memory are not done and say so; done again they are right.
TEST(Memory, of_many_messages) {
  RandomSource random;
  const Message message = random_message(STOCKADE_CBC, 128, 160, random);
  const Key key = make_key(STOCKADE_CBC, message.key);
  constexpr size_t count = 300;
  std::vector<Bytes> outputs(count, Bytes(message.length()));
  std::vector<stockade_message> calls(count);
  for (size_t i = 0; i < count; ++i) {
    calls[i] = {key.get(),        message.iv.data(), 16,      nullptr, 0,          message.plaintext.data(),
                message.length(), outputs[i].data(), nullptr, 0,       STOCKADE_OK};
  }
  sweep([&] { return stockade_encrypt_many(calls.data(), count, all_engines()[1].engine); },
        [&] { EXPECT_EQ(outputs[0], Bytes(message.length())); });
  for (const Bytes& output : outputs) EXPECT_EQ(output, message.ciphertext);
}

struct FileCase {
  stockade_mode mode;
  bool to_pipe;
  const char* engine;
  uint64_t length;
};

class MemoryOfFiles : public testing::TestWithParam<FileCase> {};
const FileCase file_cases[] = {
    {STOCKADE_CTR, false, "serial", 1000},     {STOCKADE_CTR, false, "threads", 3000000},
    {STOCKADE_CBC, false, "threads", 3000000}, {STOCKADE_GCM, false, "threads", 3000000},
    {STOCKADE_GCM, true, "threads", 3000000},  {STOCKADE_CTR, true, "threads", 3000000},
    {STOCKADE_XTS, false, "threads", 3000000}, {STOCKADE_OFB, true, "serial", 3000000},
};
std::string file_label(const testing::TestParamInfo<FileCase>& info) {
  const FileCase& c = info.param;
  return std::string(mode_name(c.mode)) + "_" + c.engine + (c.to_pipe ? "_pipe_" : "_file_") + std::to_string(c.length);
}
INSTANTIATE_TEST_SUITE_P(All, MemoryOfFiles, testing::ValuesIn(file_cases), file_label);

TEST_P(MemoryOfFiles, whichever_allocation_fails) {
  RandomSource random;
  const stockade_mode mode = GetParam().mode;
  const bool to_pipe = GetParam().to_pipe;
  const Engine engine = make_engine(GetParam().engine, 3);
  const Message message = random_message(mode, 128, allowed_length(mode, GetParam().length), random);
  const Key key = make_key(mode, message.key);
  const TemporaryFile in(message.plaintext), out;
  int ends[2] = {-1, out.fd()};
  if (to_pipe) {
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  }
  // Whatever comes through the pipe is taken away, on a thread that was made while there was memory.
  std::thread drain([&] {
    static uint8_t buffer[65536];
    while (to_pipe && read(ends[0], buffer, sizeof buffer) > 0) {
    }
  });
  stockade_raw_options options = {};
  options.struct_size = sizeof options;
  options.iv = message.iv.data();
  options.iv_length = message.iv.size();
  options.aad = message.aad.data();
  options.aad_length = message.aad.size();
  options.unit = mode == STOCKADE_XTS ? message.length() : 0;
  sweep(
      [&]() -> stockade_status {
        lseek(in.fd(), 0, SEEK_SET);
        if (!to_pipe && (ftruncate(out.fd(), 0) != 0 || lseek(out.fd(), 0, SEEK_SET) != 0)) return STOCKADE_ERROR_IO;
        return stockade_raw_encrypt_fd(key.get(), in.fd(), ends[1], &options, engine.get());
      },
      [&] { EXPECT_EQ(out.size(), 0U); });
  if (to_pipe) close(ends[1]);
  drain.join();
  if (to_pipe) {
    close(ends[0]);
    return;
  }
  // What was written at last is right, whatever was done without memory before.
  const Bytes written = out.content();
  ASSERT_GE(written.size(), message.length());
  EXPECT_TRUE(same_bytes(written.data(), message.ciphertext.data(), message.length()));
}

}  // namespace
}  // namespace stockade::tests
