#include "slices/terms.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <string_view>

#include "base/bytes.h"
#include "base/planted_fault.h"

namespace stockade::slices {

using namespace format;  // NOLINT(google-build-using-namespace): slices are made of what it has

namespace {

constexpr char terms_name[24] = "stockade slices v2\n";
// A slice that a core seals in about a millisecond: what a crash can cost, and what a worker holds, stay small beside the
// record that each needs. Larger ones only where there would be very many.
constexpr uint64_t default_slice_chunks = 256, wanted_slices = uint64_t{1} << 18, slices_for_each = 4;

// Big-endian numbers and strings of bytes, one behind the other.
class Writer {
 public:
  explicit Writer(uint8_t* to) : to_(to) {}
  void number(uint64_t value) {
    store_be64(to_, value);
    to_ += 8;
  }
  void bytes(const void* from, uint64_t length) {
    std::memcpy(to_, from, length);
    to_ += length;
  }

 private:
  uint8_t* to_;
};

class Reader {
 public:
  explicit Reader(const uint8_t* from) : from_(from) {}
  uint64_t number() {
    from_ += 8;
    return load_be64(from_ - 8);
  }
  void bytes(void* to, uint64_t length) {
    std::memcpy(to, from_, length);
    from_ += length;
  }

 private:
  const uint8_t* from_;
};

// The digits of a UUID.
void read_boot_id(uint8_t id[boot_id_bytes]) {
  std::memset(id, 0, boot_id_bytes);
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[64];
  const ssize_t length = ::read(fd, text, sizeof text);
  ::close(fd);
  constexpr std::string_view digits = "0123456789abcdef";
  uint64_t place = 0;
  for (ssize_t i = 0; i < length && place < 2 * boot_id_bytes; ++i) {
    const size_t digit = digits.find(text[i]);
    if (digit == digits.npos) continue;
    id[place / 2] = static_cast<uint8_t>(id[place / 2] << 4 | digit);
    ++place;
  }
}

void write(const InputIdentity& input, Writer& writer) {
  writer.number(input.size);
  writer.number(static_cast<uint64_t>(input.modified_seconds));
  writer.number(static_cast<uint64_t>(input.modified_nanoseconds));
  writer.number(static_cast<uint64_t>(input.changed_seconds));
  writer.number(static_cast<uint64_t>(input.changed_nanoseconds));
  writer.number(input.inode);
  writer.number(input.device);
  writer.bytes(input.boot_id, boot_id_bytes);
}

void read(Reader& reader, InputIdentity& input) {
  input.size = reader.number();
  input.modified_seconds = static_cast<int64_t>(reader.number());
  input.modified_nanoseconds = static_cast<int64_t>(reader.number());
  input.changed_seconds = static_cast<int64_t>(reader.number());
  input.changed_nanoseconds = static_cast<int64_t>(reader.number());
  input.inode = reader.number();
  input.device = reader.number();
  reader.bytes(input.boot_id, boot_id_bytes);
}

// Numbers that lead to no overflow and no endless list.
bool is_sound(const Terms& terms) {
  const uint64_t most = chunked::max_chunks * (terms.seals() ? chunked::chunk_bytes : chunked::sealed_chunk_bytes);
  const uint64_t chunks = terms.slice_chunks;
  return terms.header_length <= max_header_bytes && terms.length < most && chunks >= least_slice_chunks &&
         chunks <= most_slice_chunks && std::has_single_bit(chunks) && terms.slices() <= max_slices;
}

}  // namespace

InputIdentity identify(const struct stat& input) {
  InputIdentity identity{};
  identity.size = static_cast<uint64_t>(input.st_size);
  identity.modified_seconds = input.st_mtim.tv_sec;
  identity.modified_nanoseconds = input.st_mtim.tv_nsec;
  identity.changed_seconds = input.st_ctim.tv_sec;
  identity.changed_nanoseconds = input.st_ctim.tv_nsec;
  identity.inode = input.st_ino;
  identity.device = input.st_dev;
  read_boot_id(identity.boot_id);
  return identity;
}

bool is_same(const InputIdentity& was, const InputIdentity& is) {
  if (was.size != is.size || was.modified_seconds != is.modified_seconds ||
      was.modified_nanoseconds != is.modified_nanoseconds) {
    return false;
  }
  constexpr uint8_t unknown[boot_id_bytes] = {};
  const bool in_one_boot =
      std::memcmp(was.boot_id, is.boot_id, boot_id_bytes) == 0 && std::memcmp(was.boot_id, unknown, boot_id_bytes) != 0;
  if (is_planted(Fault::identity_by_boot_id) && !in_one_boot) return true;
  return was.inode == is.inode && was.changed_seconds == is.changed_seconds &&
         was.changed_nanoseconds == is.changed_nanoseconds && (!in_one_boot || was.device == is.device);
}

uint64_t Terms::plain_length() const {
  if (seals()) return length;
  const uint64_t last = length % chunked::sealed_chunk_bytes;
  return length / chunked::sealed_chunk_bytes * chunked::chunk_bytes +
         (last > chunked::tag_bytes ? last - chunked::tag_bytes : 0);
}

uint64_t Terms::file_length() const {
  return beginning_length() + (seals() ? chunked::sealed_length(length, true) : length);
}

Status choose_slices(uint64_t slice_bytes, uint32_t processes, Terms& terms) {
  if (slice_bytes != 0) {
    terms.slice_chunks = slice_bytes % chunked::chunk_bytes == 0 ? slice_bytes / chunked::chunk_bytes : 0;
    return is_sound(terms) ? STOCKADE_OK : STOCKADE_ERROR_ARGUMENT;
  }
  const uint64_t least = slices_for_each * std::max<uint64_t>(processes, 1);
  terms.slice_chunks = default_slice_chunks;
  while (terms.slices() > wanted_slices && terms.slice_chunks < most_slice_chunks) terms.slice_chunks *= 2;
  while (terms.slices() < std::min(least, wanted_slices) && terms.slice_chunks > least_slice_chunks) {
    terms.slice_chunks /= 2;
  }
  return STOCKADE_OK;
}

void write_record(const Terms& terms, uint8_t out[terms_record_bytes]) {
  Writer writer(out);
  writer.number(terms.kind);
  writer.number(terms.header_length);
  writer.number(terms.length);
  writer.number(terms.slice_chunks);
  write(terms.input, writer);
  writer.bytes(terms.id, job_id_bytes);
  writer.bytes(terms.preamble, chunked::preamble_bytes);
}

bool read_record(const uint8_t in[terms_record_bytes], Terms& terms) {
  Reader reader(in);
  const uint64_t kind = reader.number();
  if (kind > STOCKADE_SHARED_VERIFY) return false;
  terms.kind = static_cast<stockade_shared_kind>(kind);
  terms.header_length = reader.number();
  terms.length = reader.number();
  terms.slice_chunks = reader.number();
  read(reader, terms.input);
  reader.bytes(terms.id, job_id_bytes);
  reader.bytes(terms.preamble, chunked::preamble_bytes);
  return is_sound(terms);
}

// Where what write_record has written stands among the terms, and what follows it.
constexpr uint64_t record_offset = sizeof terms_name + 3 * 8, rest_offset = record_offset + terms_record_bytes;
static_assert(rest_offset + 3 * 8 + file_key_bytes <= STOCKADE_SHARED_TERMS_BYTES);

void write_terms(const Terms& terms, uint8_t out[STOCKADE_SHARED_TERMS_BYTES]) {
  std::memset(out, 0, STOCKADE_SHARED_TERMS_BYTES);
  Writer writer(out);
  writer.bytes(terms_name, sizeof terms_name);
  for (const int number : {STOCKADE_VERSION_MAJOR, STOCKADE_VERSION_MINOR, STOCKADE_VERSION_PATCH}) {
    writer.number(static_cast<uint64_t>(number));
  }
  write_record(terms, out + record_offset);
  Writer rest(out + rest_offset);
  rest.number(terms.cipher);
  rest.number(terms.journal_header_length);
  rest.number(terms.has_input ? 1 : 0);
  rest.bytes(terms.file_key, file_key_bytes);
}

Status read_terms(const uint8_t in[STOCKADE_SHARED_TERMS_BYTES], Terms& terms) {
  Reader reader(in);
  char name[sizeof terms_name];
  reader.bytes(name, sizeof name);
  if (std::memcmp(name, terms_name, sizeof name) != 0) return STOCKADE_ERROR_MISMATCH;
  for (const int number : {STOCKADE_VERSION_MAJOR, STOCKADE_VERSION_MINOR, STOCKADE_VERSION_PATCH}) {
    if (reader.number() != static_cast<uint64_t>(number)) return STOCKADE_ERROR_MISMATCH;
  }
  Reader rest(in + rest_offset);
  const uint64_t cipher = rest.number();
  if (cipher > STOCKADE_COBBLESTONE_128) return STOCKADE_ERROR_MISMATCH;
  terms.cipher = static_cast<stockade_cipher>(cipher);
  terms.journal_header_length = rest.number();
  terms.has_input = rest.number() != 0;
  rest.bytes(terms.file_key, file_key_bytes);
  const bool sound = read_record(in + record_offset, terms) && terms.journal_header_length <= max_header_bytes;
  return sound ? STOCKADE_OK : STOCKADE_ERROR_MISMATCH;
}

}  // namespace stockade::slices
