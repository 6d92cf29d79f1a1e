#include "format/shared_terms.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <string_view>

#include "base/bytes.h"
#include "format/file_job.h"

namespace stockade::format {
namespace {

constexpr char terms_name[24] = "stockade shared job v1\n";
constexpr uint64_t default_slice_chunks = 4096, wanted_slices = 65536, slices_for_each = 4;

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
void read_boot_id(uint8_t id[machine_bytes]) {
  std::memset(id, 0, machine_bytes);
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[64];
  const ssize_t length = ::read(fd, text, sizeof text);
  ::close(fd);
  constexpr std::string_view digits = "0123456789abcdef";
  uint64_t place = 0;
  for (ssize_t i = 0; i < length && place < 2 * machine_bytes; ++i) {
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
  writer.bytes(input.machine, machine_bytes);
}

void read(Reader& reader, InputIdentity& input) {
  input.size = reader.number();
  input.modified_seconds = static_cast<int64_t>(reader.number());
  input.modified_nanoseconds = static_cast<int64_t>(reader.number());
  input.changed_seconds = static_cast<int64_t>(reader.number());
  input.changed_nanoseconds = static_cast<int64_t>(reader.number());
  input.inode = reader.number();
  reader.bytes(input.machine, machine_bytes);
}

// Numbers that lead to no overflow and no endless list.
bool is_sound(const SharedTerms& terms) {
  constexpr uint64_t most = max_chunks * sealed_chunk_bytes;
  const uint64_t chunks = terms.slice_chunks;
  return terms.header_length <= max_header_bytes && terms.length < most && chunks >= run_chunks &&
         chunks <= max_chunks && chunks % run_chunks == 0 && std::has_single_bit(chunks / run_chunks) &&
         terms.slices() <= max_slices;
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
  read_boot_id(identity.machine);
  return identity;
}

bool is_same(const InputIdentity& was, const InputIdentity& is) {
  constexpr uint8_t unknown[machine_bytes] = {};
  if (was.size != is.size || was.modified_seconds != is.modified_seconds ||
      was.modified_nanoseconds != is.modified_nanoseconds) {
    return false;
  }
  const bool on_one_machine =
      std::memcmp(was.machine, is.machine, machine_bytes) == 0 && std::memcmp(was.machine, unknown, machine_bytes) != 0;
  return !on_one_machine || (was.inode == is.inode && was.changed_seconds == is.changed_seconds &&
                             was.changed_nanoseconds == is.changed_nanoseconds);
}

uint64_t SharedTerms::plain_length() const {
  if (seals()) return length;
  const uint64_t last = length % sealed_chunk_bytes;
  return length / sealed_chunk_bytes * chunk_bytes + (last > tag_bytes ? last - tag_bytes : 0);
}

uint64_t SharedTerms::file_length() const {
  return beginning_length() + (seals() ? sealed_length(length, true) : length);
}

Status choose_slices(uint64_t slice_bytes, uint32_t processes, SharedTerms& terms) {
  if (slice_bytes != 0) {
    terms.slice_chunks = slice_bytes % chunk_bytes == 0 ? slice_bytes / chunk_bytes : 0;
    return is_sound(terms) ? STOCKADE_OK : STOCKADE_ERROR_ARGUMENT;
  }
  const uint64_t least = std::min(slices_for_each * std::max<uint64_t>(processes, 1), max_slices / 2);
  terms.slice_chunks = default_slice_chunks;
  while (terms.slices() > wanted_slices) terms.slice_chunks *= 2;
  while (terms.slices() < least && terms.slice_chunks > run_chunks) terms.slice_chunks /= 2;
  return STOCKADE_OK;
}

void write_record(const SharedTerms& terms, uint8_t out[terms_record_bytes]) {
  Writer writer(out);
  writer.number(terms.kind);
  writer.number(terms.header_length);
  writer.number(terms.length);
  writer.number(terms.slice_chunks);
  write(terms.input, writer);
  writer.bytes(terms.id, job_id_bytes);
  writer.bytes(terms.preamble, preamble_bytes);
}

bool read_record(const uint8_t in[terms_record_bytes], SharedTerms& terms) {
  Reader reader(in);
  const uint64_t kind = reader.number();
  if (kind > STOCKADE_SHARED_VERIFY) return false;
  terms.kind = static_cast<stockade_shared_kind>(kind);
  terms.header_length = reader.number();
  terms.length = reader.number();
  terms.slice_chunks = reader.number();
  read(reader, terms.input);
  reader.bytes(terms.id, job_id_bytes);
  reader.bytes(terms.preamble, preamble_bytes);
  return is_sound(terms);
}

// Where what write_record has written stands among the terms, and what follows it.
constexpr uint64_t record_offset = sizeof terms_name + 3 * 8, rest_offset = record_offset + terms_record_bytes;
static_assert(rest_offset + 3 * 8 + file_key_bytes <= STOCKADE_SHARED_TERMS_BYTES);

void write_terms(const SharedTerms& terms, uint8_t out[STOCKADE_SHARED_TERMS_BYTES]) {
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

Status read_terms(const uint8_t in[STOCKADE_SHARED_TERMS_BYTES], SharedTerms& terms) {
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

}  // namespace stockade::format
