// A file of the testkit as testkit/README.md describes it, and what the public C interface makes of its data.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stockade/stockade.h"

namespace stockade::testkit {

// The head's lines, and the data behind the empty line, inflated where it is compressed.
struct Case {
  std::multimap<std::string, std::string> head;
  std::string data;

  // Empty where the head has no such line.
  std::string value(const std::string& name) const;
};

// Nothing where the text is not a testkit file; why is then in `error`.
std::optional<Case> parse_case(std::string_view text, std::string& error);

using Keyring = std::unique_ptr<stockade_keyring, decltype(&stockade_keyring_free)>;

// The text of the identity of that name, or nothing.
using ReadIdentity = std::optional<std::string> (*)(const std::string& name);

// The keys, passphrase and identities of the head; or nothing, and why not.
Keyring make_keyring(const Case& item, ReadIdentity read_identity, std::string& error);

// For reading with the head's limit of the work factor.
stockade_format make_format(const Case& item, const stockade_keyring* ring);

struct Outcome {
  stockade_status status;
  std::string plaintext;
};

// Decrypts the data, pushed in pieces of so many bytes.
Outcome push(const Case& item, const stockade_format& format, std::size_t piece);

}  // namespace stockade::testkit
