#include "rsa/key_files.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bignum/integer.h"
#include "cross/random_source.h"
#include "rsa/rsa_test.h"

namespace stockade::rsa {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view right_passphrase = "correct horse";

Buffer buffer_of(std::string_view text) { return {text.begin(), text.end()}; }

AskPassphrase answer(std::string_view text) {
  return [text](SecretBuffer& passphrase) {
    if (!passphrase.allocate(text.size())) return STOCKADE_ERROR_MEMORY;
    std::copy(text.begin(), text.end(), passphrase.data());
    return STOCKADE_OK;
  };
}

// What `write` puts into a BIO.
template <typename Write>
Buffer written(Write write) {
  const std::shared_ptr<BIO> out(BIO_new(BIO_s_mem()), BIO_free);
  EXPECT_EQ(write(out.get()), 1);
  char* data = nullptr;
  const long length = BIO_get_mem_data(out.get(), &data);
  return {data, data + length};
}

Buffer pem_of(const char* label, const Buffer& der) {
  return written(
      [&](BIO* out) { return PEM_write_bio(out, label, "", der.data(), static_cast<long>(der.size())) > 0 ? 1 : 0; });
}

template <typename T>
Buffer der_of(int (*encode)(const T*, unsigned char**), const T* object) {
  Buffer der(static_cast<size_t>(encode(object, nullptr)));
  unsigned char* at = der.data();
  EXPECT_EQ(encode(object, &at), static_cast<int>(der.size()));
  return der;
}

Buffer encrypted_pkcs8(const EVP_PKEY* key, const EVP_CIPHER* cipher, int nid) {
  return written([&](BIO* out) {
    const char* const text = right_passphrase.data();
    const auto length = static_cast<int>(right_passphrase.size());
    return cipher != nullptr ? PEM_write_bio_PKCS8PrivateKey(out, key, cipher, text, length, nullptr, nullptr)
                             : PEM_write_bio_PKCS8PrivateKey_nid(out, key, nid, text, length, nullptr, nullptr);
  });
}

Buffer traditional(EVP_PKEY* key, const EVP_CIPHER* cipher) {
  return written([&](BIO* out) {
    const auto* const text = reinterpret_cast<const unsigned char*>(right_passphrase.data());
    return PEM_write_bio_PrivateKey_traditional(out, key, cipher, text, static_cast<int>(right_passphrase.size()),
                                                nullptr, nullptr);
  });
}

Buffer certificate_der(EVP_PKEY* key) {
  const std::shared_ptr<X509> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 17);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  const EVP_MD* const digest = EVP_PKEY_is_a(key, "ED25519") == 1 ? nullptr : EVP_sha256();
  EXPECT_GT(X509_sign(certificate.get(), key, digest), 0);
  return der_of<X509>(i2d_X509, certificate.get());
}

void append_string(Buffer& blob, const Buffer& string) {
  uint8_t length[4];
  store_be32(length, static_cast<uint32_t>(string.size()));
  blob.insert(blob.end(), length, length + 4);
  blob.insert(blob.end(), string.begin(), string.end());
}

Buffer mpint(Buffer number) {
  if ((number[0] & 0x80) != 0) number.insert(number.begin(), 0);
  return number;
}

Buffer base64(const Buffer& bytes) {
  Buffer text(bytes.size() / 3 * 4 + 5);
  text.resize(static_cast<size_t>(EVP_EncodeBlock(text.data(), bytes.data(), static_cast<int>(bytes.size()))));
  return text;
}

Buffer ssh_blob(const Numbers& numbers) {
  Buffer blob;
  append_string(blob, buffer_of("ssh-rsa"));
  append_string(blob, mpint(numbers.e));
  append_string(blob, mpint(numbers.n));
  return blob;
}

Buffer ssh_line(const Buffer& blob, std::string_view type = "ssh-rsa", std::string_view comment = " me@here\n") {
  Buffer line = buffer_of(type);
  line.push_back(' ');
  const Buffer text = base64(blob);
  line.insert(line.end(), text.begin(), text.end());
  line.insert(line.end(), comment.begin(), comment.end());
  return line;
}

struct File {
  const char* name;
  Buffer bytes;
  bool encrypted = false;
  size_t dispensable = 2;  // bytes at the end of what is not DER: the end of the last line and more
};

std::vector<File> private_files(const OracleKey& key) {
  EVP_PKEY* const pkey = key.pkey.get();
  return {
      {"PKCS#1 PEM", written([&](BIO* out) {
         return PEM_write_bio_PrivateKey_traditional(out, pkey, nullptr, nullptr, 0, nullptr, nullptr);
       })},
      {"PKCS#1 DER", der_of<EVP_PKEY>(i2d_PrivateKey, pkey)},
      {"PKCS#8 PEM", written([&](BIO* out) {
         return PEM_write_bio_PKCS8PrivateKey(out, pkey, nullptr, nullptr, 0, nullptr, nullptr);
       })},
      {"PKCS#8 DER",
       written([&](BIO* out) { return i2d_PKCS8PrivateKey_bio(out, pkey, nullptr, nullptr, 0, nullptr, nullptr); })},
      {"PKCS#8 AES-256", encrypted_pkcs8(pkey, EVP_aes_256_cbc(), 0), true},
      {"PKCS#8 AES-128", encrypted_pkcs8(pkey, EVP_aes_128_cbc(), 0), true},
      {"PKCS#8 DES-EDE3", encrypted_pkcs8(pkey, nullptr, NID_pbe_WithSHA1And3_Key_TripleDES_CBC), true},
      {"PKCS#8 DER AES-256", written([&](BIO* out) {
         return i2d_PKCS8PrivateKey_bio(out, pkey, EVP_aes_256_cbc(), right_passphrase.data(),
                                        static_cast<int>(right_passphrase.size()), nullptr, nullptr);
       }),
       true},
      {"PKCS#1 AES-256", traditional(pkey, EVP_aes_256_cbc()), true},
      {"PKCS#1 DES-EDE3", traditional(pkey, EVP_des_ede3_cbc()), true},
  };
}

std::vector<File> public_files(const OracleKey& key) {
  EVP_PKEY* const pkey = key.pkey.get();
  const Buffer info = der_of<EVP_PKEY>(i2d_PUBKEY, pkey), pkcs1 = der_of<EVP_PKEY>(i2d_PublicKey, pkey);
  const Buffer certificate = certificate_der(pkey);
  Buffer chain = pem_of("CERTIFICATE", certificate);
  chain.insert(chain.end(), chain.begin(), chain.end());
  Buffer introduced = buffer_of("subject=me\nissuer=me\n");
  introduced.insert(introduced.end(), chain.begin(), chain.end());
  Buffer lines = pem_of("PUBLIC KEY", info), carriage;
  for (const uint8_t byte : lines) {
    if (byte == '\n') carriage.push_back('\r');
    carriage.push_back(byte);
  }
  return {
      {"SPKI PEM", lines},
      {"SPKI PEM, lines end as on Windows", carriage},
      {"SPKI DER", info},
      {"PKCS#1 PEM", pem_of("RSA PUBLIC KEY", pkcs1)},
      {"PKCS#1 DER", pkcs1},
      {"certificate PEM", pem_of("CERTIFICATE", certificate)},
      {"certificate DER", certificate},
      {"certificates PEM", chain, false, chain.size() / 2 + 1},
      {"certificates PEM behind text", introduced, false, chain.size() / 2 + 1},
      {"ssh-rsa", ssh_line(ssh_blob(key.numbers)), false, sizeof " me@here"},
      {"ssh-rsa, no comment", ssh_line(ssh_blob(key.numbers), "ssh-rsa", "")},
  };
}

// ---- reading ----

struct Result {
  Status status;
  std::string type;
  std::unique_ptr<PrivateKey> key;
};

Result read_private(const Buffer& file, const AskPassphrase& ask = {}) {
  Result result{};
  result.status = read_private_key(file, ask, test_row(), system_random(), result.key, result.type);
  EXPECT_EQ(result.key != nullptr, result.status == STOCKADE_OK);
  EXPECT_EQ(result.type.empty(), result.status != STOCKADE_ERROR_KEY_TYPE);
  return result;
}

Status read_public(const Buffer& file, PublicKey& key, std::string* named = nullptr, uint32_t fewest = least_bits) {
  std::string type;
  const Status status = read_public_key(file, fewest, test_row(), key, type);
  EXPECT_EQ(type.empty(), status != STOCKADE_ERROR_KEY_TYPE);
  if (named != nullptr) *named = type;
  return status;
}

Status public_status(const Buffer& file) {
  PublicKey key;
  return read_public(file, key);
}

bool is(const Limb* limbs, uint32_t count, const Buffer& expected) {
  Buffer bytes(count * sizeof(Limb));
  bignum::to_bytes(limbs, count, bytes.data(), bytes.size());
  return BN_cmp(number(bytes).get(), number(expected).get()) == 0;
}

bool is(const PublicKey& key, const Numbers& numbers) {
  return is(key.modulus().value(), key.limbs(), numbers.n) && is(key.exponent(), most_exponent_limbs, numbers.e);
}

bool is(const PrivateKey& key, const Numbers& numbers) {
  return is(key.public_key(), numbers) && is(key.d(), key.public_key().limbs(), numbers.d) &&
         is(key.p().value(), key.p().limbs(), numbers.p) && is(key.q().value(), key.q().limbs(), numbers.q) &&
         is(key.dp(), key.p().limbs(), numbers.dp) && is(key.dq(), key.q().limbs(), numbers.dq) &&
         is(key.qinv(), key.p().limbs(), numbers.qinv);
}

TEST(RsaKeyFiles, private_ones_are_read_in_every_form) {
  for (const OracleKey& key : {oracle_key(2048), odd_keys()[0], odd_keys()[3]}) {
    for (const File& file : private_files(key)) {
      const Result result = read_private(file.bytes, answer(right_passphrase));
      ASSERT_EQ(result.status, STOCKADE_OK) << file.name;
      EXPECT_TRUE(is(*result.key, key.numbers)) << file.name;
      PublicKey half;
      EXPECT_EQ(read_public(file.bytes, half), file.encrypted ? STOCKADE_ERROR_PASSPHRASE_NEEDED : STOCKADE_OK)
          << file.name;
      if (!file.encrypted) {
        EXPECT_TRUE(is(half, key.numbers)) << file.name;
      }
    }
  }
}

TEST(RsaKeyFiles, public_ones_are_read_in_every_form) {
  for (const OracleKey& key : {oracle_key(2048), odd_keys()[0], odd_keys()[3]}) {
    for (const File& file : public_files(key)) {
      PublicKey half;
      ASSERT_EQ(read_public(file.bytes, half), STOCKADE_OK) << file.name;
      EXPECT_TRUE(is(half, key.numbers)) << file.name;
      EXPECT_EQ(read_private(file.bytes).status, STOCKADE_ERROR_KEY_NOT_PRIVATE) << file.name;
    }
  }
}

TEST(RsaKeyFiles, of_short_keys_are_read_where_that_is_asked_for) {
  const OracleKey& key = oracle_key(1024);
  for (const File& file : public_files(key)) {
    PublicKey half;
    EXPECT_EQ(read_public(file.bytes, half), STOCKADE_ERROR_RSA_SIZE);
    EXPECT_EQ(read_public(file.bytes, half, nullptr, legacy_least_bits), STOCKADE_OK);
  }
  for (const File& file : private_files(key)) {
    EXPECT_EQ(read_private(file.bytes, answer(right_passphrase)).status, STOCKADE_ERROR_RSA_SIZE) << file.name;
  }
}

TEST(RsaKeyFiles, tell_a_wrong_passphrase_from_none) {
  for (const File& file : private_files(oracle_key(2048))) {
    if (!file.encrypted) {
      const AskPassphrase never = [](SecretBuffer&) {
        ADD_FAILURE() << "asked for nothing";
        return STOCKADE_OK;
      };
      EXPECT_EQ(read_private(file.bytes, never).status, STOCKADE_OK);
      continue;
    }
    EXPECT_EQ(read_private(file.bytes).status, STOCKADE_ERROR_PASSPHRASE_NEEDED) << file.name;
    // One in 256 of them has a padding that is right.
    for (uint64_t i = tests::scaled(600); i > 0; --i) {
      const std::string wrong = "wrong " + std::to_string(i);
      ASSERT_EQ(read_private(file.bytes, answer(wrong)).status, STOCKADE_ERROR_PASSPHRASE) << file.name;
    }
    EXPECT_EQ(read_private(file.bytes, answer("")).status, STOCKADE_ERROR_PASSPHRASE) << file.name;
    const AskPassphrase cancelled = [](SecretBuffer&) { return STOCKADE_ERROR_CANCELLED; };
    EXPECT_EQ(read_private(file.bytes, cancelled).status, STOCKADE_ERROR_CANCELLED);
  }
}

// DER says how long it is, so it is known whether an end is missing or something is behind it.
TEST(RsaKeyFiles, must_have_the_length_that_they_say) {
  const auto check = [](const File& file, auto status_of) {
    const bool der = file.bytes[0] == 0x30;
    for (size_t length = 0; length < file.bytes.size(); length += der || length < 40 ? 1 : 7) {
      const Buffer cut(file.bytes.begin(), file.bytes.begin() + static_cast<int64_t>(length));
      const Status status = status_of(cut);
      if (der) {
        ASSERT_EQ(status, STOCKADE_ERROR_TRUNCATED) << file.name << ", " << length << " bytes";
      } else {
        const size_t missing = file.bytes.size() - length;
        ASSERT_TRUE(status != STOCKADE_OK || missing <= file.dispensable)
            << file.name << ", " << length << " of " << file.bytes.size() << " bytes";
      }
    }
    if (!der) return;
    for (const std::string_view more : {"\0"sv, "x"sv, "0\x82"sv}) {
      Buffer longer = file.bytes;
      longer.insert(longer.end(), more.begin(), more.end());
      ASSERT_EQ(status_of(longer), STOCKADE_ERROR_TRAILING_DATA) << file.name;
    }
  };
  for (const File& file : private_files(oracle_key(2048))) {
    check(file, [](const Buffer& bytes) { return read_private(bytes, answer(right_passphrase)).status; });
  }
  for (const File& file : public_files(oracle_key(2048))) {
    check(file, [](const Buffer& bytes) { return public_status(bytes); });
  }
}

TEST(RsaKeyFiles, in_pem_end_where_they_end) {
  const Buffer info = der_of<EVP_PKEY>(i2d_PUBKEY, oracle_key(2048).pkey.get()), pem = pem_of("PUBLIC KEY", info);
  const auto status_of = [](const Buffer& file, std::string_view more) {
    Buffer longer = file;
    longer.insert(longer.end(), more.begin(), more.end());
    return public_status(longer);
  };
  EXPECT_EQ(status_of(pem, ""), STOCKADE_OK);
  EXPECT_EQ(status_of(pem, " \r\n\t\n"), STOCKADE_OK);
  EXPECT_EQ(status_of(pem, "x"), STOCKADE_ERROR_TRAILING_DATA);
  EXPECT_EQ(status_of(pem, "-----BEGIN CERTIFICATE-----\n"), STOCKADE_ERROR_TRAILING_DATA);
  const Buffer half(pem.begin(), pem.begin() + static_cast<int64_t>(pem.size() / 2));
  EXPECT_EQ(status_of(half, ""), STOCKADE_ERROR_TRUNCATED);
  EXPECT_EQ(status_of(buffer_of("-----BEGIN PUB"), ""), STOCKADE_ERROR_TRUNCATED);
  EXPECT_EQ(status_of(buffer_of("-----BEGIN PUB\n"), ""), STOCKADE_ERROR_KEY_FILE);
  EXPECT_EQ(status_of(half, "!\n-----END PUBLIC KEY-----\n"), STOCKADE_ERROR_KEY_FILE);
  EXPECT_EQ(public_status(pem_of("SECRET KEY", info)), STOCKADE_ERROR_KEY_FILE);
  EXPECT_EQ(public_status(pem_of("RSA PUBLIC KEY", info)), STOCKADE_ERROR_KEY_FILE);
  EXPECT_EQ(public_status(pem_of("CERTIFICATE", info)), STOCKADE_ERROR_KEY_FILE);
  // DER that is cut short, or goes on, within lines that are whole.
  Buffer der = info;
  der.push_back(0);
  EXPECT_EQ(public_status(pem_of("PUBLIC KEY", der)), STOCKADE_ERROR_TRAILING_DATA);
  der.resize(info.size() - 1);
  EXPECT_EQ(public_status(pem_of("PUBLIC KEY", der)), STOCKADE_ERROR_KEY_FILE);
}

TEST(RsaKeyFiles, of_ssh_are_one_line) {
  const Numbers& numbers = oracle_key(2048).numbers;
  const Buffer blob = ssh_blob(numbers);
  EXPECT_EQ(public_status(ssh_line(blob, "ssh-rsa", " a comment of words\n\n")), STOCKADE_OK);
  EXPECT_EQ(public_status(ssh_line(blob, "ssh-rsa", "\nssh-rsa again")), STOCKADE_ERROR_TRAILING_DATA);
  Buffer other = blob;
  other.push_back(0);
  EXPECT_EQ(public_status(ssh_line(other)), STOCKADE_ERROR_TRAILING_DATA);
  for (size_t length = 1; length < blob.size(); ++length) {
    const Buffer cut(blob.begin(), blob.begin() + static_cast<int64_t>(length));
    ASSERT_EQ(public_status(ssh_line(cut)), STOCKADE_ERROR_TRUNCATED) << length;
  }
  other = blob;
  other[10] ^= 1;
  EXPECT_EQ(public_status(ssh_line(other)), STOCKADE_ERROR_KEY_FILE);
  other.clear();
  append_string(other, buffer_of("ssh-rsa"));
  append_string(other, numbers.e);
  append_string(other, numbers.n);  // its highest bit is a sign
  EXPECT_EQ(public_status(ssh_line(other)), STOCKADE_ERROR_KEY_FILE);
  Buffer line = ssh_line(blob);
  line[20] = '!';
  EXPECT_EQ(public_status(line), STOCKADE_ERROR_KEY_FILE);
  line.resize(50);
  EXPECT_EQ(public_status(line), STOCKADE_ERROR_TRUNCATED);
  for (const char* padding : {"ssh-rsa ====", "ssh-rsa ========", "ssh-rsa AAAAA==="}) {
    EXPECT_EQ(public_status(buffer_of(padding)), STOCKADE_ERROR_KEY_FILE) << padding;
  }
  EXPECT_EQ(public_status(buffer_of("ssh-rsa")), STOCKADE_ERROR_TRUNCATED);
}

// ---- other keys ----

std::shared_ptr<EVP_PKEY> other_key(const char* type, const char* group = nullptr) {
  const std::shared_ptr<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr), EVP_PKEY_CTX_free);
  EVP_PKEY* key = nullptr;
  EXPECT_EQ(EVP_PKEY_keygen_init(context.get()), 1);
  if (group != nullptr) {
    EXPECT_EQ(EVP_PKEY_CTX_set_group_name(context.get(), group), 1);
  }
  EXPECT_EQ(EVP_PKEY_generate(context.get(), &key), 1) << type;
  return {key, EVP_PKEY_free};
}

TEST(RsaKeyFiles, of_other_types_are_named) {
  const struct {
    std::shared_ptr<EVP_PKEY> key;
    const char* name;
  } keys[] = {{other_key("EC", "P-256"), "EC"},
              {other_key("ED25519"), "ED25519"},
              {other_key("X25519"), "X25519"},
              {other_key("RSA-PSS"), "RSA-PSS"}};
  for (const auto& other : keys) {
    EVP_PKEY* const key = other.key.get();
    const std::string_view name = other.name;
    std::vector<Buffer> files = {
        written(
            [&](BIO* out) { return PEM_write_bio_PKCS8PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr); }),
        encrypted_pkcs8(key, EVP_aes_256_cbc(), 0), der_of<EVP_PKEY>(i2d_PUBKEY, key),
        pem_of("PUBLIC KEY", der_of<EVP_PKEY>(i2d_PUBKEY, key))};
    if (name != "X25519") files.push_back(certificate_der(key));
    if (name == "EC") {
      files.push_back(der_of<EVP_PKEY>(i2d_PrivateKey, key));
      files.push_back(written([&](BIO* out) {
        return PEM_write_bio_PrivateKey_traditional(out, key, nullptr, nullptr, 0, nullptr, nullptr);
      }));
      files.push_back(buffer_of("-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"));
    }
    for (size_t i = 0; i < files.size(); ++i) {
      const Result result = read_private(files[i], answer(right_passphrase));
      EXPECT_EQ(result.status, STOCKADE_ERROR_KEY_TYPE) << name << ", file " << i;
      EXPECT_EQ(result.type, name) << i;
      if (i == 1) continue;
      PublicKey half;
      std::string type;
      EXPECT_EQ(read_public(files[i], half, &type), STOCKADE_ERROR_KEY_TYPE) << name << ", file " << i;
      EXPECT_EQ(type, name) << i;
    }
  }
}

TEST(RsaKeyFiles, of_other_types_of_ssh_are_named) {
  for (const char* type : {"ssh-ed25519", "ssh-dss", "ecdsa-sha2-nistp256", "sk-ssh-ed25519@openssh.com"}) {
    PublicKey half;
    std::string named;
    EXPECT_EQ(read_public(ssh_line({1, 2, 3}, type), half, &named), STOCKADE_ERROR_KEY_TYPE);
    EXPECT_EQ(named, type);
  }
  const Result result = read_private(pem_of("OPENSSH PRIVATE KEY", Buffer(100, 7)));
  EXPECT_EQ(result.status, STOCKADE_ERROR_KEY_TYPE);
  EXPECT_EQ(result.type, "OpenSSH private key");
}

TEST(RsaKeyFiles, under_encryptions_that_are_not_known_are_named) {
  // pbeWithMD5AndDES-CBC, which libcrypto's default provider has not, and the object 1.2.3.4.
  const Buffer old = {0x30, 0x2d, 0x30, 0x1b, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1,  5,  3, 0x30,
                      0x0e, 4,    8,    1,    2, 3, 4,    5,    6,    7,    8,    2,    2,  8,  0, 4,
                      0x0e, 1,    2,    3,    4, 5, 6,    7,    8,    9,    10,   11,   12, 13, 14};
  const Buffer unknown = {0x30, 0x0c, 0x30, 5, 6, 3, 0x2a, 3, 4, 4, 3, 1, 2, 3};
  const std::string_view lines =
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: DES-CBC,0123456789ABCDEF\n\n"
      "AAAAAAAAAAAAAAAAAAAAAA==\n-----END RSA PRIVATE KEY-----\n";
  for (const Buffer& file : {old, unknown, buffer_of(lines)}) {
    const Result result = read_private(file, answer(right_passphrase));
    EXPECT_EQ(result.status, STOCKADE_ERROR_KEY_TYPE);
    EXPECT_EQ(result.type, "key with an unknown encryption");
  }
  std::string other(lines);
  other.replace(other.find("DES-CBC"), 7, "FOO-CBC");
  EXPECT_EQ(read_private(buffer_of(other), answer(right_passphrase)).status, STOCKADE_ERROR_KEY_FILE);
}

TEST(RsaKeyFiles, of_more_than_two_primes_are_refused) {
  const std::shared_ptr<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr), EVP_PKEY_CTX_free);
  EVP_PKEY* key = nullptr;
  ASSERT_EQ(EVP_PKEY_keygen_init(context.get()), 1);
  EVP_PKEY_CTX_set_rsa_keygen_bits(context.get(), 2048);
  EVP_PKEY_CTX_set_rsa_keygen_primes(context.get(), 3);
  ASSERT_EQ(EVP_PKEY_keygen(context.get(), &key), 1);
  const std::shared_ptr<EVP_PKEY> owner(key, EVP_PKEY_free);
  const Result result = read_private(der_of<EVP_PKEY>(i2d_PrivateKey, key));
  EXPECT_EQ(result.status, STOCKADE_ERROR_KEY_TYPE);
  EXPECT_EQ(result.type, "RSA of more than two primes");
}

TEST(RsaKeyFiles, that_are_none_are_refused) {
  EXPECT_EQ(public_status({}), STOCKADE_ERROR_TRUNCATED);
  for (const std::string_view text : {" "sv, "x"sv, "stockade/v1\n"sv, "rsa AAAA"sv, "\x31\x00"sv}) {
    EXPECT_EQ(public_status(buffer_of(text)), STOCKADE_ERROR_KEY_FILE) << text;
  }
  // Sequences of the wrong members, and of lengths that are not as DER has them.
  const std::pair<Buffer, Status> files[] = {{{0x30, 0}, STOCKADE_ERROR_KEY_FILE},
                                             {{0x30, 3, 2, 1, 5}, STOCKADE_ERROR_KEY_FILE},
                                             {{0x30, 6, 2, 1, 0x85, 2, 1, 3}, STOCKADE_ERROR_KEY_FILE},
                                             {{0x30, 6, 2, 1, 0, 0x30, 1, 0}, STOCKADE_ERROR_KEY_FILE},
                                             {{0x30, 4, 0x30, 0, 3, 0}, STOCKADE_ERROR_KEY_FILE},
                                             {{0x30, 6, 0x30, 0, 0x30, 0, 3, 0}, STOCKADE_ERROR_KEY_FILE},
                                             {{0x30, 0x80, 0, 0}, STOCKADE_ERROR_KEY_FILE},
                                             {{0x30, 0x81, 3, 2, 1, 5}, STOCKADE_ERROR_KEY_FILE},
                                             {{0x30, 0x85, 0, 0, 0, 0, 0}, STOCKADE_ERROR_KEY_FILE},
                                             {{0x30, 5, 2, 1, 1, 4, 0}, STOCKADE_ERROR_KEY_TYPE},
                                             {{0x30, 4, 0x30, 0, 4, 0}, STOCKADE_ERROR_PASSPHRASE_NEEDED}};
  for (const auto& [file, status] : files) EXPECT_EQ(public_status(file), status) << testing::PrintToString(file);
}

// Whatever a bit does, nothing worse than a refusal comes of it, and a key that is made has passed its checks.
TEST(RsaKeyFiles, with_changed_bits_do_no_harm) {
  tests::RandomSource random;
  std::vector<File> files = private_files(oracle_key(2048));
  for (File& file : public_files(oracle_key(2048))) files.push_back(std::move(file));
  for (const File& file : files) {
    for (uint64_t i = tests::scaled(60); i > 0; --i) {
      Buffer bytes = file.bytes;
      bytes[random.below(random.one_in(2) ? bytes.size() : std::min<size_t>(bytes.size(), 60))] ^=
          static_cast<uint8_t>(1 << random.below(8));
      std::unique_ptr<PrivateKey> key;
      std::string type;
      if (read_private_key(bytes, answer(right_passphrase), test_row(), system_random(), key, type) == STOCKADE_OK) {
        EXPECT_TRUE(is(*key, oracle_key(2048).numbers));
      }
      public_status(bytes);
    }
  }
}

TEST(RsaKeyFiles, leave_the_error_queue_alone) {
  ERR_clear_error();
  ERR_raise(ERR_LIB_USER, 77);
  const unsigned long mine = ERR_peek_error();
  for (const File& file : private_files(oracle_key(2048))) {
    read_private(file.bytes, answer(right_passphrase));
    read_private(file.bytes, answer("wrong"));
  }
  public_status({0x30, 6, 0x30, 0, 0x30, 0, 3, 0});
  EXPECT_EQ(ERR_get_error(), mine);
  EXPECT_EQ(ERR_get_error(), 0U);
}

// ---- writing ----

Buffer bytes_of(const SecretBuffer& buffer) { return {buffer.data(), buffer.data() + buffer.size()}; }

std::shared_ptr<EVP_PKEY> read_by_oracle(const Buffer& pem, const char* passphrase = nullptr) {
  const std::shared_ptr<BIO> in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, const_cast<char*>(passphrase));
  return {key, EVP_PKEY_free};
}

TEST(RsaKeyFiles, are_written_as_libcrypto_writes_them) {
  std::vector<OracleKey> keys = odd_keys();
  keys.push_back(oracle_key(2048));
  keys.push_back(oracle_key(3072));
  for (const OracleKey& oracle : keys) {
    const std::unique_ptr<PrivateKey> key = make_key(oracle.numbers);
    SecretBuffer pem;
    ASSERT_EQ(write_private_key(*key, pem), STOCKADE_OK);
    EXPECT_EQ(bytes_of(pem), private_files(oracle)[2].bytes);
    std::string text;
    ASSERT_EQ(write_public_key(key->public_key(), text), STOCKADE_OK);
    const Buffer info = der_of<EVP_PKEY>(i2d_PUBKEY, oracle.pkey.get());
    EXPECT_EQ(buffer_of(text), pem_of("PUBLIC KEY", info));
    Buffer der;
    ASSERT_EQ(write_public_key_der(key->public_key(), der), STOCKADE_OK);
    EXPECT_EQ(der, info);
  }
}

TEST(RsaKeyFiles, under_a_passphrase_are_read_by_libcrypto) {
  const OracleKey& oracle = oracle_key(2048);
  const std::unique_ptr<PrivateKey> key = make_key(oracle.numbers);
  SecretBuffer pem, again;
  const std::string passphrase(right_passphrase);
  const Buffer bytes = buffer_of(passphrase);
  ASSERT_EQ(write_private_key(*key, bytes, system_random(), pem), STOCKADE_OK);
  const std::shared_ptr<EVP_PKEY> read = read_by_oracle(bytes_of(pem), passphrase.c_str());
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(EVP_PKEY_eq(read.get(), oracle.pkey.get()), 1);
  EXPECT_EQ(
      EVP_PKEY_check(std::shared_ptr<EVP_PKEY_CTX>(EVP_PKEY_CTX_new(read.get(), nullptr), EVP_PKEY_CTX_free).get()), 1);
  EXPECT_EQ(read_by_oracle(bytes_of(pem), "wrong"), nullptr);
  ERR_clear_error();
  const Result result = read_private(bytes_of(pem), answer(right_passphrase));
  ASSERT_EQ(result.status, STOCKADE_OK);
  EXPECT_TRUE(is(*result.key, oracle.numbers));
  // Salt and IV are new each time.
  ASSERT_EQ(write_private_key(*key, bytes, system_random(), again, 1000), STOCKADE_OK);
  EXPECT_NE(bytes_of(pem), bytes_of(again));
  EXPECT_EQ(read_private(bytes_of(again), answer(right_passphrase)).status, STOCKADE_OK);
  EmptySource empty;
  EXPECT_EQ(write_private_key(*key, bytes, empty, again), STOCKADE_ERROR_RANDOM);
}

// Nobody's file keeps its reader busy for hours.
TEST(RsaKeyFiles, with_an_unbearable_number_of_iterations_are_refused) {
  const std::unique_ptr<PrivateKey> key = make_key(oracle_key(2048).numbers);
  const Buffer passphrase = buffer_of(std::string(right_passphrase));
  SecretBuffer pem;
  ASSERT_EQ(write_private_key(*key, passphrase, system_random(), pem, 5'000'001), STOCKADE_OK);
  EXPECT_EQ(read_private(bytes_of(pem), answer(right_passphrase)).status, STOCKADE_ERROR_KEY_FILE);
}

// Encrypted with a key that scrypt derives at this cost. No key is inside: whatever is refused is refused before that shows.
Buffer under_scrypt(uint64_t n, uint64_t r, uint64_t p) {
  uint8_t zeros[16] = {};
  const std::shared_ptr<X509_ALGOR> algorithm(
      PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), zeros, sizeof zeros, zeros, 2, 1, 1), X509_ALGOR_free);
  X509_SIG* const made = X509_SIG_new();
  const std::shared_ptr<X509_SIG> file(made, X509_SIG_free);
  X509_ALGOR* within = nullptr;
  ASN1_OCTET_STRING* content = nullptr;
  X509_SIG_getm(made, &within, &content);
  // The numbers are put in here, since libcrypto tries what it is asked for.
  const std::shared_ptr<PBE2PARAM> two(
      static_cast<PBE2PARAM*>(ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), algorithm->parameter)),
      PBE2PARAM_free);
  const std::shared_ptr<SCRYPT_PARAMS> scrypt(
      static_cast<SCRYPT_PARAMS*>(ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(SCRYPT_PARAMS), two->keyfunc->parameter)),
      SCRYPT_PARAMS_free);
  ASN1_INTEGER_set_uint64(scrypt->costParameter, n);
  ASN1_INTEGER_set_uint64(scrypt->blockSize, r);
  ASN1_INTEGER_set_uint64(scrypt->parallelizationParameter, p);
  ASN1_TYPE_pack_sequence(ASN1_ITEM_rptr(SCRYPT_PARAMS), scrypt.get(), &two->keyfunc->parameter);
  ASN1_TYPE_pack_sequence(ASN1_ITEM_rptr(PBE2PARAM), two.get(), &algorithm->parameter);
  X509_ALGOR_copy(within, algorithm.get());
  ASN1_OCTET_STRING_set(content, zeros, sizeof zeros);
  return pem_of("ENCRYPTED PRIVATE KEY", der_of<X509_SIG>(i2d_X509_SIG, made));
}

// libcrypto bounds the memory that scrypt takes, and not its time.
TEST(RsaKeyFiles, with_an_unbearable_cost_of_scrypt_are_refused) {
  const auto status = [](uint64_t n, uint64_t r, uint64_t p) {
    return read_private(under_scrypt(n, r, p), answer(right_passphrase)).status;
  };
  // Bearable: what is inside is no key.
  EXPECT_EQ(status(1024, 8, 1), STOCKADE_ERROR_PASSPHRASE);
  EXPECT_EQ(status(16384, 8, 4), STOCKADE_ERROR_PASSPHRASE);
  // Within its memory, and 50 minutes of work.
  EXPECT_EQ(status(32768, 1, 229000), STOCKADE_ERROR_KEY_FILE);
  EXPECT_EQ(status(2, 8, 1 << 21), STOCKADE_ERROR_KEY_FILE);
  EXPECT_EQ(status(1 << 20, 8, 3), STOCKADE_ERROR_KEY_FILE);
  EXPECT_EQ(status(UINT64_C(1) << 63, 8, 1), STOCKADE_ERROR_KEY_FILE);
  EXPECT_EQ(status(0, 8, 1), STOCKADE_ERROR_KEY_FILE);
  EXPECT_EQ(status(1024, 0, 1), STOCKADE_ERROR_KEY_FILE);
}

}  // namespace
}  // namespace stockade::rsa
