#include "raw_line.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <string_view>

#include "file_failure.h"
#include "values.h"

namespace stockade::cmd {
namespace {

constexpr uint64_t longest_unit = uint64_t{1} << 24;

[[noreturn]] void refuse(std::string message, std::vector<std::string> hints = {}) {
  throw Failure(Exit::usage, std::move(message), std::move(hints));
}

void check_iv(const Cipher& cipher, bool given, size_t length) {
  if (cipher.mode == STOCKADE_ECB) {
    if (given) refuse(fmt::format("{} takes no --iv", cipher.name));
    return;
  }
  const bool any_length = cipher.mode == STOCKADE_GCM;
  if (!given && any_length) {
    refuse(fmt::format("--iv is missing: {} needs one, usually of 12 bytes (24 hex digits)", cipher.name),
           {"never use one IV twice with the same key"});
  }
  if (!given) refuse(fmt::format("--iv is missing: {} needs 16 bytes (32 hex digits)", cipher.name));
  if (any_length && length == 0) refuse(fmt::format("--iv is empty: {} needs at least 1 byte", cipher.name));
  if (!any_length && length != 16) {
    refuse(fmt::format("--iv holds {}, but {} takes 16 bytes (32 hex digits)", plural(length, "byte"), cipher.name));
  }
}

stockade_padding read_padding(const Cipher& cipher, const std::optional<std::string>& text) {
  if (!text) return cipher.pads() ? STOCKADE_PADDING_PKCS7 : STOCKADE_PADDING_NONE;
  if (!cipher.pads())
    refuse(fmt::format("--padding does not apply to {}", cipher.name), {"only ECB and CBC are padded"});
  if (*text == "pkcs7") return STOCKADE_PADDING_PKCS7;
  if (*text != "none") refuse(fmt::format("--padding: '{}' is neither pkcs7 nor none", *text));
  return STOCKADE_PADDING_NONE;
}

uint64_t read_unit(const Cipher& cipher, const std::optional<std::string>& text) {
  if (!text) return 0;
  if (cipher.mode != STOCKADE_XTS) refuse(fmt::format("--data-unit does not apply to {}", cipher.name));
  const uint64_t unit = parse_size("--data-unit", *text);
  if (unit < 16 || unit > longest_unit) refuse(fmt::format("--data-unit: {} is not within 16 bytes and 16MiB", *text));
  return unit;
}

std::string data_length_message(const RawLine& line, const RawJob& job, const std::string& name) {
  const bool decrypting = line.direction == STOCKADE_DECRYPT;
  switch (job.cipher->mode) {
    case STOCKADE_XTS:
      return job.unit == 0
                 ? fmt::format("{} is shorter than 16 bytes, the least that XTS takes", name)
                 : fmt::format("{} ends in a data unit of less than 16 bytes, the least that XTS takes", name);
    case STOCKADE_GCM:
      return fmt::format("{} is shorter than a tag of 16 bytes: it was cut or is not a ciphertext of {}", name,
                         job.cipher->name);
    default:
      if (decrypting) {
        return fmt::format("{} is not a {}multiple of 16 bytes: it was cut or is not a ciphertext of {}", name,
                           job.padding == STOCKADE_PADDING_PKCS7 ? "non-zero " : "", job.cipher->name);
      }
      return fmt::format("{} is not a multiple of 16 bytes, which {} without padding takes", name, job.cipher->name);
  }
}

}  // namespace

RawJob read_raw_line(const RawLine& line) {
  if (!line.cipher) refuse("--cipher is missing", {"for instance --cipher aes-256-gcm"});
  RawJob job;
  job.cipher = &parse_cipher(*line.cipher);
  if (line.key->given && line.key_file) refuse("--key and --key-file exclude each other");
  if (!line.key->given && !line.key_file) {
    refuse("a key is missing", {fmt::format("--key-file FILE, which holds {} raw bytes or {} hex digits, or --key HEX",
                                            job.cipher->key_length(), 2 * job.cipher->key_length())});
  }
  if (line.key_file == "-" && line.input.value_or("-") == "-") {
    refuse("the key and the input cannot both come from standard input", {"name a file for one of the two"});
  }
  if (line.iv) job.iv = parse_hex("--iv", *line.iv);
  check_iv(*job.cipher, line.iv.has_value(), job.iv.size());
  if (line.aad && job.cipher->mode != STOCKADE_GCM) {
    refuse(fmt::format("--aad does not apply to {}", job.cipher->name), {"only GCM authenticates"});
  }
  if (line.aad) job.aad = parse_hex("--aad", *line.aad);
  job.padding = read_padding(*job.cipher, line.padding);
  job.unit = read_unit(*job.cipher, line.data_unit);
  return job;
}

void read_raw_key(const RawLine& line, const Cipher& cipher, SecretBytes& bytes) {
  if (line.key_file) {
    key_from_file(*line.key_file, cipher.key_length(), cipher.name, bytes);
  } else {
    key_from_argument(*line.key, cipher.key_length(), cipher.name, bytes);
  }
}

Failure raw_key_failure(stockade_status status) {
  if (status == STOCKADE_ERROR_WEAK_KEY) {
    return {Exit::usage,
            "the two halves of the key are equal, which XTS does not allow",
            {"XTS takes two independent keys (IEEE 1619, FIPS 140-3 IG C.I)"}};
  }
  // The lengths are right and --cipher named the mode: what is left is what the environment asks for.
  return environment_failure(status);
}

KeyHandle make_raw_key(const RawLine& line, const Cipher& cipher) {
  SecretBytes bytes;
  read_raw_key(line, cipher, bytes);
  stockade_key* key = nullptr;
  const stockade_status status = stockade_key_create(&key, cipher.mode, bytes.data(), bytes.size(), nullptr);
  if (status != STOCKADE_OK) throw raw_key_failure(status);
  return KeyHandle(key);
}

std::string raw_plan_text(const stockade_key* key, stockade_direction direction, uint64_t length,
                          const stockade_engine* engine) {
  constexpr uint64_t long_message = uint64_t{1} << 32;
  char text[256];
  const auto status = stockade_explain(key, direction, length == 0 ? long_message : length, engine, text, sizeof text);
  if (status != STOCKADE_OK) return fmt::format("row {}", stockade_key_row(key));
  const std::string_view plan = text;
  return std::string(length == 0 ? plan.substr(0, plan.find(':')) : plan);
}

Failure raw_failure(stockade_status status, int error, const RawLine& line, const RawJob& job, const Input& input,
                    const std::string& output_name) {
  const Exit exit = exit_for(status, line.direction);
  switch (status) {
    case STOCKADE_ERROR_DATA_LENGTH:
      return {exit, data_length_message(line, job, input.name)};
    case STOCKADE_ERROR_DATA_TOO_LONG:
      if (job.cipher->mode == STOCKADE_XTS) {
        return {exit,
                fmt::format("{} is longer than 16 MiB, the longest data unit of XTS", input.name),
                {"cut it into units with --data-unit SIZE, such as --data-unit 4096"}};
      }
      return {exit,
              fmt::format("{} is longer than 2^36 - 32 bytes, the longest message of GCM", input.name),
              {"split it, and give each part an IV of its own"}};
    case STOCKADE_ERROR_PADDING:
      return {exit, fmt::format("{} does not end in PKCS#7 padding: wrong key, wrong IV or damaged data", input.name)};
    case STOCKADE_ERROR_AUTHENTICATION:
      // Too short for a tag is the same status: there is no tag that matches.
      if (S_ISREG(input.status.st_mode) && input.length < 16) return {exit, data_length_message(line, job, input.name)};
      return {
          exit,
          fmt::format("the tag of {} does not match: wrong key, IV or associated data, or damaged data", input.name),
          {"nothing was written"}};
    case STOCKADE_ERROR_INPUT_CHANGED:
      return {exit, fmt::format("{} changed while it was read", input.name)};
    case STOCKADE_ERROR_IO:
      return io_failure(error, input.name, output_name);
    case STOCKADE_ERROR_MEMORY:
      return {exit, "out of memory"};
    case STOCKADE_ERROR_MODE:
      return {exit,
              fmt::format("{} cannot be {} on a GPU: each block needs the one before it", job.cipher->name,
                          line.direction == STOCKADE_DECRYPT ? "decrypted" : "encrypted"),
              {"--engine auto, the default, runs on the CPU"}};
    case STOCKADE_ERROR_DEVICE:
    case STOCKADE_ERROR_DEVICE_MEMORY:
    case STOCKADE_ERROR_FORKED:
      return {exit, fmt::format("{}: {}", job.cipher->name, stockade_status_text(status)), {device_hint}};
    default:
      return {exit, fmt::format("{}: {}", job.cipher->name, stockade_status_text(status))};
  }
}

const char raw_key_help[] = R"(key and IV:
  The key file holds the raw bytes of the key, or its hex digits and at most one
  line end: 16, 24 or 32 bytes for AES-128, -192 and -256, twice that for XTS.
  Prefer it to --key: other users may see a command line for a moment, and shells
  keep it. It may be a pipe: --key-file <(pass show backup).
  The IV has 16 bytes; for GCM any number, usually 12; ECB has none. Never use an
  IV twice with one key. 'raw' stores neither key nor IV: keep them.
)";

void RawLine::declare_cipher(Command& command) {
  const char* group = "cipher";
  command.option(group, "--cipher", "NAME", cipher, "aes-{128,192,256}-{ecb,cbc,cfb,ofb,ctr,gcm} or aes-{128,256}-xts");
  command.option(group, "--key-file", "FILE", key_file, "the key, raw or as hex text; - is standard input");
  command.option(group, "--key", "HEX", key_place, "the key in hex; prefer --key-file");
  command.option(group, "--iv", "HEX", iv, "initialisation vector, or the tweak of the first XTS unit");
  command.option(group, "--aad", "HEX", aad, "GCM: associated data, authenticated and not stored");
  command.option(group, "--padding", "KIND", padding, "ECB and CBC: pkcs7 (the default) or none");
  command.option(group, "--data-unit", "SIZE", data_unit,
                 "XTS: bytes per unit, each with its own tweak; without it the input is one unit");
}

}  // namespace stockade::cmd
