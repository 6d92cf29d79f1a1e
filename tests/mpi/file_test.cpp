// A file that ranks make together is the one that a single process makes of the same file key and salts, byte for byte;
// any number of ranks reads it; and an error anywhere leaves nothing, anywhere.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "cross/failing_memory.h"
#include "cross/file_sample.h"
#include "cross/sealed_oracle.h"
#include "mpi/file.h"
#include "mpi/ranks.h"

namespace stockade::tests {
namespace {

constexpr uint64_t chunk = STOCKADE_CHUNK_BYTES;

Bytes counting(uint8_t first, uint64_t length) {
  Bytes bytes(length);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

Bytes content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// Lengths at which something changes, then any.
std::vector<uint64_t> interesting_lengths(RandomSource& random) {
  std::vector<uint64_t> lengths = {0, 1, chunk, 3 * chunk + 1, 40 * chunk};
  for (uint64_t i = 0; i < cases(9); ++i) lengths.push_back(random.below(60 * chunk));
  return lengths;
}

// The ranks' pieces, not in the order of the ranks.
std::vector<Piece> shuffled_pieces(uint64_t length, RandomSource& random) {
  std::vector<Piece> pieces = random_pieces(length, random.one_in(3) ? chunk : 1, random);
  for (size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[random.below(i)]);
  return pieces;
}

class TeamFile : public testing::Test {
 protected:
  TeamFile() : ring_(keyring_of({counting(100, 32)})), format_(format_for(ring_)) {}

  const std::string& path() const { return path_; }
  const stockade_format* first_format() const { return rank() == 0 ? &format_ : nullptr; }

  stockade_status write(const Bytes& text, const Piece& piece) {
    return stockade_mpi_file_write(world(), path().c_str(), first_format(), text.data() + piece.offset, piece.offset,
                                   piece.length, nullptr, &fault_);
  }
  // All ranks have all of it: the same pieces of it.
  void make(const Bytes& text) {
    uint64_t begin, end;
    EXPECT_EQ(stockade_mpi_share(text.size(), rank(), ranks(), &begin, &end), STOCKADE_OK);
    EXPECT_TRUE(everywhere(write(text, {begin, end - begin}), STOCKADE_OK));
  }
  stockade_status read(uint64_t offset, Bytes& out, uint64_t& got) {
    return stockade_mpi_file_read(world(), path().c_str(), first_format(), out.data(), offset, out.size(), &got,
                                  nullptr, &fault_);
  }
  // Nothing is there but `names`.
  testing::AssertionResult holds(std::vector<std::string> names) {
    meet();
    std::vector<std::string> found = folder_.names();
    meet();
    std::sort(found.begin(), found.end());
    return found == names ? testing::AssertionSuccess()
                          : testing::AssertionFailure() << found.size() << " files in the folder";
  }
  testing::AssertionResult fault_is(const stockade_fault& expected) const {
    return describe(fault_) == describe(expected) ? testing::AssertionSuccess()
                                                  : testing::AssertionFailure() << describe(fault_);
  }

  const SharedFolder folder_;
  const std::string path_ = folder_ / "file";
  const KeyringHandle ring_;
  stockade_format format_;
  stockade_fault fault_{};
  RandomSource random_;
};

TEST_F(TeamFile, is_what_one_process_makes) {
  format::Keyring ring;
  auto key = std::make_unique<format::Keyring::SymmetricKey>();
  const Bytes key_bytes = counting(100, 32);
  std::copy(key_bytes.begin(), key_bytes.end(), *key->bytes);
  ring.keys.push_back(std::move(key));
  constexpr uint8_t first = 17;
  for (const uint64_t length : interesting_lengths(random_)) {
    const Bytes text = random_.bytes(length);
    const Piece piece = shuffled_pieces(length, random_)[rank()];
    format::FileFormat format;
    format.keyring = rank() == 0 ? &ring : nullptr;
    format.cipher = random_.one_in(2) ? STOCKADE_COBBLESTONE_256 : STOCKADE_COBBLESTONE_128;
    mpi::Communicator team;
    EXPECT_EQ(team.open(MPI_COMM_WORLD, 0), STOCKADE_OK);
    CountingRandom random(first);
    const config::EngineChoice engine{config::Kind::threads, static_cast<uint32_t>(random_.between(1, 3))};
    const mpi::FileWriting writing{
        path().c_str(), &format, {text.data() + piece.offset, piece.length}, piece.offset};
    stockade_fault fault;
    EXPECT_TRUE(everywhere(mpi::write_file(team, STOCKADE_OK, writing, engine, random, fault), STOCKADE_OK));
    const Bytes expected = oracle_file(format.cipher, {key_bytes}, counting(first, 32), {counting(first + 32, 16)},
                                       counting(first + 48, 24), text);
    EXPECT_TRUE(content(path()) == expected)
        << length << " bytes, rank " << rank() << " has " << piece.length << " at " << piece.offset;
    EXPECT_TRUE(holds({"file"}));
  }
}

TEST_F(TeamFile, may_be_plain_cobblestone) {
  const Bytes key = random_.bytes(16), context = random_.bytes(40), text = random_.bytes(3 * chunk + 5);
  format_ = plain_format(key, context);
  format_.cipher = STOCKADE_COBBLESTONE_128;
  make(text);
  const Bytes file = content(path());
  const Bytes salt(file.begin(), file.begin() + 24);
  EXPECT_TRUE(file == oracle_payload(STOCKADE_COBBLESTONE_128, key, salt, context, text));
  Bytes out(text.size());
  uint64_t got = 0;
  EXPECT_TRUE(everywhere(read(0, out, got), STOCKADE_OK));
  EXPECT_EQ(got, text.size());
  EXPECT_EQ(out, text);
}

TEST_F(TeamFile, opens_in_every_way_of_one_process) {
  const Bytes text = random_.bytes(5 * chunk + 3);
  make(text);
  if (rank() != 0) return;
  const Bytes file = content(path());
  for (const Way& way : ways_to_open()) {
    const Opened opened = way.open(format_, file);
    EXPECT_EQ(opened.status, STOCKADE_OK) << way.name;
    EXPECT_TRUE(!way.releases() || opened.text == text) << way.name;
  }
}

TEST_F(TeamFile, of_one_process_is_read_by_all) {
  for (const uint64_t length : interesting_lengths(random_)) {
    const Bytes text = sample_text(length);
    if (rank() == 0) put(path(), seal(format_, text));
    meet();
    stockade_mpi_reader* reader = nullptr;
    EXPECT_TRUE(everywhere(
        stockade_mpi_reader_create(&reader, world(), path().c_str(), first_format(), nullptr, &fault_), STOCKADE_OK));
    EXPECT_EQ(stockade_mpi_reader_length(reader), length);
    // A range of its own for each rank, up to and beyond the end.
    RandomSource own("ranges " + std::to_string(rank()) + " " + std::to_string(length));
    for (int i = 0; i < 2; ++i) {
      const uint64_t offset = own.below(length + chunk), wanted = own.one_in(4) ? 0 : own.below(length + chunk);
      Bytes out(wanted, 0xee);
      uint64_t got = 77;
      EXPECT_TRUE(
          everywhere(stockade_mpi_reader_read_at(reader, offset, out.data(), out.size(), &got, &fault_), STOCKADE_OK));
      const uint64_t expected = std::min(wanted, length - std::min(length, offset));
      EXPECT_EQ(got, expected);
      EXPECT_TRUE(std::equal(out.begin(), out.begin() + static_cast<ptrdiff_t>(expected),
                             text.begin() + static_cast<ptrdiff_t>(std::min(length, offset))));
      EXPECT_TRUE(std::all_of(out.begin() + static_cast<ptrdiff_t>(expected), out.end(),
                              [](uint8_t byte) { return byte == 0xee; }));
    }
    stockade_mpi_reader_free(reader);
  }
}

TEST_F(TeamFile, replaces_one_of_its_name_when_it_is_complete) {
  if (rank() == 0) put(path(), Bytes(100, 1));
  meet();
  const Bytes text = random_.bytes(2 * chunk);
  make(text);
  Bytes out(text.size());
  uint64_t got = 0;
  EXPECT_TRUE(everywhere(read(0, out, got), STOCKADE_OK));
  EXPECT_EQ(out, text);
  EXPECT_TRUE(holds({"file"}));
}

// --- errors while it is made ---------------------------------------------------------------------------------------

class TeamFileRefusal : public TeamFile {
 protected:
  // Nothing is left of the new file, and the old one of that name stands.
  void leaves_all_as_it_was() {
    EXPECT_TRUE(holds({"file"}));
    EXPECT_EQ(content(path()), old_);
    meet();
  }
  void SetUp() override {
    if (rank() == 0) put(path(), old_);
    meet();
  }

  const Bytes old_ = Bytes(100, 1);
  const Bytes text_ = random_.bytes(uint64_t{40} * chunk);
  Piece piece_ = even_piece();

 private:
  Piece even_piece() {
    uint64_t begin, end;
    stockade_mpi_share(text_.size(), rank(), ranks(), &begin, &end);
    return {begin, end - begin};
  }
};

TEST_F(TeamFileRefusal, of_pieces_that_do_not_fit_together) {
  Piece piece = piece_;
  if (is_odd()) piece.offset += 1;
  EXPECT_TRUE(
      everywhere(write(text_, {std::min(piece.offset, text_.size()), piece.length - 1}), STOCKADE_ERROR_ARGUMENT));
  EXPECT_TRUE(fault_is(fault_of(STOCKADE_ERROR_ARGUMENT)));
  leaves_all_as_it_was();
  if (ranks() == 1) return;
  EXPECT_TRUE(everywhere(write(text_, is_odd() ? Piece{0, text_.size()} : piece_), STOCKADE_ERROR_ARGUMENT));
  leaves_all_as_it_was();
}

TEST_F(TeamFileRefusal, of_what_is_missing_on_one_rank) {
  const auto attempt = [&](bool has_path, bool has_buffer) {
    return stockade_mpi_file_write(world(), has_path ? path().c_str() : nullptr, first_format(),
                                   has_buffer ? text_.data() + piece_.offset : nullptr, piece_.offset, piece_.length,
                                   nullptr, nullptr);
  };
  EXPECT_TRUE(everywhere(attempt(!is_odd(), true), STOCKADE_ERROR_NULL_POINTER));
  EXPECT_TRUE(everywhere(attempt(true, !is_odd()), STOCKADE_ERROR_NULL_POINTER));
  EXPECT_TRUE(
      everywhere(stockade_mpi_file_write(world(), path().c_str(), nullptr, text_.data(), 0, 0, nullptr, nullptr),
                 STOCKADE_ERROR_NULL_POINTER));
  EXPECT_EQ(stockade_mpi_file_write(nullptr, "x", nullptr, nullptr, 0, 0, nullptr, nullptr),
            STOCKADE_ERROR_NULL_POINTER);
  leaves_all_as_it_was();
}

TEST_F(TeamFileRefusal, of_formats_that_cannot_be) {
  format_.armor = 1;
  EXPECT_TRUE(everywhere(write(text_, piece_), STOCKADE_ERROR_MODE));
  const KeyringHandle empty = keyring_of(std::vector<Bytes>{});
  format_ = format_for(empty);
  EXPECT_TRUE(everywhere(write(text_, piece_), STOCKADE_ERROR_NO_IDENTITY));
  EXPECT_TRUE(fault_is(fault_of(STOCKADE_ERROR_NO_IDENTITY)));
  format_.struct_size = 1;
  EXPECT_TRUE(everywhere(write(text_, piece_), STOCKADE_ERROR_ARGUMENT));
  leaves_all_as_it_was();
}

TEST_F(TeamFileRefusal, of_places_that_are_not_there) {
  const auto attempt = [&](const std::string& to) {
    return stockade_mpi_file_write(world(), to.c_str(), first_format(), text_.data() + piece_.offset, piece_.offset,
                                   piece_.length, nullptr, nullptr);
  };
  errno = 0;
  stockade_status status = attempt(folder_ / "nowhere/file");
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(everywhere(status, STOCKADE_ERROR_IO));
  // One rank is in another folder.
  errno = 0;
  status = attempt(is_odd() && ranks() > 1 ? "/tmp/file" : folder_ / (ranks() > 1 ? "file" : "nowhere/file"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(everywhere(status, STOCKADE_ERROR_IO));
  errno = 0;
  status = attempt(folder_ / ".");
  EXPECT_EQ(errno, EISDIR);
  EXPECT_TRUE(everywhere(status, STOCKADE_ERROR_IO));
  leaves_all_as_it_was();
}

TEST_F(TeamFileRefusal, of_one_rank_that_cannot_write) {
  // The last rank's place is behind what it may write.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{}, less{};
  getrlimit(RLIMIT_FSIZE, &old);
  less = old;
  if (is_odd()) less.rlim_cur = 10 * chunk / ranks();
  setrlimit(RLIMIT_FSIZE, &less);
  errno = 0;
  const stockade_status status = write(text_, piece_);
  EXPECT_EQ(errno, EFBIG);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_TRUE(everywhere(status, STOCKADE_ERROR_IO));
  EXPECT_TRUE(fault_is(fault_of(STOCKADE_ERROR_IO)));
  leaves_all_as_it_was();
}

TEST_F(TeamFileRefusal, of_one_rank_without_memory) {
  // Every way to run out of it, as far as the call goes; libcrypto's part is not told apart.
  bool done = false;
  for (uint64_t successes = 0;
       !done && successes<300; successes += ranks()> 2 ? 1 + successes / 2 : 1 + successes / 8) {
    stockade_status status;
    uint64_t refused;
    {
      const FailingMemory memory(is_odd() ? successes : UINT64_MAX);
      status = write(text_, piece_);
      refused = memory.refused();
    }
    uint8_t enough = refused == 0 ? 1 : 0;
    stockade_mpi_broadcast(world(), odd_one(), &enough, 1);
    done = enough != 0;
    const bool said = status == STOCKADE_ERROR_MEMORY || status == STOCKADE_ERROR_LIBRARY;
    EXPECT_TRUE(done ? status == STOCKADE_OK : said) << successes << ": " << stockade_status_name(status);
    EXPECT_TRUE(everywhere(status, status));
    if (!done) leaves_all_as_it_was();
  }
  EXPECT_TRUE(done);
}

// --- errors while it is read -----------------------------------------------------------------------------------------

TEST_F(TeamFile, that_is_damaged_where_one_rank_reads_is_released_to_nobody) {
  const Bytes text = random_.bytes(64 * chunk);
  make(text);
  if (rank() == 0) {
    Bytes file = content(path());
    file[sample_chunk(50) + 3] ^= 1;
    file[sample_chunk(52)] ^= 1;
    put(path(), file);
  }
  meet();
  Bytes out((is_odd() ? 64 : 10) * chunk, 0xee);
  uint64_t got = 77;
  EXPECT_TRUE(everywhere(read(0, out, got), STOCKADE_ERROR_CHUNK));
  EXPECT_EQ(got, 0U);
  EXPECT_EQ(out, Bytes(out.size()));
  EXPECT_TRUE(fault_is({STOCKADE_ERROR_CHUNK, 50, sample_chunk(50), 0, 0}));
  // What is intact is read.
  Bytes intact(chunk);
  EXPECT_TRUE(everywhere(read(51 * chunk, intact, got), STOCKADE_OK));
  EXPECT_TRUE(std::equal(intact.begin(), intact.end(), text.begin() + 51 * chunk));
}

TEST_F(TeamFile, that_is_cut_or_not_there_is_refused_everywhere) {
  Bytes out(10);
  uint64_t got = 0;
  errno = 0;
  stockade_status status = read(0, out, got);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(everywhere(status, STOCKADE_ERROR_IO));
  make(random_.bytes(4 * chunk));
  // One rank looks elsewhere, where there is none, and then where there is another one.
  const auto look = [&](const std::string& where) {
    return stockade_mpi_file_read(world(), where.c_str(), first_format(), out.data(), 0, out.size(), &got, nullptr,
                                  &fault_);
  };
  errno = 0;
  status = look(is_odd() ? folder_ / "nothing" : path());
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(everywhere(status, STOCKADE_ERROR_IO));
  if (rank() == 0) put(folder_ / "other", Bytes(100));
  meet();
  if (ranks() > 1) {
    EXPECT_TRUE(everywhere(look(is_odd() ? folder_ / "other" : path()), STOCKADE_ERROR_INPUT_CHANGED));
  }
  const Bytes file = content(path());
  meet();
  if (rank() == 0) put(path(), Bytes(file.begin(), file.begin() + sample_chunk(2) + 100));
  meet();
  EXPECT_TRUE(everywhere(read(0, out, got), STOCKADE_ERROR_CHUNK));
  EXPECT_TRUE(fault_is({STOCKADE_ERROR_CHUNK, 2, sample_chunk(2), 0, 1}));
  meet();
  if (rank() == 0) put(path(), in_armor(file));
  meet();
  EXPECT_TRUE(everywhere(read(0, out, got), STOCKADE_ERROR_ARMOR));
  EXPECT_TRUE(everywhere(look(folder_ / "."), STOCKADE_ERROR_MODE));
}

TEST_F(TeamFile, that_nobody_has_the_key_for_is_refused_everywhere) {
  make(random_.bytes(100));
  const KeyringHandle other = keyring_of({counting(1, 32)});
  format_ = format_for(other);
  Bytes out(100, 0xee);
  uint64_t got = 0;
  EXPECT_TRUE(everywhere(read(0, out, got), STOCKADE_ERROR_NO_IDENTITY));
  EXPECT_EQ(out, Bytes(100));
  EXPECT_TRUE(
      everywhere(stockade_mpi_file_read(world(), path().c_str(), nullptr, out.data(), 0, 100, &got, nullptr, nullptr),
                 STOCKADE_ERROR_NULL_POINTER));
}

TEST_F(TeamFile, is_read_into_what_is_there) {
  make(random_.bytes(100));
  Bytes out(100);
  uint64_t got = 0;
  EXPECT_TRUE(everywhere(stockade_mpi_file_read(world(), path().c_str(), first_format(),
                                                is_odd() ? nullptr : out.data(), 0, 100, &got, nullptr, nullptr),
                         STOCKADE_ERROR_NULL_POINTER));
  stockade_mpi_reader* reader = nullptr;
  EXPECT_TRUE(everywhere(stockade_mpi_reader_create(is_odd() ? nullptr : &reader, world(), path().c_str(),
                                                    first_format(), nullptr, nullptr),
                         STOCKADE_ERROR_NULL_POINTER));
  EXPECT_TRUE(everywhere(stockade_mpi_reader_create(&reader, world(), path().c_str(), first_format(), nullptr, nullptr),
                         STOCKADE_OK));
  EXPECT_TRUE(everywhere(stockade_mpi_reader_read_at(reader, 0, out.data(), 100, is_odd() ? nullptr : &got, nullptr),
                         STOCKADE_ERROR_NULL_POINTER));
  stockade_mpi_reader_free(reader);
  stockade_mpi_reader_free(nullptr);
  EXPECT_EQ(stockade_mpi_reader_length(nullptr), 0U);
}

}  // namespace
}  // namespace stockade::tests
