// Stockade files: null pointers, values out of range and structures of another size, for every function; handles that are
// refused leave nothing behind, and nothing is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "cross/file_sample.h"
#include "cross/guarded_memory.h"
#include "cross/handles.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

constexpr auto null_pointer = STOCKADE_ERROR_NULL_POINTER, argument = STOCKADE_ERROR_ARGUMENT;

int64_t read_nothing(void*, void*, uint64_t) { return 0; }
int do_nothing(void*, uint64_t) { return 0; }

class FileArguments : public testing::Test {
 protected:
  // Every function that takes a format, with good arguments but for that; both directions.
  std::vector<stockade_status> with_format(const stockade_format* format) {
    std::vector<stockade_status> statuses;
    for (const stockade_direction direction : both_directions) {
      stockade_file* file = nullptr;
      statuses.push_back(stockade_file_create(&file, direction, format, nullptr));
      EXPECT_EQ(file == nullptr, statuses.back() != STOCKADE_OK);
      stockade_file_free(file);
    }
    stockade_reader* reader = nullptr;
    stockade_fault fault = {};
    statuses.push_back(stockade_reader_create(&reader, read_bytes_at, &file_, file_.size(), format, nullptr, &fault));
    EXPECT_EQ(reader == nullptr, statuses.back() != STOCKADE_OK);
    EXPECT_EQ(fault.status, statuses.back());
    stockade_reader_free(reader);
    for (const auto function : {stockade_file_encrypt_fd, stockade_file_decrypt_fd}) {
      const TemporaryFile in(file_), out;
      stockade_file_job job = file_job();
      statuses.push_back(function(in.fd(), out.fd(), format, &job, nullptr));
      EXPECT_EQ(job.fault.status, statuses.back());
      EXPECT_EQ(out.size() == 0, statuses.back() != STOCKADE_OK);
    }
    const TemporaryFile in(file_);
    stockade_file_job job = file_job();
    statuses.push_back(stockade_file_verify_fd(in.fd(), format, &job, nullptr));
    EXPECT_EQ(job.fault.status, statuses.back());
    return statuses;
  }
  void expect_for_format(const stockade_format* format, stockade_status expected) {
    for (const stockade_status status : with_format(format)) EXPECT_EQ(status, expected);
  }
  // For a format that files may be opened with, but not made.
  void expect_for_making(const stockade_format& format, stockade_status making) {
    const std::vector<stockade_status> statuses = with_format(&format);
    ASSERT_EQ(statuses.size(), 6U);
    for (const size_t i : {0, 3}) EXPECT_EQ(statuses[i], making) << i;
    for (const size_t i : {1, 2, 4, 5}) EXPECT_EQ(statuses[i], STOCKADE_OK) << i;
  }
  bool untouched() const { return out_ == Bytes(out_.size(), 0xEE) && written_ == 77; }

  const Bytes key_ = sample_key(1), context_ = {1, 2, 3};
  const KeyringHandle ring_ = keyring_of({key_});
  const stockade_format format_ = format_for(ring_), plain_ = plain_format(key_, context_);
  Bytes file_ = seal(format_, sample_text(40000));
  Bytes out_ = Bytes(100000, 0xEE);
  uint64_t written_ = 77;
  stockade_fault fault_ = {};
};

TEST_F(FileArguments, good_ones_are_taken) {
  for (const stockade_status status : with_format(&format_)) EXPECT_EQ(status, STOCKADE_OK);
}

// --- keys and names ------------------------------------------------------------------------------------------------

TEST_F(FileArguments, of_keyrings) {
  EXPECT_EQ(stockade_keyring_create(nullptr), null_pointer);
  EXPECT_EQ(stockade_keyring_add_key(nullptr, key_.data(), 32), null_pointer);
  EXPECT_EQ(stockade_keyring_add_key(ring_.get(), nullptr, 32), null_pointer);
  const FencedMemory nothing(0);
  for (const uint64_t length : {uint64_t{0}, uint64_t{16}, uint64_t{31}, uint64_t{33}, uint64_t{64}, UINT64_MAX}) {
    EXPECT_EQ(stockade_keyring_add_key(ring_.get(), nothing.front(), length), STOCKADE_ERROR_KEY_LENGTH) << length;
  }
  EXPECT_EQ(stockade_keyring_add_passphrase(nullptr, "x", 1, 0), null_pointer);
  EXPECT_EQ(stockade_keyring_add_passphrase(ring_.get(), nullptr, 1, 0), null_pointer);
  EXPECT_EQ(stockade_keyring_add_passphrase(ring_.get(), "x", 0, 0), argument);
  EXPECT_EQ(stockade_keyring_add_passphrase(ring_.get(), nullptr, 0, 0), argument);
  for (const uint32_t factor : {31U, 64U, UINT32_MAX}) {
    EXPECT_EQ(stockade_keyring_add_passphrase(ring_.get(), "x", 1, factor), argument) << factor;
  }
  // What was refused is not in it: a passphrase would not be alone.
  EXPECT_EQ(with_format(&format_).front(), STOCKADE_OK);
  for (const uint32_t factor : {0U, 1U, 30U}) {
    EXPECT_EQ(stockade_keyring_add_passphrase(ring_.get(), "x", 1, factor), STOCKADE_OK) << factor;
  }
  stockade_keyring_free(nullptr);
}

TEST_F(FileArguments, of_random_and_names) {
  EXPECT_EQ(stockade_random(nullptr, 1), null_pointer);
  EXPECT_EQ(stockade_random(nullptr, 0), STOCKADE_OK);
  // More than the operating system gives at once.
  Bytes drawn(1000);
  EXPECT_EQ(stockade_random(drawn.data(), drawn.size()), STOCKADE_OK);
  for (size_t i = 0; i < drawn.size(); i += 100) {
    const auto begin = drawn.begin() + static_cast<long>(i);
    EXPECT_FALSE(std::all_of(begin, begin + 100, [](uint8_t byte) { return byte == 0; })) << i;
  }
  char id[12] = "untouched";
  EXPECT_EQ(stockade_key_id(nullptr, 32, id), null_pointer);
  EXPECT_EQ(stockade_key_id(key_.data(), 32, nullptr), null_pointer);
  for (const uint64_t length : {0, 16, 31, 33}) {
    EXPECT_EQ(stockade_key_id(key_.data(), length, id), STOCKADE_ERROR_KEY_LENGTH) << length;
  }
  EXPECT_STREQ(id, "untouched");
  ASSERT_EQ(stockade_key_id(key_.data(), 32, id), STOCKADE_OK);
  EXPECT_EQ(std::strlen(id), 11U);
}

TEST_F(FileArguments, of_fault_texts) {
  char text[8] = "1234567";
  EXPECT_EQ(stockade_fault_text(nullptr, text, sizeof text), null_pointer);
  EXPECT_EQ(stockade_fault_text(&fault_, nullptr, sizeof text), null_pointer);
  EXPECT_EQ(stockade_fault_text(&fault_, text, 0), argument);
  EXPECT_STREQ(text, "1234567");
  // A status from elsewhere.
  fault_.status = out_of_range<stockade_status>(1000);
  char unknown[64];
  EXPECT_EQ(stockade_fault_text(&fault_, unknown, sizeof unknown), STOCKADE_OK);
  EXPECT_STREQ(unknown, "unknown status");
  EXPECT_EQ(stockade_file_detect(nullptr, 0), 0);
  EXPECT_EQ(stockade_file_detect(nullptr, 64), 0);
}

// --- formats -------------------------------------------------------------------------------------------------------

TEST_F(FileArguments, of_a_format) {
  expect_for_format(nullptr, null_pointer);
  for (const uint64_t size : {uint64_t{0}, sizeof format_ - 1, sizeof format_ + 8, UINT64_MAX}) {
    stockade_format format = format_;
    format.struct_size = size;
    expect_for_format(&format, argument);
  }
  stockade_format format = format_;
  format.cipher = out_of_range<stockade_cipher>(2);
  expect_for_format(&format, argument);
  format.cipher = out_of_range<stockade_cipher>(-1);
  expect_for_format(&format, argument);
  // Neither kind of file, and both.
  format = {};
  format.struct_size = sizeof format;
  expect_for_format(&format, argument);
  format = plain_;
  format.keyring = ring_.get();
  expect_for_format(&format, argument);
  format.context_length = 0;
  expect_for_format(&format, argument);
  format = format_;
  format.context = context_.data();
  format.context_length = context_.size();
  expect_for_format(&format, argument);
  // Lengths of nothing.
  format = plain_;
  format.key = nullptr;
  expect_for_format(&format, null_pointer);
  format = plain_;
  format.context = nullptr;
  expect_for_format(&format, null_pointer);
}

TEST_F(FileArguments, key_length_of_plain_cobblestone) {
  const Bytes bytes(100, 5);
  for (const stockade_cipher cipher : {STOCKADE_COBBLESTONE_256, STOCKADE_COBBLESTONE_128}) {
    for (const uint64_t length : {0, 1, 15, 16, 17, 24, 31, 32, 33, 64}) {
      if (length == (cipher == STOCKADE_COBBLESTONE_256 ? 32 : 16)) continue;
      stockade_format format = plain_format(bytes, context_);
      format.key_length = length;
      format.cipher = cipher;
      expect_for_format(&format, STOCKADE_ERROR_KEY_LENGTH);
    }
  }
}

TEST_F(FileArguments, mode_for_armor_around_plain_cobblestone) {
  stockade_format format = plain_;
  format.armor = 1;
  stockade_file* file = nullptr;
  EXPECT_EQ(stockade_file_create(&file, STOCKADE_ENCRYPT, &format, nullptr), STOCKADE_ERROR_MODE);
  EXPECT_EQ(file, nullptr);
  const TemporaryFile in(file_), out;
  stockade_file_job job = file_job();
  EXPECT_EQ(stockade_file_encrypt_fd(in.fd(), out.fd(), &format, &job, nullptr), STOCKADE_ERROR_MODE);
  EXPECT_EQ(job.fault.status, STOCKADE_ERROR_MODE);
  EXPECT_EQ(out.size(), 0U);
}

TEST_F(FileArguments, no_identity_for_an_empty_keyring) {
  const KeyringHandle empty = keyring_of(std::vector<Bytes>());
  const stockade_format format = format_for(empty);
  expect_for_format(&format, STOCKADE_ERROR_NO_IDENTITY);
  EXPECT_EQ(stockade_header_rekey(file_.data(), file_.size(), empty.get(), 0, nullptr, 0, nullptr, out_.data(),
                                  out_.size(), &written_, &fault_),
            STOCKADE_ERROR_NO_IDENTITY);
  EXPECT_TRUE(untouched());
}

TEST_F(FileArguments, scrypt_not_alone_for_a_mixed_keyring_to_make_a_file) {
  ASSERT_EQ(stockade_keyring_add_passphrase(ring_.get(), "swordfish", 9, 1), STOCKADE_OK);
  expect_for_making(format_, STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  EXPECT_EQ(fault_sentence(fault_of(STOCKADE_ERROR_SCRYPT_NOT_ALONE)),
            "a passphrase cannot stand beside another recipient");
}

// More recipients than a header may have stanzas.
TEST_F(FileArguments, header_too_long_for_too_many_recipients) {
  for (int i = 1; i < 1024; ++i) {
    ASSERT_EQ(stockade_keyring_add_key(ring_.get(), sample_key(static_cast<uint8_t>(i)).data(), 32), STOCKADE_OK);
  }
  EXPECT_EQ(with_format(&format_).front(), STOCKADE_OK);
  ASSERT_EQ(stockade_keyring_add_key(ring_.get(), key_.data(), 32), STOCKADE_OK);
  expect_for_making(format_, STOCKADE_ERROR_HEADER_TOO_LONG);
}

// --- in pieces -----------------------------------------------------------------------------------------------------

TEST_F(FileArguments, of_pieces) {
  stockade_file* made = nullptr;
  EXPECT_EQ(stockade_file_create(nullptr, STOCKADE_ENCRYPT, &format_, nullptr), null_pointer);
  for (const int32_t direction : {2, -1, 100}) {
    EXPECT_EQ(stockade_file_create(&made, out_of_range<stockade_direction>(direction), &format_, nullptr), argument);
  }
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(stockade_file_bound(nullptr, 100), 0U);
  stockade_file_free(nullptr);
  const uint64_t room = out_.size();
  EXPECT_EQ(stockade_file_update(nullptr, file_.data(), 1, out_.data(), room, &written_), null_pointer);
  EXPECT_EQ(stockade_file_final(nullptr, out_.data(), room, &written_), null_pointer);
  EXPECT_EQ(stockade_file_pull(nullptr, read_nothing, nullptr, out_.data(), room, &written_), null_pointer);
  EXPECT_EQ(stockade_file_fault(nullptr, &fault_), null_pointer);
  for (const stockade_direction direction : both_directions) {
    const FileHandle file = make_file(direction, format_);
    EXPECT_EQ(stockade_file_update(file.get(), nullptr, 1, out_.data(), room, &written_), null_pointer);
    EXPECT_EQ(stockade_file_update(file.get(), file_.data(), 1, nullptr, room, &written_), null_pointer);
    EXPECT_EQ(stockade_file_update(file.get(), file_.data(), 1, out_.data(), room, nullptr), null_pointer);
    EXPECT_EQ(stockade_file_final(file.get(), nullptr, room, &written_), null_pointer);
    EXPECT_EQ(stockade_file_final(file.get(), out_.data(), room, nullptr), null_pointer);
    EXPECT_EQ(stockade_file_pull(file.get(), nullptr, nullptr, out_.data(), room, &written_), null_pointer);
    EXPECT_EQ(stockade_file_pull(file.get(), read_nothing, nullptr, nullptr, room, &written_), null_pointer);
    EXPECT_EQ(stockade_file_pull(file.get(), read_nothing, nullptr, out_.data(), room, nullptr), null_pointer);
    EXPECT_EQ(stockade_file_fault(file.get(), nullptr), null_pointer);
    EXPECT_TRUE(untouched());
    // None of this has done it any harm.
    EXPECT_EQ(stockade_file_fault(file.get(), &fault_), STOCKADE_OK);
    EXPECT_EQ(fault_.status, STOCKADE_OK);
    EXPECT_EQ(stockade_file_update(file.get(), nullptr, 0, nullptr, 0, &written_), STOCKADE_OK);
    EXPECT_EQ(stockade_file_update(file.get(), file_.data(), file_.size(), out_.data(), room, &written_), STOCKADE_OK);
    out_.assign(room, 0xEE);
    written_ = 77;
  }
}

// --- at any place --------------------------------------------------------------------------------------------------

TEST_F(FileArguments, of_readers) {
  stockade_reader* made = nullptr;
  EXPECT_EQ(stockade_reader_create(nullptr, read_bytes_at, &file_, file_.size(), &format_, nullptr, &fault_),
            null_pointer);
  EXPECT_EQ(fault_.status, null_pointer);
  EXPECT_EQ(stockade_reader_create(&made, nullptr, &file_, file_.size(), &format_, nullptr, nullptr), null_pointer);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(stockade_reader_length(nullptr), 0U);
  EXPECT_EQ(stockade_reader_header_length(nullptr), 0U);
  stockade_reader_free(nullptr);
  ASSERT_EQ(stockade_reader_create(&made, read_bytes_at, &file_, file_.size(), &format_, nullptr, nullptr),
            STOCKADE_OK);
  const ReaderHandle reader(made);
  EXPECT_EQ(stockade_reader_read_at(nullptr, 0, out_.data(), 1, &written_, &fault_), null_pointer);
  EXPECT_EQ(stockade_reader_read_at(made, 0, nullptr, 1, &written_, &fault_), null_pointer);
  EXPECT_EQ(fault_.status, null_pointer);
  EXPECT_EQ(stockade_reader_read_at(made, 0, out_.data(), 1, nullptr, nullptr), null_pointer);
  EXPECT_TRUE(untouched());
  // Places behind the end are no error, and there is nothing there.
  for (const uint64_t offset : {uint64_t{40000}, uint64_t{1} << 52, UINT64_MAX}) {
    EXPECT_EQ(stockade_reader_read_at(made, offset, out_.data(), out_.size(), &written_, &fault_), STOCKADE_OK);
    EXPECT_EQ(written_, 0U);
    EXPECT_EQ(fault_.status, STOCKADE_OK);
  }
  EXPECT_EQ(stockade_reader_read_at(made, 0, nullptr, 0, &written_, nullptr), STOCKADE_OK);
  EXPECT_EQ(out_, Bytes(out_.size(), 0xEE));
  EXPECT_EQ(stockade_reader_read_at(made, 39999, out_.data(), 2, &written_, nullptr), STOCKADE_OK);
  EXPECT_EQ(written_, 1U);
  EXPECT_EQ(out_[1], 0xEE);
  EXPECT_EQ(stockade_ciphertext_range(0, 0, 0, nullptr, &written_), null_pointer);
  EXPECT_EQ(stockade_ciphertext_range(0, 0, 0, &written_, nullptr), null_pointer);
  for (const uint64_t header : {(uint64_t{1} << 20) + 1, UINT64_MAX}) {
    uint64_t offset = 77, length = 77;
    EXPECT_EQ(stockade_ciphertext_range(header, 0, 1, &offset, &length), argument);
    EXPECT_EQ(offset, 77U);
    EXPECT_EQ(length, 77U);
  }
  EXPECT_EQ(stockade_plaintext_length(100, nullptr), null_pointer);
}

int fail_to_read(void* context, uint64_t, void*, uint64_t) {
  int& calls_left = *static_cast<int*>(context);
  if (calls_left-- > 0) return 0;
  errno = ENXIO;
  return -1;
}

// Where it happens in turn: the header, the last chunk, a part that is wanted.
TEST_F(FileArguments, io_of_a_readers_callback) {
  struct Failing {
    Bytes& file;
    int calls_left;
  } failing{file_, 0};
  const auto read = [](void* context, uint64_t offset, void* buffer, uint64_t length) {
    Failing& from = *static_cast<Failing*>(context);
    const int failed = fail_to_read(&from.calls_left, offset, buffer, length);
    return failed != 0 ? failed : read_bytes_at(&from.file, offset, buffer, length);
  };
  const uint64_t offsets[] = {0, sample_chunk(2), sample_chunk(1)};
  for (int calls = 0; calls < 3; ++calls) {
    failing.calls_left = calls;
    stockade_reader* made = nullptr;
    errno = 0;
    stockade_status status = stockade_reader_create(&made, read, &failing, file_.size(), &format_, nullptr, &fault_);
    const ReaderHandle reader(made);
    if (calls == 2) {
      ASSERT_EQ(status, STOCKADE_OK);
      status = stockade_reader_read_at(made, 16384, out_.data(), 1, &written_, &fault_);
      EXPECT_EQ(written_, 0U);
    } else {
      EXPECT_EQ(made, nullptr);
    }
    EXPECT_EQ(status, STOCKADE_ERROR_IO);
    EXPECT_EQ(errno, ENXIO);
    EXPECT_EQ(fault_.status, STOCKADE_ERROR_IO);
    EXPECT_EQ(fault_.offset, offsets[calls]);
  }
}

// --- from descriptor to descriptor ---------------------------------------------------------------------------------

TEST_F(FileArguments, of_jobs) {
  const TemporaryFile in(file_), out;
  EXPECT_EQ(stockade_file_encrypt_fd(in.fd(), out.fd(), &format_, nullptr, nullptr), null_pointer);
  EXPECT_EQ(stockade_file_decrypt_fd(in.fd(), out.fd(), &format_, nullptr, nullptr), null_pointer);
  EXPECT_EQ(stockade_file_verify_fd(in.fd(), &format_, nullptr, nullptr), null_pointer);
  for (const uint64_t size : {uint64_t{0}, sizeof(stockade_file_job) - 1, sizeof(stockade_file_job) + 8, UINT64_MAX}) {
    stockade_file_job job = file_job();
    job.struct_size = size;
    EXPECT_EQ(stockade_file_encrypt_fd(in.fd(), out.fd(), &format_, &job, nullptr), argument) << size;
    EXPECT_EQ(stockade_file_decrypt_fd(in.fd(), out.fd(), &format_, &job, nullptr), argument) << size;
    EXPECT_EQ(stockade_file_verify_fd(in.fd(), &format_, &job, nullptr), argument) << size;
  }
  EXPECT_EQ(out.size(), 0U);
  EXPECT_EQ(in.position(), 0U);
}

// --- headers -------------------------------------------------------------------------------------------------------

TEST_F(FileArguments, of_headers) {
  stockade_header* made = nullptr;
  EXPECT_EQ(stockade_header_parse(nullptr, file_.data(), file_.size(), &fault_), null_pointer);
  EXPECT_EQ(fault_.status, null_pointer);
  EXPECT_EQ(stockade_header_parse(&made, nullptr, 10, nullptr), null_pointer);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(stockade_header_parse(&made, nullptr, 0, nullptr), STOCKADE_ERROR_TRUNCATED);
  EXPECT_EQ(stockade_header_length(nullptr), 0U);
  EXPECT_EQ(stockade_header_cipher(nullptr), STOCKADE_COBBLESTONE_256);
  stockade_stanza stanza = {};
  EXPECT_EQ(stockade_header_stanza(nullptr, 0, &stanza), null_pointer);
  stockade_header_free(nullptr);
  ASSERT_EQ(stockade_header_parse(&made, file_.data(), file_.size(), nullptr), STOCKADE_OK);
  const HeaderHandle header(made);
  EXPECT_EQ(stockade_header_stanza(made, 0, nullptr), null_pointer);
  uint32_t count = 0;
  while (stockade_header_stanza(made, count, &stanza) == STOCKADE_OK) ++count;
  EXPECT_GE(count, 2U);
  for (const uint32_t index : {count, count + 1, UINT32_MAX}) {
    EXPECT_EQ(stockade_header_stanza(made, index, &stanza), argument);
  }
  // Not even the header that is there needs more than itself.
  EXPECT_EQ(stockade_header_length(made), sample_header);
  stockade_header* exact = nullptr;
  EXPECT_EQ(stockade_header_parse(&exact, file_.data(), sample_header, &fault_), STOCKADE_OK);
  EXPECT_EQ(fault_.status, STOCKADE_OK);
  stockade_header_free(exact);
}

TEST_F(FileArguments, of_armor) {
  const Bytes armored = in_armor(file_);
  const auto decode = [&](const void* in, void* out, uint64_t room, uint64_t* length) {
    return stockade_armor_decode(in, armored.size(), 1, out, room, length, &fault_);
  };
  EXPECT_EQ(decode(nullptr, out_.data(), out_.size(), &written_), null_pointer);
  EXPECT_EQ(fault_.status, null_pointer);
  EXPECT_EQ(decode(armored.data(), nullptr, out_.size(), &written_), null_pointer);
  EXPECT_EQ(decode(armored.data(), out_.data(), out_.size(), nullptr), null_pointer);
  for (const uint64_t room : {uint64_t{0}, file_.size() - 1}) {
    EXPECT_EQ(decode(armored.data(), out_.data(), room, &written_), STOCKADE_ERROR_OUTPUT_SIZE);
    EXPECT_EQ(fault_.status, STOCKADE_ERROR_OUTPUT_SIZE);
  }
  EXPECT_TRUE(untouched());
  EXPECT_EQ(decode(armored.data(), out_.data(), file_.size(), &written_), STOCKADE_OK);
  EXPECT_EQ(written_, file_.size());
}

class RekeyArguments : public FileArguments {
 protected:
  stockade_status rekey(std::initializer_list<const char*> remove, const stockade_keyring* add,
                        uint64_t room = UINT64_MAX) {
    const std::vector<const char*> names(remove);
    const stockade_status status = stockade_header_rekey(file_.data(), file_.size(), ring_.get(), 0, names.data(),
                                                         static_cast<uint32_t>(names.size()), add, out_.data(),
                                                         std::min<uint64_t>(room, out_.size()), &written_, &fault_);
    EXPECT_EQ(fault_.status, status);
    return status;
  }
  static std::string id_of(const Bytes& key) {
    char id[12];
    EXPECT_EQ(stockade_key_id(key.data(), key.size(), id), STOCKADE_OK);
    return id;
  }
  const std::string id_ = id_of(key_);
  const KeyringHandle other_ = keyring_of({sample_key(50)}), phrase_ = keyring_of("swordfish");
};

TEST_F(RekeyArguments, null_pointers) {
  const auto call = [&](const void* header, const stockade_keyring* ring, const char* const* remove, uint32_t count,
                        void* out, uint64_t* length) {
    return stockade_header_rekey(header, file_.size(), ring, 0, remove, count, nullptr, out, out_.size(), length,
                                 &fault_);
  };
  const char* const names[] = {nullptr};
  EXPECT_EQ(call(nullptr, ring_.get(), nullptr, 0, out_.data(), &written_), null_pointer);
  EXPECT_EQ(fault_.status, null_pointer);
  EXPECT_EQ(call(file_.data(), nullptr, nullptr, 0, out_.data(), &written_), null_pointer);
  EXPECT_EQ(call(file_.data(), ring_.get(), nullptr, 1, out_.data(), &written_), null_pointer);
  EXPECT_EQ(call(file_.data(), ring_.get(), names, 1, out_.data(), &written_), null_pointer);
  EXPECT_EQ(call(file_.data(), ring_.get(), nullptr, 0, nullptr, &written_), null_pointer);
  EXPECT_EQ(call(file_.data(), ring_.get(), nullptr, 0, out_.data(), nullptr), null_pointer);
  EXPECT_TRUE(untouched());
  EXPECT_EQ(stockade_header_rekey(file_.data(), file_.size(), ring_.get(), 0, nullptr, 0, nullptr, out_.data(),
                                  out_.size(), &written_, nullptr),
            STOCKADE_OK);
}

TEST_F(RekeyArguments, names_that_are_not_there) {
  for (const char* name : {"", "AAAAAAAAAAA", "scrypt", "pad", "key"}) {
    EXPECT_EQ(rekey({name}, other_.get()), STOCKADE_ERROR_UNKNOWN_NAME) << name;
    EXPECT_EQ(rekey({id_.c_str(), name}, other_.get()), STOCKADE_ERROR_UNKNOWN_NAME) << name;
  }
  EXPECT_EQ(rekey({id_.substr(0, 10).c_str()}, other_.get()), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_TRUE(untouched());
}

TEST_F(RekeyArguments, nobody_left_or_there_twice) {
  const KeyringHandle empty = keyring_of(std::vector<Bytes>());
  EXPECT_EQ(rekey({id_.c_str()}, nullptr), argument);
  EXPECT_EQ(rekey({id_.c_str()}, empty.get()), argument);
  EXPECT_EQ(rekey({}, ring_.get()), argument);
  EXPECT_EQ(rekey({}, keyring_of({sample_key(50), sample_key(50)}).get()), argument);
  EXPECT_TRUE(untouched());
  // The same key again, instead of itself, has a stanza of its own.
  EXPECT_EQ(rekey({id_.c_str()}, ring_.get()), STOCKADE_OK);
  EXPECT_NE(Bytes(out_.begin(), out_.begin() + sample_header), Bytes(file_.begin(), file_.begin() + sample_header));
}

TEST_F(RekeyArguments, scrypt_not_alone) {
  const KeyringHandle mixed = keyring_of("swordfish");
  ASSERT_EQ(stockade_keyring_add_key(mixed.get(), sample_key(50).data(), 32), STOCKADE_OK);
  EXPECT_EQ(rekey({}, phrase_.get()), STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  EXPECT_EQ(rekey({id_.c_str()}, mixed.get()), STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  EXPECT_TRUE(untouched());
  ASSERT_EQ(rekey({id_.c_str()}, phrase_.get()), STOCKADE_OK);
  std::copy_n(out_.begin(), written_, file_.begin());
  out_.assign(out_.size(), 0xEE);
  written_ = 77;
  const auto unlock = [&](const char* const* remove, uint32_t count, const stockade_keyring* add) {
    return stockade_header_rekey(file_.data(), file_.size(), phrase_.get(), 0, remove, count, add, out_.data(),
                                 out_.size(), &written_, &fault_);
  };
  EXPECT_EQ(unlock(nullptr, 0, other_.get()), STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  EXPECT_EQ(unlock(nullptr, 0, phrase_.get()), STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  EXPECT_TRUE(untouched());
  const char* const scrypt[] = {"scrypt"};
  EXPECT_EQ(unlock(scrypt, 1, other_.get()), STOCKADE_OK);
  EXPECT_EQ(unlock(scrypt, 1, phrase_.get()), STOCKADE_OK);
}

TEST_F(RekeyArguments, output_size) {
  for (const uint64_t room : {uint64_t{0}, sample_header - 1}) {
    EXPECT_EQ(rekey({}, other_.get(), room), STOCKADE_ERROR_OUTPUT_SIZE);
  }
  EXPECT_TRUE(untouched());
  EXPECT_EQ(rekey({}, other_.get(), sample_header), STOCKADE_OK);
  EXPECT_EQ(written_, sample_header);
}

TEST_F(RekeyArguments, header_too_long) {
  std::vector<Bytes> keys;
  for (int i = 0; i < 1023; ++i) {
    keys.push_back(sample_key(7));
    keys.back()[0] = static_cast<uint8_t>(i);
    keys.back()[1] = static_cast<uint8_t>(i >> 8);
  }
  out_.assign(size_t{1} << 20, 0xEE);
  keys.push_back(sample_key(60));
  EXPECT_EQ(rekey({}, keyring_of(keys).get()), STOCKADE_ERROR_HEADER_TOO_LONG);
  EXPECT_TRUE(untouched());
}

// --- many jobs -----------------------------------------------------------------------------------------------------

TEST_F(FileArguments, of_many_jobs) {
  EXPECT_EQ(stockade_for_each(10, nullptr, nullptr, nullptr), null_pointer);
  EXPECT_EQ(stockade_for_each(0, nullptr, nullptr, nullptr), null_pointer);
  EXPECT_EQ(stockade_for_each(0, do_nothing, nullptr, nullptr), STOCKADE_OK);
  EXPECT_EQ(stockade_for_each(1000, do_nothing, nullptr, nullptr), STOCKADE_OK);
  const auto refuse = [](void*, uint64_t index) { return index == 5 ? 1 : 0; };
  for (const NamedEngine& engine : all_engines()) {
    EXPECT_EQ(stockade_for_each(100, refuse, nullptr, engine.engine), STOCKADE_ERROR_CANCELLED) << engine.name;
    EXPECT_EQ(stockade_for_each(5, refuse, nullptr, engine.engine), STOCKADE_OK) << engine.name;
    EXPECT_EQ(stockade_for_each(6, refuse, nullptr, engine.engine), STOCKADE_ERROR_CANCELLED) << engine.name;
  }
}

}  // namespace
}  // namespace stockade::tests
