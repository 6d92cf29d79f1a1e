#include "rsa/key_files.h"

#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <string_view>

#include "base/without_throwing.h"
#include "libcrypto/library.h"
#include "rsa/der.h"
#include "rsa/key_encryption.h"

namespace stockade::rsa {
namespace {

using std::string_view_literals::operator""sv;

enum class Form { pkcs1_private, pkcs1_public, pkcs8, encrypted_pkcs8, public_key_info, certificate, other_type };

// What a key file was read for, and with what.
struct Reading {
  const AskPassphrase* ask;  // null: only the public half is wanted
  const bignum::Variant* row;
  RandomSource* random;
  uint32_t fewest_bits;
  std::string* type;
  PublicKey* public_key;  // the one of these that is wanted
  std::unique_ptr<PrivateKey>* private_key;

  bool wants_private() const { return private_key != nullptr; }
  Status refuse_type(std::string_view name) const {
    *type = name;
    return STOCKADE_ERROR_KEY_TYPE;
  }
  Status take(const PublicNumbers& numbers) const {
    if (wants_private()) return STOCKADE_ERROR_KEY_NOT_PRIVATE;
    return PublicKey::make(numbers, fewest_bits, row, *public_key);
  }
  Status take(const PrivateNumbers& numbers) const {
    if (!wants_private()) return PublicKey::make({numbers.n, numbers.e}, fewest_bits, row, *public_key);
    return PrivateKey::make(numbers, row, *random, *private_key);
  }
};

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n"sv) == std::string_view::npos; }

// ---- DER ----

bool all_integers(const DerSequence& members, int first, int last) {
  for (int i = first; i < last; ++i) {
    if (members.type(i) != V_ASN1_INTEGER) return false;
  }
  return true;
}

// RFC 8017 A.1.2. Version 1 has more than two primes.
Status read_pkcs1_private(const DerSequence& members, const Reading& reading) {
  if (members.count() < 9 || !all_integers(members, 0, 9)) return STOCKADE_ERROR_KEY_FILE;
  const Bytes version = members.bytes(0);
  if (version.size() == 1 && version[0] == 1) return reading.refuse_type("RSA of more than two primes");
  if (version.size() != 1 || version[0] != 0 || members.count() != 9) return STOCKADE_ERROR_KEY_FILE;
  return reading.take(PrivateNumbers{members.bytes(1), members.bytes(2), members.bytes(3), members.bytes(4),
                                     members.bytes(5), members.bytes(6), members.bytes(7), members.bytes(8)});
}

// RFC 8017 A.1.1.
Status read_pkcs1_public(const DerSequence& members, const Reading& reading) {
  if (members.count() != 2 || !all_integers(members, 0, 2)) return STOCKADE_ERROR_KEY_FILE;
  return reading.take(PublicNumbers{members.bytes(0), members.bytes(1)});
}

// What users call a type, or what libcrypto calls it, or its number.
std::string type_name(const ASN1_OBJECT* object) {
  const int nid = OBJ_obj2nid(object);
  if (nid == NID_X9_62_id_ecPublicKey) return "EC";
  if (nid == NID_rsassaPss) return "RSA-PSS";
  if (nid != NID_undef) return OBJ_nid2sn(nid);
  char number[80] = {};
  OBJ_obj2txt(number, sizeof number, object, 1);
  return number;
}

// Whether an AlgorithmIdentifier (RFC 5280 4.1.1.2) is rsaEncryption.
Status check_algorithm(Bytes der, const Reading& reading) {
  DerSequence algorithm;
  if (const Status status = algorithm.parse(der); status != STOCKADE_OK) {
    return status == STOCKADE_ERROR_MEMORY ? status : STOCKADE_ERROR_KEY_FILE;
  }
  if (algorithm.object(0) == nullptr) return STOCKADE_ERROR_KEY_FILE;
  if (OBJ_obj2nid(algorithm.object(0)) != NID_rsaEncryption) return reading.refuse_type(type_name(algorithm.object(0)));
  const int parameters = algorithm.type(1);
  const bool none = parameters == V_ASN1_NULL || parameters == V_ASN1_UNDEF;
  return none && algorithm.count() <= 2 ? STOCKADE_OK : STOCKADE_ERROR_KEY_FILE;
}

// What lies inside another encoding has no length of its own that could be cut short by an accident of the file.
Status parse_inside(Bytes der, DerSequence& members) {
  const Status status = members.parse(der);
  return status == STOCKADE_ERROR_TRUNCATED ? STOCKADE_ERROR_KEY_FILE : status;
}

// RFC 5958 2: version, algorithm, key; attributes and a public key may follow.
Status read_pkcs8(const DerSequence& members, const Reading& reading) {
  if (members.count() > 5 || members.type(1) != V_ASN1_SEQUENCE || members.type(2) != V_ASN1_OCTET_STRING) {
    return STOCKADE_ERROR_KEY_FILE;
  }
  if (const Status status = check_algorithm(members.bytes(1), reading); status != STOCKADE_OK) return status;
  DerSequence key;
  const Status status = parse_inside(members.bytes(2), key);
  return status == STOCKADE_OK ? read_pkcs1_private(key, reading) : status;
}

// RFC 5280 4.1.
Status read_public_key_info(const DerSequence& members, const Reading& reading) {
  if (const Status status = check_algorithm(members.bytes(0), reading); status != STOCKADE_OK) return status;
  DerSequence key;
  const Status status = parse_inside(members.bytes(1), key);
  return status == STOCKADE_OK ? read_pkcs1_public(key, reading) : status;
}

Status read_certificate(Bytes der, const Reading& reading) {
  const libcrypto::ErrorScope errors;
  // libcrypto looks at the key of a certificate while it parses it, and shall do so in our context.
  libcrypto::Handle<X509, X509_free> certificate(X509_new_ex(libcrypto::library_context(), nullptr));
  if (!certificate) return errors.status();
  X509* parsed = certificate.get();
  const unsigned char* at = der.data();
  if (d2i_X509(&parsed, &at, static_cast<long>(der.size())) == nullptr) {
    (void)certificate.release();  // has been freed
    return errors.status(STOCKADE_ERROR_KEY_FILE);
  }
  unsigned char* info = nullptr;
  const int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(parsed), &info);
  if (length < 0) return errors.status();
  DerSequence members;
  Status status = members.parse({info, static_cast<size_t>(length)});
  OPENSSL_free(info);
  return status == STOCKADE_OK ? read_public_key_info(members, reading) : status;
}

Status read_der(Form form, Bytes der, const Reading& reading);

// Asks for the passphrase, and `decrypt`s with it; what comes of it is read as `form`. What cannot be read has the
// passphrase to blame, for one in 256 wrong ones leaves a padding that is right.
template <typename Decrypt>
Status read_encrypted(Form form, const Reading& reading, Decrypt decrypt) {
  if (reading.ask == nullptr || !*reading.ask) return STOCKADE_ERROR_PASSPHRASE_NEEDED;
  SecretBuffer passphrase, plain;
  if (const Status status = (*reading.ask)(passphrase); status != STOCKADE_OK) return status;
  uint64_t length = 0;
  const Status status = decrypt(Bytes(passphrase.data(), passphrase.size()), plain, length);
  if (status != STOCKADE_OK) return status;
  DerSequence probe;
  if (const Status parsed = probe.parse({plain.data(), length}); parsed != STOCKADE_OK) {
    return parsed == STOCKADE_ERROR_MEMORY ? parsed : STOCKADE_ERROR_PASSPHRASE;
  }
  return read_der(form, {plain.data(), length}, reading);
}

// RFC 5958 3: algorithm, key.
Status read_encrypted_pkcs8(const DerSequence& members, const Reading& reading) {
  return read_encrypted(Form::pkcs8, reading, [&](Bytes passphrase, SecretBuffer& plain, uint64_t& length) {
    const Status status = decrypt_pkcs8(members.bytes(0), members.bytes(1), passphrase, plain, length);
    return status == STOCKADE_ERROR_KEY_TYPE ? reading.refuse_type("key with an unknown encryption") : status;
  });
}

// Which form a DER encoding has can be seen from the types of its first members.
Form form_of(const DerSequence& members) {
  const int first = members.type(0), second = members.type(1), third = members.type(2);
  if (first == V_ASN1_INTEGER && second == V_ASN1_SEQUENCE) return Form::pkcs8;
  if (first == V_ASN1_INTEGER && second == V_ASN1_OCTET_STRING) return Form::other_type;  // RFC 5915 3
  if (first == V_ASN1_INTEGER) return members.count() == 2 ? Form::pkcs1_public : Form::pkcs1_private;
  if (first == V_ASN1_SEQUENCE && second == V_ASN1_OCTET_STRING) return Form::encrypted_pkcs8;
  if (first == V_ASN1_SEQUENCE && second == V_ASN1_BIT_STRING) return Form::public_key_info;
  return third == V_ASN1_BIT_STRING ? Form::certificate : Form::pkcs1_private;
}

Status read_der(Form form, Bytes der, const Reading& reading) {
  DerSequence members;
  if (const Status status = members.parse(der); status != STOCKADE_OK) return status;
  if (form_of(members) != form) return STOCKADE_ERROR_KEY_FILE;
  switch (form) {
    case Form::pkcs1_private:
      return read_pkcs1_private(members, reading);
    case Form::pkcs1_public:
      return read_pkcs1_public(members, reading);
    case Form::pkcs8:
      return read_pkcs8(members, reading);
    case Form::encrypted_pkcs8:
      return read_encrypted_pkcs8(members, reading);
    case Form::public_key_info:
      return read_public_key_info(members, reading);
    case Form::certificate:
      return read_certificate(der, reading);
    case Form::other_type:
      break;
  }
  return reading.refuse_type("EC");
}

Status read_any_der(Bytes der, const Reading& reading) {
  DerSequence members;
  const Status status = members.parse(der);
  return status == STOCKADE_OK ? read_der(form_of(members), der, reading) : status;
}

// ---- PEM ----

struct Label {
  std::string_view name;
  Form form;
  std::string_view type;  // of other_type
};
constexpr Label labels[] = {
    {"PRIVATE KEY", Form::pkcs8, {}},
    {"ENCRYPTED PRIVATE KEY", Form::encrypted_pkcs8, {}},
    {"RSA PRIVATE KEY", Form::pkcs1_private, {}},
    {"PUBLIC KEY", Form::public_key_info, {}},
    {"RSA PUBLIC KEY", Form::pkcs1_public, {}},
    {"CERTIFICATE", Form::certificate, {}},
    {"X509 CERTIFICATE", Form::certificate, {}},
    {"EC PARAMETERS", Form::other_type, "EC"},
    {"EC PRIVATE KEY", Form::other_type, "EC"},
    {"DSA PARAMETERS", Form::other_type, "DSA"},
    {"DSA PRIVATE KEY", Form::other_type, "DSA"},
    {"OPENSSH PRIVATE KEY", Form::other_type, "OpenSSH private key"},
};

constexpr std::string_view pem_begin = "-----BEGIN ", pem_end = "-----END ", pem_dashes = "-----";

// Where the first line that begins so begins.
size_t find_line(std::string_view text, std::string_view beginning) {
  size_t at = text.find(beginning);
  while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n') at = text.find(beginning, at + 1);
  return at;
}

// What libcrypto's PEM reader hands out.
struct PemBlock {
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long length = 0;

  PemBlock() = default;
  PemBlock(const PemBlock&) = delete;
  PemBlock& operator=(const PemBlock&) = delete;
  ~PemBlock() {
    OPENSSL_secure_free(name);
    OPENSSL_secure_free(header);
    OPENSSL_secure_clear_free(data, static_cast<size_t>(length));
  }
};

Status decode_pem(std::string_view text, PemBlock& block) {
  const libcrypto::ErrorScope errors;
  const libcrypto::Handle<BIO, BIO_free> in(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (!in) return errors.status();
  const int done = PEM_read_bio_ex(in.get(), &block.name, &block.header, &block.data, &block.length, PEM_FLAG_SECURE);
  if (done == 1) return STOCKADE_OK;
  if (!errors.none()) return errors.status(STOCKADE_ERROR_KEY_FILE);
  // Nothing is said where a block is empty, nor where there is no memory for it.
  SecretBuffer as_much;
  return as_much.allocate(text.size()) ? STOCKADE_ERROR_KEY_FILE : STOCKADE_ERROR_MEMORY;
}

// RFC 1421 4.6.1.1, the old way of OpenSSL to encrypt.
Status read_encrypted_pem(Form form, const PemBlock& block, const Reading& reading) {
  return read_encrypted(form, reading, [&](Bytes passphrase, SecretBuffer& plain, uint64_t& length) {
    const Bytes data(block.data, static_cast<size_t>(block.length));
    const Status status = decrypt_traditional(block.header, data, passphrase, plain, length);
    return status == STOCKADE_ERROR_KEY_TYPE ? reading.refuse_type("key with an unknown encryption") : status;
  });
}

Status read_block(const Label& label, std::string_view text, const Reading& reading) {
  PemBlock block;
  if (const Status status = decode_pem(text, block); status != STOCKADE_OK) return status;
  const bool encrypted = std::string_view(block.header).find("ENCRYPTED"sv) != std::string_view::npos;
  if (encrypted && label.form == Form::pkcs1_private) return read_encrypted_pem(label.form, block, reading);
  if (encrypted) return STOCKADE_ERROR_KEY_FILE;
  const Status status = read_der(label.form, {block.data, static_cast<size_t>(block.length)}, reading);
  // The lines are all there, so it is the encoding that is wrong.
  return status == STOCKADE_ERROR_TRUNCATED ? STOCKADE_ERROR_KEY_FILE : status;
}

// `text` begins with the first line of a block.
Status read_pem(std::string_view text, const Reading& reading) {
  std::string_view line = text.substr(0, text.find('\n'));
  line = line.substr(0, line.find_last_not_of(" \t\r"sv) + 1);
  if (line.size() < pem_begin.size() + pem_dashes.size() || !line.ends_with(pem_dashes)) {
    return text.find('\n') == std::string_view::npos ? STOCKADE_ERROR_TRUNCATED : STOCKADE_ERROR_KEY_FILE;
  }
  const std::string_view name = line.substr(pem_begin.size(), line.size() - pem_begin.size() - pem_dashes.size());
  const std::string last = std::string(pem_end) + std::string(name) + std::string(pem_dashes);
  const size_t end = find_line(text, last);
  const Label* const label =
      std::find_if(std::begin(labels), std::end(labels), [&](const Label& l) { return l.name == name; });
  if (label == std::end(labels)) return STOCKADE_ERROR_KEY_FILE;
  if (label->form == Form::other_type) return reading.refuse_type(label->type);
  if (end == std::string_view::npos) return STOCKADE_ERROR_TRUNCATED;
  const std::string_view rest = text.substr(end + last.size());
  const bool chain = label->form == Form::certificate && find_line(rest, pem_begin) != std::string_view::npos;
  if (!is_blank(rest) && !chain) return STOCKADE_ERROR_TRAILING_DATA;
  return read_block(*label, text.substr(0, end + last.size()), reading);
}

// ---- ssh-rsa ----

// The next string of RFC 4251 5. False if the rest is shorter than it says.
bool take_string(Bytes& rest, Bytes& string) {
  if (rest.size() < 4) return false;
  const uint64_t length = load_be32(rest.data());
  if (rest.size() - 4 < length) return false;
  string = rest.subspan(4, length);
  rest = rest.subspan(4 + length);
  return true;
}

Status read_ssh_blob(Bytes blob, const Reading& reading) {
  Bytes type, e, n;
  if (!take_string(blob, type)) return STOCKADE_ERROR_TRUNCATED;
  if (text_of(type) != "ssh-rsa"sv) return STOCKADE_ERROR_KEY_FILE;
  if (!take_string(blob, e) || !take_string(blob, n)) return STOCKADE_ERROR_TRUNCATED;
  if (!blob.empty()) return STOCKADE_ERROR_TRAILING_DATA;
  const auto negative = [](Bytes number) { return !number.empty() && (number[0] & 0x80) != 0; };
  if (negative(e) || negative(n)) return STOCKADE_ERROR_KEY_FILE;
  return reading.take(PublicNumbers{n, e});
}

// `ssh-rsa`, base64, and a comment, in one line. `text` begins with the type.
Status read_ssh(std::string_view text, const Reading& reading) {
  const size_t line_end = std::min(text.find('\n'), text.size());
  if (!is_blank(text.substr(line_end))) return STOCKADE_ERROR_TRAILING_DATA;
  std::string_view line = text.substr(0, line_end);
  const auto take_word = [&line] {
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r"sv));
    line.remove_prefix(word.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"sv), line.size()));
    return word;
  };
  const std::string_view type = take_word();
  if (type != "ssh-rsa"sv) return reading.refuse_type(type);
  const std::string_view base64 = take_word();
  if (base64.empty() || base64.size() % 4 != 0) return STOCKADE_ERROR_TRUNCATED;
  std::vector<uint8_t> blob(base64.size() / 4 * 3);
  const libcrypto::ErrorScope errors;
  const int decoded = EVP_DecodeBlock(blob.data(), reinterpret_cast<const unsigned char*>(base64.data()),
                                      static_cast<int>(base64.size()));
  if (decoded != static_cast<int>(blob.size())) return STOCKADE_ERROR_KEY_FILE;
  const size_t padding = base64.size() - std::min(base64.find_last_not_of('=') + 1, base64.size());
  if (padding > 2) return STOCKADE_ERROR_KEY_FILE;
  // libcrypto writes zeros for it.
  blob.resize(blob.size() - padding);
  return read_ssh_blob(blob, reading);
}

bool begins_like_ssh(std::string_view text) {
  constexpr std::string_view beginnings[] = {"ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"};
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

// ---- reading ----

Status read_any(Bytes file, const Reading& reading) {
  if (file.size() > size_t{INT32_MAX}) return STOCKADE_ERROR_KEY_FILE;
  std::string_view text = text_of(file);
  const size_t begin = find_line(text, pem_begin);
  if (begin != std::string_view::npos) return read_pem(text.substr(begin), reading);
  if (!file.empty() && file[0] == (V_ASN1_SEQUENCE | V_ASN1_CONSTRUCTED)) return read_any_der(file, reading);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"sv), text.size()));
  if (begins_like_ssh(text)) return read_ssh(text, reading);
  return file.empty() ? STOCKADE_ERROR_TRUNCATED : STOCKADE_ERROR_KEY_FILE;
}

}  // namespace

Status read_public_key(Bytes file, uint32_t fewest_bits, const bignum::Variant* row, PublicKey& key,
                       std::string& type) {
  return without_throwing([&] { return read_any(file, {nullptr, row, nullptr, fewest_bits, &type, &key, nullptr}); });
}

Status read_private_key(Bytes file, const AskPassphrase& ask, const bignum::Variant* row, RandomSource& random,
                        std::unique_ptr<PrivateKey>& key, std::string& type) {
  return without_throwing([&] { return read_any(file, {&ask, row, &random, least_bits, &type, nullptr, &key}); });
}

}  // namespace stockade::rsa
