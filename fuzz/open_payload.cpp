// Opens what never was a payload, and valid payloads that were damaged on the way, by the roads that the C interface has:
// at once, and then in pieces, by pulling, by descriptor or through a reader. The tags cannot be forged, so:
//  - what was not changed opens, by every road, to the same plaintext;
//  - what was changed is refused by every road, and whatever was released before is a run of whole chunks of the plaintext;
//  - status and fault do not depend on how the bytes were cut into pieces.
//
// Input: a byte of flags, a byte from which the sizes of all pieces follow, and either the bytes to open or a recipe for a
// payload and its damage.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stockade/stockade.h"

namespace {

using Bytes = std::vector<uint8_t>;
using View = std::span<const uint8_t>;

constexpr uint8_t key[32] = {'o', 'p', 'e', 'n', '_', 'p', 'a', 'y', 'l', 'o', 'a', 'd'};
constexpr std::string_view context = "fuzz";

// Flags of the first byte.
constexpr uint8_t stockade_form = 1;  // else plain Cobblestone
constexpr uint8_t aes_128 = 2;
constexpr uint8_t recipe = 4;  // else the rest is opened as it stands
constexpr uint8_t armored = 8;
constexpr uint8_t made_by_pull = 16;
constexpr int road_shift = 6;  // the two highest bits choose the second road

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "open_payload: %s\n", what);
  std::abort();
}

// The input, byte by byte; zeros once it is used up.
class Choices {
 public:
  explicit Choices(View input) : input_(input) {}
  bool empty() const { return input_.empty(); }
  uint32_t byte() {
    if (input_.empty()) return 0;
    const uint8_t value = input_.front();
    input_ = input_.subspan(1);
    return value;
  }
  uint32_t word() { return byte() << 8 | byte(); }
  // Any place below `limit`, which is less than 2^24.
  size_t place(size_t limit) { return limit == 0 ? 0 : (byte() << 16 | word()) % limit; }
  View take(size_t size) {
    const View taken = input_.first(std::min(size, input_.size()));
    input_ = input_.subspan(taken.size());
    return taken;
  }
  View rest() { return take(input_.size()); }

 private:
  View input_;
};

// Sizes of pieces: as many small ones as large ones, 0 and whole chunks among them.
class Sizes {
 public:
  explicit Sizes(uint32_t seed) : state_(seed * 2654435761u + 1) {}
  size_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<uint32_t>(state_ >> 32);
    if (bits % 16 == 0) return STOCKADE_SEALED_CHUNK_BYTES;
    return (bits >> 8) % (1u << (bits >> 4) % 17);
  }

 private:
  uint64_t state_;
};

const stockade_engine* engine() {
  static const stockade_engine* const serial = [] {
    stockade_engine* made = nullptr;
    require(stockade_engine_create(&made, "serial", 1) == STOCKADE_OK, "no engine");
    return made;
  }();
  return serial;
}

const stockade_keyring* keyring() {
  static const stockade_keyring* const ring = [] {
    stockade_keyring* made = nullptr;
    require(stockade_keyring_create(&made) == STOCKADE_OK, "no keyring");
    require(stockade_keyring_add_key(made, key, sizeof key) == STOCKADE_OK, "the keyring takes no key");
    return made;
  }();
  return ring;
}

stockade_format format_for(uint32_t flags) {
  stockade_format format = {};
  format.struct_size = sizeof format;
  format.cipher = (flags & aes_128) != 0 ? STOCKADE_COBBLESTONE_128 : STOCKADE_COBBLESTONE_256;
  if ((flags & stockade_form) != 0) {
    format.keyring = keyring();
    format.armor = (flags & armored) != 0 ? 1 : 0;
  } else {
    format.key = key;
    format.key_length = (flags & aes_128) != 0 ? 16 : 32;
    format.context = context.data();
    format.context_length = context.size();
  }
  return format;
}

struct Outcome {
  stockade_status status = STOCKADE_OK;
  stockade_fault fault = {};
  Bytes bytes;  // what was released
};

struct FreeFile {
  void operator()(stockade_file* file) const { stockade_file_free(file); }
};
using File = std::unique_ptr<stockade_file, FreeFile>;

File make_file(stockade_direction direction, const stockade_format& format) {
  stockade_file* made = nullptr;
  require(stockade_file_create(&made, direction, &format, engine()) == STOCKADE_OK, "no file");
  return File(made);
}

void note_fault(const File& file, Outcome& outcome) {
  if (outcome.status == STOCKADE_OK) return;
  require(stockade_file_fault(file.get(), &outcome.fault) == STOCKADE_OK, "no fault");
  require(outcome.fault.status == outcome.status, "the fault is not that of the status");
  char text[256];
  require(stockade_fault_text(&outcome.fault, text, sizeof text) == STOCKADE_OK && *text != '\0',
          "no text for a fault");
}

// One call of update, or of final for null. The output has not a byte more than the bound.
void push(const File& file, const View* piece, Outcome& outcome) {
  Bytes out(stockade_file_bound(file.get(), piece != nullptr ? piece->size() : 0));
  uint64_t written = 0;
  outcome.status = piece != nullptr ? stockade_file_update(file.get(), piece->data(), piece->size(), out.data(),
                                                           out.size(), &written)
                                    : stockade_file_final(file.get(), out.data(), out.size(), &written);
  require(written <= out.size(), "more than the bound was written");
  require(outcome.status == STOCKADE_OK || written == 0, "output with an error");
  outcome.bytes.insert(outcome.bytes.end(), out.begin(), out.begin() + static_cast<ptrdiff_t>(written));
}

// Without sizes: all in one piece.
Outcome by_pushing(stockade_direction direction, const stockade_format& format, View in, Sizes* sizes) {
  const File file = make_file(direction, format);
  Outcome outcome;
  size_t done = 0;
  while (outcome.status == STOCKADE_OK && done < in.size()) {
    const View piece = in.subspan(done, sizes != nullptr ? std::min(sizes->next(), in.size() - done) : in.size());
    push(file, &piece, outcome);
    done += piece.size();
  }
  if (outcome.status == STOCKADE_OK) push(file, nullptr, outcome);
  note_fault(file, outcome);
  uint64_t written = 0;
  require(stockade_file_final(file.get(), nullptr, 0, &written) == STOCKADE_ERROR_STATE,
          "a file that has ended goes on");
  return outcome;
}

Outcome by_pulling(stockade_direction direction, const stockade_format& format, View in, Sizes sizes) {
  struct Source {
    View left;
    Sizes sizes;
  } source{in, sizes};
  const auto read = [](void* from, void* buffer, uint64_t size) -> int64_t {
    auto& [left, sizes_of_reads] = *static_cast<Source*>(from);
    const size_t count = std::min({static_cast<size_t>(size), left.size(), sizes_of_reads.next() + 1});
    std::copy_n(left.data(), count, static_cast<uint8_t*>(buffer));
    left = left.subspan(count);
    return static_cast<int64_t>(count);
  };
  const File file = make_file(direction, format);
  Outcome outcome;
  for (uint64_t written = 1; outcome.status == STOCKADE_OK && written > 0;) {
    Bytes out(sizes.next() + 1);
    outcome.status = stockade_file_pull(file.get(), read, &source, out.data(), out.size(), &written);
    require(written <= out.size(), "more than was asked for was pulled");
    require(outcome.status == STOCKADE_OK || written == 0, "output with an error");
    outcome.bytes.insert(outcome.bytes.end(), out.begin(), out.begin() + static_cast<ptrdiff_t>(written));
  }
  note_fault(file, outcome);
  return outcome;
}

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(View content) : fd_(memfd_create("open_payload", 0)) {
    require(fd_ >= 0 && write(fd_, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
                lseek(fd_, 0, SEEK_SET) == 0,
            "no file in memory");
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }
  Bytes content() const {
    Bytes bytes(static_cast<size_t>(lseek(fd_, 0, SEEK_END)));
    require(pread(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()), "no content");
    return bytes;
  }

 private:
  int fd_;
};

Outcome by_descriptor(const stockade_format& format, View in) {
  const MemoryFile source(in), target(View{});
  stockade_file_job job = {};
  job.struct_size = sizeof job;
  Outcome outcome;
  outcome.status = stockade_file_decrypt_fd(source.fd(), target.fd(), &format, &job, engine());
  outcome.fault = job.fault;
  outcome.bytes = target.content();
  require(outcome.status == STOCKADE_OK || outcome.bytes.empty(), "a refused file left output");
  require(outcome.status != STOCKADE_OK || job.out_length == outcome.bytes.size(), "the job counts wrongly");
  require(lseek(source.fd(), 0, SEEK_SET) == 0, "no way back");
  const stockade_status verified = stockade_file_verify_fd(source.fd(), &format, &job, engine());
  require((verified == STOCKADE_OK) == (outcome.status == STOCKADE_OK), "verify and decrypt disagree");
  return outcome;
}

struct FreeReader {
  void operator()(stockade_reader* reader) const { stockade_reader_free(reader); }
};
using Reader = std::unique_ptr<stockade_reader, FreeReader>;

// One range into a buffer of exactly its size; appends what was read.
stockade_status read_range(const Reader& reader, uint64_t offset, size_t size, Bytes& bytes) {
  constexpr uint8_t untouched = 0xA5;
  Bytes out(size, untouched);
  uint64_t written = 0;
  const stockade_status status =
      stockade_reader_read_at(reader.get(), offset, out.data(), out.size(), &written, nullptr);
  if (status != STOCKADE_OK) {
    require(std::all_of(out.begin(), out.end(), [](uint8_t b) { return b == 0 || b == untouched; }),
            "a refused range left something in the buffer");
    return status;
  }
  const uint64_t length = stockade_reader_length(reader.get());
  const uint64_t expected = offset < length ? std::min<uint64_t>(size, length - offset) : 0;
  require(written == expected, "a range of another length");
  bytes.insert(bytes.end(), out.begin(), out.begin() + static_cast<ptrdiff_t>(written));
  return status;
}

// Reads everything in ranges, then some at any place, which must be parts of `plaintext` where there is one to compare.
Outcome by_reader(const stockade_format& format, View in, Sizes sizes, const Bytes* plaintext) {
  View source = in;
  const auto read_at = [](void* from, uint64_t offset, void* buffer, uint64_t length) -> int {
    const View& all = *static_cast<const View*>(from);
    require(offset <= all.size() && length <= all.size() - offset, "a read past the end of the file");
    std::copy_n(all.data() + offset, length, static_cast<uint8_t*>(buffer));
    return 0;
  };
  Outcome outcome;
  stockade_reader* made = nullptr;
  outcome.status = stockade_reader_create(&made, read_at, &source, in.size(), &format, engine(), &outcome.fault);
  const Reader reader(made);
  if (outcome.status != STOCKADE_OK) return outcome;
  const uint64_t length = stockade_reader_length(reader.get());
  require(plaintext == nullptr || length == plaintext->size(), "an authenticated last chunk at the wrong place");
  while (outcome.status == STOCKADE_OK && outcome.bytes.size() < length) {
    outcome.status = read_range(reader, outcome.bytes.size(), sizes.next() + 1, outcome.bytes);
  }
  for (int i = 0; i < 3; ++i) {
    const uint64_t offset = sizes.next() * 5 % (length + 2);
    Bytes part;
    if (read_range(reader, offset, sizes.next(), part) != STOCKADE_OK || plaintext == nullptr || part.empty()) continue;
    require(std::equal(part.begin(), part.end(), plaintext->begin() + static_cast<ptrdiff_t>(offset)),
            "a range that is not the plaintext");
  }
  return outcome;
}

bool begins_with(const Bytes& all, const Bytes& part) {
  return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
}

void require_same_fault(const Outcome& a, const Outcome& b) {
  require(a.status == b.status, "the status depends on the pieces");
  require(a.status == STOCKADE_OK || (a.fault.chunk == b.fault.chunk && a.fault.offset == b.fault.offset &&
                                      a.fault.line == b.fault.line && a.fault.value == b.fault.value),
          "the fault depends on the pieces");
}

// The other roads, each to be compared with what comes of opening all at once. `plaintext` is what the payload was made
// of, or null. Whole chunks are what pieces release before a failure; who pulls is given them in the parts asked for.

void require_prefix(const Bytes* plaintext, const Bytes& released) {
  require(plaintext == nullptr || begins_with(*plaintext, released), "something else than the plaintext was released");
}

void open_in_pieces(const stockade_format& format, View in, Sizes sizes, const Outcome& whole, const Bytes* plaintext) {
  const Outcome pieces = by_pushing(STOCKADE_DECRYPT, format, in, &sizes);
  require_same_fault(whole, pieces);
  require_prefix(plaintext, pieces.bytes);
  require(whole.status != STOCKADE_OK || pieces.bytes == whole.bytes, "the plaintext depends on the pieces");
  const bool complete = plaintext != nullptr && pieces.bytes.size() == plaintext->size();
  require(whole.status == STOCKADE_OK || complete || pieces.bytes.size() % STOCKADE_CHUNK_BYTES == 0,
          "a part of a chunk was released");
}

void open_by_pulling(const stockade_format& format, View in, Sizes sizes, const Outcome& whole,
                     const Bytes* plaintext) {
  const Outcome pulled = by_pulling(STOCKADE_DECRYPT, format, in, sizes);
  require_same_fault(whole, pulled);
  require_prefix(plaintext, pulled.bytes);
  require(whole.status != STOCKADE_OK || pulled.bytes == whole.bytes, "the plaintext depends on who asks for it");
}

void open_by_descriptor(const stockade_format& format, View in, const Outcome& whole) {
  const Outcome written = by_descriptor(format, in);
  require((written.status == STOCKADE_OK) == (whole.status == STOCKADE_OK), "a descriptor is judged differently");
  require(whole.status != STOCKADE_OK || written.bytes == whole.bytes, "a descriptor gives something else");
}

void open_by_reader(const stockade_format& format, View in, Sizes sizes, const Outcome& whole, const Bytes* plaintext) {
  const Outcome ranges = by_reader(format, in, sizes, plaintext);
  require_prefix(plaintext, ranges.bytes);
  if (ranges.status == STOCKADE_ERROR_ARMOR) {
    require(format.keyring != nullptr && !in.empty() && in[0] == '-', "armor where there is none");
    return;
  }
  require((ranges.status == STOCKADE_OK) == (whole.status == STOCKADE_OK), "a reader judges differently");
  require(whole.status != STOCKADE_OK || ranges.bytes == whole.bytes, "a reader gives something else");
}

// All at once, and by the road that the flags choose.
Outcome open_twice(const stockade_format& format, View in, uint32_t flags, Sizes sizes, const Bytes* plaintext) {
  Outcome whole = by_pushing(STOCKADE_DECRYPT, format, in, nullptr);
  switch (flags >> road_shift) {
    case 0:
      open_in_pieces(format, in, sizes, whole, plaintext);
      break;
    case 1:
      open_by_pulling(format, in, sizes, whole, plaintext);
      break;
    case 2:
      open_by_descriptor(format, in, whole);
      break;
    default:
      open_by_reader(format, in, sizes, whole, plaintext);
  }
  return whole;
}

// Up to five chunks, with a length near their borders more often than not.
Bytes make_plaintext(Choices& choices) {
  constexpr uint32_t tails[] = {0, 1, 15, 16, 17, STOCKADE_CHUNK_BYTES - 1};
  const uint32_t chunks = choices.byte() % 5, kind = choices.byte() % 8;
  const uint32_t tail = kind < std::size(tails) ? tails[kind] : choices.word() % STOCKADE_CHUNK_BYTES;
  Bytes plaintext(chunks * STOCKADE_CHUNK_BYTES + tail);
  uint32_t value = choices.byte() + 1;
  for (uint8_t& byte : plaintext) byte = static_cast<uint8_t>((value = value * 1664525u + 1013904223u) >> 24);
  return plaintext;
}

// Where chunks lie, so that whole ones can be moved.
struct Chunks {
  size_t begin = STOCKADE_PREAMBLE_BYTES;
  size_t count(const Bytes& file) const {
    return file.size() <= begin ? 0
                                : (file.size() - begin + STOCKADE_SEALED_CHUNK_BYTES - 1) / STOCKADE_SEALED_CHUNK_BYTES;
  }
  size_t offset(const Bytes& file, size_t index) const {
    return std::min(file.size(), begin + index * STOCKADE_SEALED_CHUNK_BYTES);
  }
  Bytes get(const Bytes& file, size_t index) const {
    return {file.begin() + static_cast<ptrdiff_t>(offset(file, index)),
            file.begin() + static_cast<ptrdiff_t>(offset(file, index + 1))};
  }
  void erase(Bytes& file, size_t index) const {
    file.erase(file.begin() + static_cast<ptrdiff_t>(offset(file, index)),
               file.begin() + static_cast<ptrdiff_t>(offset(file, index + 1)));
  }
  void insert(Bytes& file, size_t index, const Bytes& chunk) const {
    file.insert(file.begin() + static_cast<ptrdiff_t>(offset(file, index)), chunk.begin(), chunk.end());
  }
};

size_t header_length(const Bytes& file) {
  stockade_header* header = nullptr;
  require(stockade_header_parse(&header, file.data(), file.size(), nullptr) == STOCKADE_OK,
          "our header does not parse");
  const uint64_t length = stockade_header_length(header);
  stockade_header_free(header);
  return length;
}

void damage_once(Bytes& file, const Chunks& chunks, Choices& choices) {
  const uint32_t kind = choices.byte() % 7;
  const size_t count = chunks.count(file);
  if (kind == 0 && !file.empty()) {
    const size_t place = choices.place(file.size());
    file[place] ^= static_cast<uint8_t>(choices.byte());
  } else if (kind == 1) {
    file.resize(choices.place(file.size() + 1));
  } else if (kind == 2) {
    file.resize(chunks.offset(file, choices.place(count + 1)));
  } else if (kind == 3) {
    const View more = choices.take(choices.byte() % 64);
    file.insert(file.end(), more.begin(), more.end());
  } else if (count > 0) {
    const size_t from = choices.place(count);
    const Bytes chunk = chunks.get(file, from);
    // Copied, moved, or taken away.
    if (kind != 4) chunks.erase(file, from);
    if (kind != 6) chunks.insert(file, choices.place(count + 1), chunk);
  }
}

// May give the file back as it was: some damage undoes other damage, or changes nothing.
Bytes damaged(Bytes file, const Chunks& chunks, Choices& choices) {
  for (int i = 0; i < 8 && !choices.empty() && file.size() < (1 << 18); ++i) damage_once(file, chunks, choices);
  return file;
}

void open_damaged(uint32_t flags, Sizes sizes, Choices& choices) {
  const stockade_format format = format_for(flags);
  const Bytes plaintext = make_plaintext(choices);
  const Outcome made = (flags & made_by_pull) != 0 ? by_pulling(STOCKADE_ENCRYPT, format, plaintext, sizes)
                                                   : by_pushing(STOCKADE_ENCRYPT, format, plaintext, &sizes);
  require(made.status == STOCKADE_OK, "a file could not be made");
  const bool binary = format.armor == 0;
  Chunks chunks;
  if (binary) {
    if (format.keyring != nullptr) chunks.begin += header_length(made.bytes);
    const size_t tags = 16 * (plaintext.size() / STOCKADE_CHUNK_BYTES + 1);
    require(made.bytes.size() == chunks.begin + plaintext.size() + tags, "a payload of another length");
  }
  const Bytes file = damaged(made.bytes, chunks, choices);
  const Outcome outcome = open_twice(format, file, flags, sizes, &plaintext);
  if (file == made.bytes) {
    require(outcome.status == STOCKADE_OK && outcome.bytes == plaintext, "an intact file does not open");
  } else {
    require(outcome.status != STOCKADE_OK, "a damaged file was accepted");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choices choices({data, size});
  const uint32_t flags = choices.byte();
  const Sizes sizes(choices.byte());
  if ((flags & recipe) != 0) {
    open_damaged(flags, sizes, choices);
  } else {
    open_twice(format_for(flags), choices.rest(), flags, sizes, nullptr);
  }
  return 0;
}
