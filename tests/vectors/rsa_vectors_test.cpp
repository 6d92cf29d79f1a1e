// Published vectors of RSA on every row of bignum: through the C interface where it can be, and through the paddings and
// powers below it where a seed or a salt must be a given one, or a key is too short for the interface.
#include <gtest/gtest.h>
#include <openssl/bn.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "bignum/bignum_variants.h"
#include "bignum/integer.h"
#include "bignum/modexp.h"
#include "cpu/features.h"
#include "rsa/key.h"
#include "rsa/operation.h"
#include "rsa/padding.h"
#include "rsa/rsa_test.h"
#include "stockade/stockade.h"

namespace stockade::tests {
namespace {

using rsa::Buffer;

struct Expected {
  const char* file;
  size_t records;
};
constexpr Expected verification_files[] = {{"cavp_rsa_sigver15.txt", 180}, {"cavp_rsa_sigverpss.txt", 180}};
constexpr Expected generation_files[] = {{"cavp_rsa_siggen15.txt", 50}, {"cavp_rsa_siggenpss.txt", 50}};
constexpr Expected oaep_file = {"rsalabs_oaep.txt", 60}, pss_file = {"rsalabs_pss.txt", 60};

// ---- the files ----

struct Record {
  std::string where;
  std::map<std::string, std::string> fields;
  bool has(const std::string& name) const { return fields.contains(name); }
  const std::string& text(const std::string& name) const {
    const auto found = fields.find(name);
    if (found == fields.end()) throw std::runtime_error(where + ": no " + name);
    return found->second;
  }
  Buffer bytes(const std::string& name) const {
    const std::string& hex = text(name);
    Buffer out(hex.size() / 2);
    for (size_t i = 0; i < out.size(); ++i) {
      size_t used = 0;
      out[i] = static_cast<uint8_t>(std::stoul(hex.substr(2 * i, 2), &used, 16));
      if (used != 2) throw std::runtime_error(where + ": " + name + " is not hexadecimal");
    }
    if (hex.size() % 2 != 0) throw std::runtime_error(where + ": an odd number of digits in " + name);
    return out;
  }
};

const std::vector<Record>& records_of(const Expected& expected) {
  static std::map<std::string, std::vector<Record>> loaded;
  std::vector<Record>& records = loaded[expected.file];
  if (!records.empty()) return records;
  std::ifstream stream(std::filesystem::path(STOCKADE_VECTOR_DIR) / expected.file);
  std::string line;
  bool begins = true, has_source = false;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (line.starts_with("#")) continue;
    if (line.empty()) {
      begins = true;
      continue;
    }
    const size_t equals = line.find(" =");
    if (equals == std::string::npos) throw std::runtime_error(std::string(expected.file) + ": no 'field = value'");
    const std::string name = line.substr(0, equals), value = line.substr(std::min(equals + 3, line.size()));
    if (name == "source") {
      has_source = true;
      continue;
    }
    if (begins) records.push_back({std::string(expected.file) + ":" + std::to_string(number), {}});
    begins = false;
    if (!records.back().fields.emplace(name, value).second) throw std::runtime_error("given twice: " + name);
  }
  if (!has_source || records.size() != expected.records) {
    throw std::runtime_error(std::string(expected.file) + ": " + std::to_string(records.size()) + " records");
  }
  return records;
}

// ---- what the library takes ----

libcrypto::Hash hash_of(const Record& record) {
  libcrypto::Hash hash;
  if (libcrypto::find_hash(record.text("hash"), hash) != STOCKADE_OK) throw std::runtime_error(record.where + ": hash");
  return hash;
}

Buffer digest_of(const Record& record) {
  const Buffer message = record.bytes("message");
  Buffer digest(libcrypto::digest_bytes(hash_of(record)));
  const Bytes parts[] = {message};
  EXPECT_EQ(libcrypto::hash_parts(hash_of(record), parts, digest.data()), STOCKADE_OK);
  return digest;
}

void append_der(Buffer& out, uint8_t tag, const Buffer& content) {
  out.push_back(tag);
  const size_t length = content.size();
  if (length >= 256) {
    out.insert(out.end(), {0x82, static_cast<uint8_t>(length >> 8)});
  } else if (length >= 128) {
    out.push_back(0x81);
  }
  out.push_back(static_cast<uint8_t>(length));
  out.insert(out.end(), content.begin(), content.end());
}

// PKCS#1 (RFC 8017 A.1): a sequence of integers.
Buffer der_of(const std::vector<Buffer>& numbers) {
  Buffer content, out;
  for (const Buffer& number : numbers) {
    Buffer value(std::find_if(number.begin(), number.end(), [](uint8_t byte) { return byte != 0; }), number.end());
    if (value.empty() || value[0] >= 0x80) value.insert(value.begin(), 0);
    append_der(content, 2, value);
  }
  append_der(out, 0x30, content);
  return out;
}

struct KeyDeleter {
  void operator()(stockade_rsa_key* key) const { stockade_rsa_key_free(key); }
};
using RsaKey = std::unique_ptr<stockade_rsa_key, KeyDeleter>;

RsaKey read_key(const Buffer& der, bool is_private, const bignum::Variant& row, int legacy, stockade_status& status) {
  const std::string force = std::string("bignum:") + row.name;
  stockade_rsa_reading reading = {};
  reading.struct_size = sizeof reading;
  reading.legacy = legacy;
  reading.force = force.c_str();
  stockade_rsa_key* key = nullptr;
  status = (is_private ? stockade_rsa_key_read_private : stockade_rsa_key_read_public)(&key, der.data(), der.size(),
                                                                                       &reading);
  return RsaKey(key);
}

stockade_rsa_options options_of(const Record& record) {
  stockade_rsa_options options = {};
  options.struct_size = sizeof options;
  options.hash = record.text("hash").c_str();
  if (record.text("scheme") == "pkcs1") options.padding = STOCKADE_RSA_PKCS1V15;
  if (record.text("scheme") == "pss") {
    options.salt = STOCKADE_RSA_SALT_GIVEN;
    options.salt_length = record.text("salt").size() / 2;
  }
  return options;
}

std::vector<const bignum::Variant*> rows() {
  std::vector<const bignum::Variant*> found;
  for (const bignum::Variant& row : bignum::variants()) {
    if (row.automatic && (row.needs & ~cpu::usable()) == 0) found.push_back(&row);
  }
  return found;
}

stockade_status verify(const Record& record, const bignum::Variant& row) {
  stockade_status status;
  const RsaKey key = read_key(der_of({record.bytes("n"), record.bytes("e")}), false, row, 1, status);
  if (status != STOCKADE_OK) return status;
  const stockade_rsa_options options = options_of(record);
  const Buffer message = record.bytes("message"), signature = record.bytes("signature");
  return stockade_rsa_verify(key.get(), &options, message.data(), message.size(), signature.data(), signature.size(),
                             nullptr);
}

// p and q of n, for documents that give e and d alone (SP 800-56B appendix C).
rsa::Numbers factored(const Record& record) {
  const auto n = rsa::number(record.bytes("n")), e = rsa::number(record.bytes("e")), d = rsa::number(record.bytes("d"));
  const std::unique_ptr<BN_CTX, decltype(&BN_CTX_free)> context(BN_CTX_new(), BN_CTX_free);
  const auto made = [] { return std::shared_ptr<BIGNUM>(BN_new(), BN_free); };
  const auto k = made(), g = made(), y = made(), p = made(), q = made(), less = made();
  BN_mul(k.get(), d.get(), e.get(), context.get());
  BN_sub_word(k.get(), 1);
  for (BN_ULONG base = 2; base < 200; ++base) {
    BN_copy(y.get(), k.get());
    while (!BN_is_odd(y.get())) {
      BN_rshift1(y.get(), y.get());
      BN_set_word(g.get(), base);
      BN_mod_exp(less.get(), g.get(), y.get(), n.get(), context.get());
      BN_sub_word(less.get(), 1);
      BN_gcd(p.get(), less.get(), n.get(), context.get());
      if (BN_is_one(p.get()) || BN_cmp(p.get(), n.get()) == 0) continue;
      BN_div(q.get(), nullptr, n.get(), p.get(), context.get());
      return rsa::numbers_from(p.get(), q.get(), rsa::bytes_of(e.get()));
    }
  }
  throw std::runtime_error(record.where + ": no factors");
}

Buffer private_der(const rsa::Numbers& numbers) {
  return der_of({{0}, numbers.n, numbers.e, numbers.d, numbers.p, numbers.q, numbers.dp, numbers.dq, numbers.qinv});
}

rsa::Numbers numbers_of(const Record& record) {
  return {record.bytes("n"), record.bytes("e"),  record.bytes("d"),  record.bytes("p"),
          record.bytes("q"), record.bytes("dp"), record.bytes("dq"), record.bytes("qinv")};
}

// The document's seed or salt as a source that gives it once.
class GivenBytes final : public stockade::RandomSource {
 public:
  explicit GivenBytes(Buffer bytes) : bytes_(std::move(bytes)) {}
  Status fill(uint8_t* out, uint64_t length) override {
    if (length != bytes_.size()) return STOCKADE_ERROR_RANDOM;
    std::copy(bytes_.begin(), bytes_.end(), out);
    bytes_.clear();
    return STOCKADE_OK;
  }

 private:
  Buffer bytes_;
};

// in^exponent mod n by a row's kernel, whatever the length of n.
Buffer power(const bignum::Variant& row, const Buffer& in, const Buffer& exponent, const Buffer& n) {
  const auto limbs = static_cast<uint32_t>((n.size() + 7) / 8);
  std::vector<bignum::Limb> base(limbs), power_of(limbs), modulus_number(limbs);
  const auto read = [&](const Buffer& bytes, std::vector<bignum::Limb>& number) {
    EXPECT_NE(bignum::from_bytes(bytes.data(), bytes.size(), number.data(), limbs), 0U);
  };
  read(in, base);
  read(exponent, power_of);
  read(n, modulus_number);
  bignum::Modulus modulus;
  EXPECT_EQ(bignum::Modulus::make(modulus_number.data(), limbs, modulus), STOCKADE_OK);
  const bignum::Power task = {&modulus.constants(), base.data(), power_of.data(), limbs * 64, base.data()};
  EXPECT_EQ(row.kernels->modexp(&task, 1), STOCKADE_OK);
  Buffer out(n.size());
  EXPECT_NE(bignum::to_bytes(base.data(), limbs, out.data(), out.size()), 0U);
  return out;
}

uint32_t bits_of(const Buffer& n) { return static_cast<uint32_t>(BN_num_bits(rsa::number(n).get())); }

Buffer encoded_for_pss(const Record& record, const Buffer& n) {
  const Buffer salt = record.bytes("salt");
  const rsa::Pss pss = {hash_of(record), hash_of(record), {rsa::SaltLength::Kind::given, salt.size()}};
  GivenBytes source(salt);
  Buffer encoded(n.size());
  EXPECT_EQ(rsa::pss_encode(pss, digest_of(record), bits_of(n), source, encoded), STOCKADE_OK);
  return encoded;
}

// ---- tests ----

TEST(RsaVectorFiles, are_all_listed) {
  std::set<std::string> listed = {oaep_file.file, pss_file.file}, found;
  for (const Expected& file : verification_files) listed.insert(file.file);
  for (const Expected& file : generation_files) listed.insert(file.file);
  for (const auto& entry : std::filesystem::directory_iterator(STOCKADE_VECTOR_DIR)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".txt") && name.find("rsa") != std::string::npos) found.insert(name);
  }
  EXPECT_EQ(found, listed);
}

TEST(RsaVectors, are_verified_or_refused_as_nist_says) {
  for (const bignum::Variant* row : rows()) {
    for (const Expected& file : verification_files) {
      size_t right = 0;
      std::map<std::string, size_t> by_hash;
      for (const Record& record : records_of(file)) {
        SCOPED_TRACE(record.where + " on " + row->name);
        const stockade_status status = verify(record, *row);
        const bool ok = record.text("result") == "ok";
        right += ok;
        ++by_hash[record.text("hash")];
        if (ok) {
          EXPECT_EQ(status, STOCKADE_OK) << stockade_status_name(status);
        } else {
          EXPECT_EQ(record.text("result"), "signature");
          EXPECT_TRUE(status == STOCKADE_ERROR_SIGNATURE || status == STOCKADE_ERROR_RSA_RANGE)
              << stockade_status_name(status);
        }
      }
      EXPECT_EQ(right, file.records / 6);
      const std::map<std::string, size_t> every_hash = {
          {"sha1", 36}, {"sha224", 36}, {"sha256", 36}, {"sha384", 36}, {"sha512", 36}};
      EXPECT_EQ(by_hash, every_hash);
    }
  }
}

TEST(RsaVectors, are_signed_as_nist_says) {
  for (const bignum::Variant* row : rows()) {
    for (const Expected& file : generation_files) {
      std::map<std::string, rsa::Numbers> keys;
      for (const Record& record : records_of(file)) {
        SCOPED_TRACE(record.where + " on " + row->name);
        const auto [entry, fresh] = keys.try_emplace(record.text("n"));
        if (fresh) entry->second = factored(record);
        stockade_status status;
        const RsaKey key = read_key(private_der(entry->second), true, *row, 0, status);
        ASSERT_EQ(status, STOCKADE_OK) << stockade_status_name(status);
        Buffer signature(stockade_rsa_key_bytes(key.get()));
        if (record.text("scheme") == "pkcs1") {
          const stockade_rsa_options options = options_of(record);
          const Buffer message = record.bytes("message");
          uint64_t length = 0;
          EXPECT_EQ(stockade_rsa_sign(key.get(), &options, message.data(), message.size(), signature.data(),
                                      signature.size(), &length, nullptr),
                    STOCKADE_OK);
          EXPECT_EQ(length, signature.size());
        } else {
          const Buffer encoded = encoded_for_pss(record, record.bytes("n"));
          EXPECT_EQ(stockade_rsa_raw_private(key.get(), encoded.data(), encoded.size(), signature.data(),
                                             signature.size(), nullptr),
                    STOCKADE_OK);
        }
        EXPECT_EQ(signature, record.bytes("signature"));
        EXPECT_EQ(verify(record, *row), STOCKADE_OK);
      }
      EXPECT_EQ(keys.size(), 2U);
    }
  }
}

TEST(RsaVectors, of_rsa_laboratories_for_pss) {
  for (const bignum::Variant* row : rows()) {
    size_t whole_keys = 0;
    for (const Record& record : records_of(pss_file)) {
      SCOPED_TRACE(record.where + " on " + row->name);
      const Buffer n = record.bytes("n"), encoded = encoded_for_pss(record, n);
      EXPECT_EQ(power(*row, encoded, record.bytes("d"), n), record.bytes("signature"));
      EXPECT_EQ(verify(record, *row), STOCKADE_OK);
      stockade_status status;
      const RsaKey key = read_key(private_der(numbers_of(record)), true, *row, 0, status);
      EXPECT_EQ(status, bits_of(n) < 2048 ? STOCKADE_ERROR_RSA_SIZE : STOCKADE_OK) << stockade_status_name(status);
      if (key == nullptr) continue;
      Buffer signature(n.size());
      EXPECT_EQ(stockade_rsa_raw_private(key.get(), encoded.data(), encoded.size(), signature.data(), signature.size(),
                                         nullptr),
                STOCKADE_OK);
      EXPECT_EQ(signature, record.bytes("signature"));
      ++whole_keys;
    }
    EXPECT_EQ(whole_keys, 6U);
  }
}

TEST(RsaVectors, of_rsa_laboratories_for_oaep) {
  for (const bignum::Variant* row : rows()) {
    size_t whole_keys = 0;
    for (const Record& record : records_of(oaep_file)) {
      SCOPED_TRACE(record.where + " on " + row->name);
      const rsa::Oaep oaep = {hash_of(record), hash_of(record), {}};
      const Buffer n = record.bytes("n"), message = record.bytes("message"), ciphertext = record.bytes("ciphertext");
      GivenBytes source(record.bytes("seed"));
      Buffer encoded(n.size());
      EXPECT_EQ(rsa::oaep_encode(oaep, message, source, encoded), STOCKADE_OK);
      EXPECT_EQ(power(*row, encoded, record.bytes("e"), n), ciphertext);

      Buffer opened = power(*row, ciphertext, record.bytes("d"), n), found(n.size());
      EXPECT_EQ(opened, encoded);
      uint64_t length = 0;
      EXPECT_EQ(rsa::oaep_decode(oaep, opened, found, length), STOCKADE_OK);
      found.resize(length);
      EXPECT_EQ(found, message);

      stockade_status status;
      const RsaKey key = read_key(private_der(numbers_of(record)), true, *row, 0, status);
      EXPECT_EQ(status, bits_of(n) < 2048 ? STOCKADE_ERROR_RSA_SIZE : STOCKADE_OK) << stockade_status_name(status);
      if (key == nullptr) continue;
      const stockade_rsa_options options = options_of(record);
      Buffer decrypted(n.size());
      EXPECT_EQ(stockade_rsa_decrypt(key.get(), &options, ciphertext.data(), ciphertext.size(), decrypted.data(),
                                     decrypted.size(), &length, nullptr),
                STOCKADE_OK);
      decrypted.resize(length);
      EXPECT_EQ(decrypted, message);
      ++whole_keys;
    }
    EXPECT_EQ(whole_keys, 6U);
  }
}

}  // namespace
}  // namespace stockade::tests
