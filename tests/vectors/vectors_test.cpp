// Every published vector on every implementation row, in every way in which the interface can be asked for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <sstream>

#include "aes/aes_variants.h"
#include "base/bytes.h"
#include "cross/handles.h"
#include "cross/oracle.h"
#include "vectors/vector_file.h"

namespace stockade::tests {
namespace {

struct Expected {
  const char* file;
  size_t vectors;
};
constexpr Expected vector_files[] = {
    {"fips197.txt", 4},   {"sp800_38a.txt", 15}, {"gcm_spec.txt", 18},  {"ieee1619.txt", 19},
    {"rfc3686.txt", 9},   {"pkcs7.txt", 130},    {"cavp_kat.txt", 403}, {"cavp_mmt.txt", 240},
    {"cavp_mct.txt", 54}, {"cavp_xts.txt", 120}, {"cavp_gcm.txt", 750},
};
constexpr Expected key_expansion_file = {"fips197_key_expansion.txt", 3};

const std::vector<Vector>& vectors_of(const std::string& file) {
  static std::map<std::string, std::vector<Vector>> loaded;
  const auto [entry, fresh] = loaded.try_emplace(file);
  if (fresh) {
    std::string error;
    const auto parsed = load_vectors(std::filesystem::path(STOCKADE_VECTOR_DIR) / file, error);
    if (!parsed) throw std::runtime_error(error);
    entry->second = parsed->vectors;
  }
  return entry->second;
}

std::string where(const std::string& file, const Vector& vector) {
  return file + ":" + std::to_string(vector.line) + ": " + vector.name;
}

// --- the files themselves ------------------------------------------------------------------------------------------

TEST(VectorFiles, hold_the_expected_number_of_records) {
  for (const auto& [file, count] : vector_files) EXPECT_EQ(vectors_of(file).size(), count) << file;
  EXPECT_EQ(vectors_of(key_expansion_file.file).size(), key_expansion_file.vectors);
}

TEST(VectorFiles, are_all_listed) {
  size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STOCKADE_VECTOR_DIR)) {
    // Those of RSA are listed by rsa_vectors_test.cpp.
    const bool rsa = entry.path().stem().string().find("rsa") != std::string::npos;
    found += entry.path().extension() == ".txt" && !rsa;
  }
  EXPECT_EQ(found, std::size(vector_files) + 1);
}

TEST(VectorFiles, have_no_record_twice) {
  for (const auto& [file, count] : vector_files) {
    std::map<std::string, int> names;
    for (const Vector& vector : vectors_of(file)) EXPECT_EQ(++names[vector.name], 1) << where(file, vector);
  }
}

std::string error_of(std::string_view text) {
  std::string error;
  EXPECT_FALSE(parse_vectors(text, error).has_value()) << text;
  EXPECT_FALSE(error.empty());
  return error;
}

constexpr std::string_view good_record =
    "source = here\n\nname = a\nmode = ecb\nkey = 00\nplaintext = 00\nciphertext = ff\n";

TEST(VectorReader, reads_a_good_record) {
  std::string error;
  const auto file = parse_vectors(good_record, error);
  ASSERT_TRUE(file.has_value()) << error;
  EXPECT_EQ(file->source, "here");
  ASSERT_EQ(file->vectors.size(), 1U);
  EXPECT_EQ(file->vectors[0].ciphertext, Bytes{0xff});
  EXPECT_EQ(file->vectors[0].line, 3);
}

TEST(VectorReader, refuses_what_is_malformed) {
  EXPECT_EQ(error_of(""), "no source named before the first record");
  EXPECT_EQ(error_of("source = here\n# nothing\n"), "no record");
  EXPECT_EQ(error_of("name = a\nmode = ecb\nkey = 00\nplaintext = 00\nciphertext = ff\n"),
            "no source named before the first record");
  const std::string good(good_record);
  EXPECT_EQ(error_of(good + "tag = 00\n"), "line 8: field that this record cannot have: 'tag'");
  EXPECT_EQ(error_of(good + "colour = 00\n"), "line 8: unknown field 'colour'");
  EXPECT_EQ(error_of(good + "key = 00\n"), "line 8: given twice: 'key'");
  EXPECT_EQ(error_of(good + "result = perhaps\n"), "line 8: unknown value 'perhaps'");
  EXPECT_EQ(error_of(good + "loose words\n"), "line 8: no 'field = value': 'loose words'");
  EXPECT_EQ(error_of("source = here\n\nname = a\nmode = ecb\nkey = 0\nplaintext =\nciphertext =\n"),
            "line 5: not hexadecimal bytes in 'key'");
  EXPECT_EQ(error_of("source = here\n\nname = a\nmode = ecb\nkey = 0g\nplaintext =\nciphertext =\n"),
            "line 5: not hexadecimal bytes in 'key'");
  EXPECT_EQ(error_of("source = here\n\nname = a\nmode = cbc\nkey = 00\nplaintext =\nciphertext =\n"),
            "line 3: record without 'iv'");
  EXPECT_EQ(error_of("source = here\n\nname = a\nmode = gcm\nkey = 00\niv = 00\naad =\nplaintext =\n"
                     "ciphertext =\n"),
            "line 3: record without 'tag'");
  std::string error;
  EXPECT_FALSE(load_vectors("/nonexistent/vectors.txt", error).has_value());
}

// --- the vectors ---------------------------------------------------------------------------------------------------

// One way to run a message: the status, and on success the output. `tag` is written when sealing, read when opening.
struct Outcome {
  stockade_status status;
  Bytes out;
};
struct Request {
  const stockade_key* key;
  stockade_direction direction;
  bool padded;
  const Bytes &iv, &aad, &in;
  Bytes& tag;
  const stockade_engine* engine;
};

Outcome run_one_call(const Request& r) {
  Outcome outcome{STOCKADE_OK, Bytes(r.in.size() + 16)};
  uint64_t length = r.in.size();
  uint8_t* out = outcome.out.data();
  const bool encrypting = r.direction == STOCKADE_ENCRYPT;
  if (stockade_key_mode(r.key) == STOCKADE_GCM && encrypting) {
    outcome.status = stockade_seal(r.key, r.iv.data(), r.iv.size(), r.aad.data(), r.aad.size(), r.in.data(), length,
                                   out, r.tag.data(), r.tag.size(), r.engine);
  } else if (stockade_key_mode(r.key) == STOCKADE_GCM) {
    outcome.status = stockade_open(r.key, r.iv.data(), r.iv.size(), r.aad.data(), r.aad.size(), r.in.data(), length,
                                   out, r.tag.data(), r.tag.size(), r.engine);
  } else if (r.padded) {
    const auto function = encrypting ? stockade_encrypt_padded : stockade_decrypt_padded;
    outcome.status =
        function(r.key, r.iv.data(), r.iv.size(), r.in.data(), length, out, outcome.out.size(), &length, r.engine);
  } else {
    outcome.status = run(r.direction, r.key, r.iv, r.in.data(), length, out, r.engine);
  }
  outcome.out.resize(length);
  return outcome;
}

// In pieces of `piece` bytes.
Outcome run_stream(const Request& r, uint64_t piece) {
  const Stream stream =
      make_stream(r.key, r.direction, r.iv, r.padded ? STOCKADE_PADDING_PKCS7 : STOCKADE_PADDING_NONE, r.engine);
  const bool authenticated = stockade_key_mode(r.key) == STOCKADE_GCM;
  for (uint64_t done = 0; done < r.aad.size(); done += piece) {
    const uint64_t size = std::min<uint64_t>(piece, r.aad.size() - done);
    EXPECT_EQ(stockade_stream_aad(stream.get(), r.aad.data() + done, size), STOCKADE_OK);
  }
  Outcome outcome{STOCKADE_OK, Bytes(r.in.size() + 32)};
  uint64_t written = 0, count = 0;
  for (uint64_t done = 0; done < r.in.size(); done += piece) {
    const uint64_t size = std::min<uint64_t>(piece, r.in.size() - done);
    outcome.status = stockade_stream_update(stream.get(), r.in.data() + done, size, outcome.out.data() + written,
                                            outcome.out.size() - written, &count);
    if (outcome.status != STOCKADE_OK) return outcome;
    written += count;
  }
  outcome.status =
      stockade_stream_final(stream.get(), outcome.out.data() + written, outcome.out.size() - written, &count,
                            authenticated ? r.tag.data() : nullptr, authenticated ? r.tag.size() : 0);
  outcome.out.resize(outcome.status == STOCKADE_OK ? written + count : 0);
  return outcome;
}

// As the middle one of three messages; the others are different so that a mix-up shows.
Outcome run_among_many(const Request& r) {
  const bool authenticated = stockade_key_mode(r.key) == STOCKADE_GCM;
  const Bytes other_in(64, 0x5a);
  const Bytes other_iv(16, 0xa5);
  const uint64_t other_iv_length = iv_bytes(stockade_key_mode(r.key));
  Outcome outcome{STOCKADE_OK, Bytes(r.in.size())};
  std::array<Bytes, 2> other_out = {Bytes(64), Bytes(64)};
  std::array<Bytes, 2> other_tag = {Bytes(16), Bytes(16)};
  std::array<stockade_message, 3> messages = {};
  for (size_t i = 0; i < 3; ++i) {
    const bool middle = i == 1;
    stockade_message& m = messages[i];
    m.key = r.key;
    m.iv = middle ? r.iv.data() : other_iv.data();
    m.iv_length = middle ? r.iv.size() : other_iv_length;
    if (m.iv_length == 0) m.iv = nullptr;
    m.in = middle ? r.in.data() : other_in.data();
    m.length = middle ? r.in.size() : other_in.size();
    m.out = middle ? outcome.out.data() : other_out[i / 2].data();
    if (authenticated) {
      m.tag = middle ? r.tag.data() : other_tag[i / 2].data();
      m.tag_length = middle ? r.tag.size() : 16;
    }
  }
  messages[1].aad = r.aad.data();
  messages[1].aad_length = r.aad.size();
  const auto function = r.direction == STOCKADE_ENCRYPT ? stockade_encrypt_many : stockade_decrypt_many;
  function(messages.data(), messages.size(), r.engine);
  outcome.status = messages[1].status;
  return outcome;
}

void expect_outcome(const Outcome& outcome, stockade_status status, const Bytes& out) {
  ASSERT_EQ(outcome.status, status) << stockade_status_name(outcome.status);
  if (status == STOCKADE_OK) {
    EXPECT_EQ(outcome.out, out);
  }
}

// The vector in one direction through every kind of call. Small pieces are for the serial engine only: each would be
// work for a team of threads.
void check_direction(const Vector& v, const stockade_key* key, stockade_direction direction,
                     const NamedEngine& named_engine) {
  const stockade_engine* engine = named_engine.engine;
  SCOPED_TRACE(direction == STOCKADE_ENCRYPT ? "encrypting" : "decrypting");
  const Bytes& in = direction == STOCKADE_ENCRYPT ? v.plaintext : v.ciphertext;
  const Bytes& expected = direction == STOCKADE_ENCRYPT ? v.ciphertext : v.plaintext;
  const auto check = [&](const char* how, const auto& call) {
    SCOPED_TRACE(how);
    Bytes tag = direction == STOCKADE_ENCRYPT ? Bytes(v.tag.size()) : v.tag;
    expect_outcome(call({key, direction, v.padded, v.iv, v.aad, in, tag, engine}), v.result, expected);
    EXPECT_EQ(tag, v.tag);
  };
  check("in one call", run_one_call);
  if (named_engine.name == "serial") {
    check("byte by byte", [](const Request& r) { return run_stream(r, 1); });
    check("in pieces of 17", [](const Request& r) { return run_stream(r, 17); });
  }
  check("in one piece", [](const Request& r) { return run_stream(r, uint64_t{1} << 40); });
  if (!v.padded) check("among many", run_among_many);
}

// AESAVS 6.4.2 to 6.4.4: each input block is the output before the last, the first of them the IV. `crypt` takes a
// direction, a chain value and a block.
template <typename Crypt>
Bytes monte_carlo(const Vector& v, const Crypt& crypt) {
  const bool encrypting = v.procedure == Procedure::monte_carlo_encrypt;
  Bytes chain = v.iv, in = encrypting ? v.plaintext : v.ciphertext, out(16), previous = v.iv;
  for (int i = 0; i < 1000; ++i) {
    out = crypt(encrypting ? STOCKADE_ENCRYPT : STOCKADE_DECRYPT, chain, in);
    if (v.mode == STOCKADE_OFB) {
      xor_bytes(chain.data(), in.data(), out.data(), 16);
    } else {
      chain = encrypting ? out : in;
    }
    in = std::exchange(previous, out);
  }
  return out;
}

const Bytes& monte_carlo_result(const Vector& v) {
  return v.procedure == Procedure::monte_carlo_encrypt ? v.ciphertext : v.plaintext;
}

// IEEE 1619 §5.3 for whole blocks, composed from ECB: the oracle for a vector whose key must be refused.
Bytes xts_from_ecb(const Vector& v, const Row& row) {
  const Bytes data_key(v.key.begin(), v.key.begin() + static_cast<long>(v.key.size() / 2));
  const Bytes tweak_key(v.key.begin() + static_cast<long>(v.key.size() / 2), v.key.end());
  const Key data = make_key(STOCKADE_ECB, data_key, row);
  const Key tweak = make_key(STOCKADE_ECB, tweak_key, row);
  Bytes t(16), out(v.plaintext.size());
  EXPECT_EQ(run(STOCKADE_ENCRYPT, tweak.get(), {}, v.iv.data(), 16, t.data(), nullptr), STOCKADE_OK);
  for (size_t i = 0; i < out.size(); i += 16) {
    Bytes block(16);
    xor_bytes(block.data(), v.plaintext.data() + i, t.data(), 16);
    EXPECT_EQ(run(STOCKADE_ENCRYPT, data.get(), {}, block.data(), 16, block.data(), nullptr), STOCKADE_OK);
    xor_bytes(out.data() + i, block.data(), t.data(), 16);
    const int carry = t[15] >> 7;
    for (int j = 15; j > 0; --j) t[j] = static_cast<uint8_t>(t[j] << 1 | t[j - 1] >> 7);
    t[0] = static_cast<uint8_t>(t[0] << 1 ^ (carry ? 0x87 : 0));
  }
  return out;
}

void check_vector(const Vector& v, const Row& row, const NamedEngine& engine) {
  if (v.result == STOCKADE_ERROR_WEAK_KEY) {
    stockade_key* key = nullptr;
    EXPECT_EQ(stockade_key_create(&key, v.mode, v.key.data(), v.key.size(), row.force().c_str()), v.result);
    EXPECT_EQ(xts_from_ecb(v, row), v.ciphertext);
    return;
  }
  const Key key = make_key(v.mode, v.key, row);
  if (v.procedure == Procedure::direct) {
    if (v.result == STOCKADE_OK) check_direction(v, key.get(), STOCKADE_ENCRYPT, engine);
    check_direction(v, key.get(), STOCKADE_DECRYPT, engine);
  } else if (engine.name == "serial") {
    const auto crypt = [&](stockade_direction direction, const Bytes& iv, const Bytes& in) {
      Bytes out(in.size());
      EXPECT_EQ(run(direction, key.get(), iv, in.data(), in.size(), out.data(), engine.engine), STOCKADE_OK);
      return out;
    };
    EXPECT_EQ(monte_carlo(v, crypt), monte_carlo_result(v));
  }
}

class Vectors : public testing::TestWithParam<Expected> {};

TEST_P(Vectors, hold_on_every_row_and_engine) {
  size_t checked = 0;
  // One engine after the other, for a team of threads that changes its size is set up anew.
  for (const NamedEngine& engine : {all_engines()[0], all_engines()[1], all_engines()[2]}) {
    for (const Vector& vector : vectors_of(GetParam().file)) {
      for (const Row& row : rows_for(vector.mode)) {
        std::ostringstream name;
        name << where(GetParam().file, vector) << " on " << row << ", " << engine.name;
        SCOPED_TRACE(name.str());
        check_vector(vector, row, engine);
        ++checked;
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GE(checked, 3 * GetParam().vectors);
}

// The numbers themselves: a vector that was copied wrongly fails here too, so a failure above is the library's.
TEST_P(Vectors, hold_in_openssl) {
  for (const Vector& v : vectors_of(GetParam().file)) {
    SCOPED_TRACE(where(GetParam().file, v));
    if (v.procedure != Procedure::direct) {
      EXPECT_EQ(monte_carlo(v, [&](stockade_direction direction, const Bytes& iv,
                                   const Bytes& in) { return oracle_crypt(v.mode, direction, v.key, iv, in); }),
                monte_carlo_result(v));
    } else if (v.result == STOCKADE_ERROR_WEAK_KEY) {
      EXPECT_EQ(oracle_crypt(v.mode, STOCKADE_DECRYPT, v.key, v.iv, v.ciphertext), v.plaintext);
    } else if (v.mode == STOCKADE_GCM) {
      EXPECT_EQ(oracle_open(v.key, v.iv, v.aad, v.ciphertext, v.tag),
                v.result == STOCKADE_OK ? std::optional(v.plaintext) : std::nullopt);
    } else if (v.padded) {
      EXPECT_EQ(oracle_padded(v.mode, STOCKADE_DECRYPT, v.key, v.iv, v.ciphertext),
                v.result == STOCKADE_OK ? std::optional(v.plaintext) : std::nullopt);
    } else {
      EXPECT_EQ(oracle_crypt(v.mode, STOCKADE_ENCRYPT, v.key, v.iv, v.plaintext), v.ciphertext);
      EXPECT_EQ(oracle_crypt(v.mode, STOCKADE_DECRYPT, v.key, v.iv, v.ciphertext), v.plaintext);
    }
  }
}

std::string file_label(const testing::TestParamInfo<Expected>& info) {
  return std::filesystem::path(info.param.file).stem().string();
}
INSTANTIATE_TEST_SUITE_P(All, Vectors, testing::ValuesIn(vector_files), file_label);

// The rows on AES instructions keep their round keys in the standard's order (aes/aes_kernels.h), so they can be looked
// at.
TEST(KeyExpansion, gives_the_round_keys_of_fips_197) {
  size_t checked = 0;
  for (const aes::Variant& variant : aes::variants()) {
    if ((variant.needs & cpu::aesni) == 0 || (variant.needs & ~cpu::usable()) != 0) continue;
    for (const Vector& v : vectors_of(key_expansion_file.file)) {
      SCOPED_TRACE(v.name + " on " + variant.name);
      aes::Schedule schedule = {};
      variant.kernels->expand(v.key.data(), static_cast<uint32_t>(v.key.size()), schedule);
      ASSERT_EQ(schedule.rounds, v.key.size() / 4 + 6);
      EXPECT_EQ(Bytes(schedule.bytes, schedule.bytes + 16), v.first_round_key);
      const uint8_t* last = schedule.bytes + 16 * schedule.rounds;
      EXPECT_EQ(Bytes(last, last + 16), v.last_round_key);
      ++checked;
    }
  }
  if (checked == 0) GTEST_SKIP() << "this processor has no AES instructions";
}

}  // namespace
}  // namespace stockade::tests
