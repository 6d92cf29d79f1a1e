#include "mpi/message.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "base/bytes.h"
#include "base/secret.h"
#include "cipher/check.h"
#include "cipher/span.h"

namespace stockade::mpi {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
// In the place of the root, where there is none.
constexpr uint32_t distributed = UINT32_MAX;

uint64_t blocks_in(uint64_t length) { return (length + block_bytes - 1) / block_bytes; }

// FNV-1a: tells apart by mistake, not by intention.
uint64_t fingerprint(Bytes bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

// What must be the same on all ranks, or they would do different things: as a number for Communicator::agree_on.
uint64_t nature_of(const DistributedMessage& message, uint32_t root) {
  const cipher::CipherKey& key = *message.key;
  // What the key makes of a block that is always the same stands for it.
  struct {
    uint32_t root, mode, direction, bits;
    uint8_t check[block_bytes];
  } nature{root, static_cast<uint32_t>(key.mode), static_cast<uint32_t>(message.direction), key.bits, {}};
  std::memcpy(nature.check, "stockade: a communicator", block_bytes);
  if (key.mode == STOCKADE_GCM) {
    key.gcm.variant->kernels->ecb_encrypt(key.gcm.schedule, nature.check, nature.check, 1, aes::Stores::ordinary);
  } else {
    key.aes.variant->kernels->ecb_encrypt(key.aes.data, nature.check, nature.check, 1, aes::Stores::ordinary);
  }
  return fingerprint({reinterpret_cast<const uint8_t*>(&nature), sizeof nature});
}

bool in_place_or_apart(const DistributedMessage& message) {
  return message.in == message.out || !ranges_overlap(message.in, message.length, message.out, message.length);
}

// What a rank can tell of its own arguments.
Status check_own(const DistributedMessage& message, bool leads, bool has_bytes) {
  if (message.refused != STOCKADE_OK) return message.refused;
  const cipher::CipherKey& key = *message.key;
  const bool fits = message.sealed ? key.mode == STOCKADE_GCM : key.mode == STOCKADE_ECB || key.mode == STOCKADE_CTR;
  if (!fits) return STOCKADE_ERROR_MODE;
  if (leads && message.sealed) {
    return cipher::check_sealed(key, message.direction, message.iv, message.iv_length, message.aad, message.aad_length,
                                message.in, message.length, message.out,
                                message.direction == STOCKADE_ENCRYPT ? message.sealed_tag : message.tag,
                                message.tag_length);
  }
  if (leads) return cipher::check_message(key, message.iv, message.iv_length, message.in, message.length, message.out);
  if (!has_bytes) return STOCKADE_OK;
  if (!message.sealed && aes::check_length(key.mode, message.length) != STOCKADE_OK) return STOCKADE_ERROR_DATA_LENGTH;
  return in_place_or_apart(message) ? STOCKADE_OK : STOCKADE_ERROR_OVERLAP;
}

void make_terms(const DistributedMessage& message, MessageTerms& terms) {
  terms.length = message.length;
  if (!message.sealed) {
    if (message.iv_length != 0) std::memcpy(terms.start, message.iv, sizeof terms.start);
    return;
  }
  terms.aad_length = message.aad_length;
  terms.tag_length = message.tag_length;
  gcm::derive_j0(message.key->gcm, message.iv, message.iv_length, terms.start);
  gcm::hash_padded(message.key->gcm, terms.hash, message.aad, message.aad_length);
  if (message.direction == STOCKADE_DECRYPT) std::memcpy(terms.tag, message.tag, message.tag_length);
}

// Checks what each rank has given, and tells all of them the terms. Nothing is written before it has returned OK.
Status settle(Communicator& communicator, uint32_t root, const DistributedMessage& message, MessageTerms& terms) {
  const uint32_t leader = root == distributed ? 0 : root;
  const bool leads = communicator.rank() == leader;
  Status status = leader < communicator.size() ? STOCKADE_OK : STOCKADE_ERROR_ARGUMENT;
  if (status == STOCKADE_OK) status = check_own(message, leads, leads || root == distributed);
  status = communicator.agree_on(status, status == STOCKADE_OK ? nature_of(message, root) : 0);
  if (status != STOCKADE_OK) return status;
  if (leads) make_terms(message, terms);
  return communicator.broadcast(&terms, sizeof terms, leader);
}

// One rank's share of a message: runs parts of it, in any order, and adds up their hashes, each multiplied by the power
// of H that the blocks behind it call for. The sum of all ranks' shares is the hash of the message.
class Work {
 public:
  // `terms` holds the length of the whole message by now.
  Work(const DistributedMessage& message, const MessageTerms& terms, const config::EngineChoice& engine)
      : key_(*message.key), direction_(message.direction), terms_(terms), engine_(engine) {}

  // The associated data, which one rank adds.
  void add_head() {
    if (key_.mode == STOCKADE_GCM) add(terms_.hash, blocks_in(terms_.length));
  }

  // Bytes that begin at `offset`, a multiple of 16.
  Status run(uint64_t offset, const uint8_t* in, uint64_t length, uint8_t* out) {
    if (length == 0) return STOCKADE_OK;
    Secret<uint8_t[block_bytes]> state;
    if (key_.mode != STOCKADE_GCM) {
      aes::start_chain(key_.aes, terms_.start, offset / block_bytes, nullptr, *state);
      return cipher::crypt_span(key_.aes, direction_, *state, in, out, length, engine_);
    }
    const Status status =
        cipher::gcm_span(key_.gcm, direction_, terms_.start, offset / block_bytes, *state, in, out, length, engine_);
    if (status == STOCKADE_OK) add(*state, blocks_in(terms_.length) - blocks_in(offset + length));
    return status;
  }

  // Puts the ranks' shares together to the message's tag, on all of them. Collective; GCM only.
  Status make_tag(Communicator& communicator, uint8_t tag[block_bytes]) {
    const Status status = communicator.combine_xor(*sum_, 2);
    const auto* const hash = reinterpret_cast<const uint8_t*>(*sum_);
    if (status == STOCKADE_OK) {
      gcm::finish_tag(key_.gcm, terms_.start, hash, terms_.aad_length, terms_.length, tag);
    }
    return status;
  }

 private:
  void add(const uint8_t hash[block_bytes], uint64_t blocks_behind) {
    constexpr uint8_t zero[block_bytes] = {};
    Secret<uint8_t[block_bytes]> shifted;
    std::memcpy(*shifted, hash, block_bytes);
    gcm::append_hash(key_.gcm, *shifted, zero, blocks_behind);
    auto* const sum = reinterpret_cast<uint8_t*>(*sum_);
    xor_bytes(sum, sum, *shifted, block_bytes);
  }

  const cipher::CipherKey& key_;
  const stockade_direction direction_;
  const MessageTerms& terms_;
  const config::EngineChoice& engine_;
  Secret<uint64_t[2]> sum_;
};

// What is left to do after all work has been done, and `status` is what this rank says of it. Collective.
Status conclude(Communicator& communicator, const DistributedMessage& message, const MessageTerms& terms, Work& work,
                Status status) {
  status = communicator.agree(status);
  if (status != STOCKADE_OK || !message.sealed) return status;
  // The right tag of a message that is not authentic is what a forger is after.
  Secret<uint8_t[block_bytes]> tag;
  status = work.make_tag(communicator, *tag);
  if (status != STOCKADE_OK) return status;
  if (message.direction == STOCKADE_ENCRYPT) {
    if (message.sealed_tag != nullptr) std::memcpy(message.sealed_tag, *tag, terms.tag_length);
    return STOCKADE_OK;
  }
  return equal_constant_time(*tag, terms.tag, terms.tag_length) ? STOCKADE_OK : STOCKADE_ERROR_AUTHENTICATION;
}

Status check_place(const DistributedMessage& message, const MessageTerms& terms, uint64_t offset) {
  const bool last = offset + message.length == terms.length;
  if (!last && message.length % block_bytes != 0) return STOCKADE_ERROR_DATA_LENGTH;
  return message.sealed && terms.length > gcm::max_message_bytes ? STOCKADE_ERROR_DATA_TOO_LONG : STOCKADE_OK;
}

}  // namespace

Status crypt_distributed(Communicator& communicator, const DistributedMessage& message,
                         const config::EngineChoice& engine) {
  Secret<MessageTerms> terms;
  Status status = settle(communicator, distributed, message, *terms);
  if (status != STOCKADE_OK) return status;
  uint64_t offset = 0;
  status = communicator.sum_before(message.length, offset, terms->length);
  if (status == STOCKADE_OK) status = communicator.agree(check_place(message, *terms, offset));
  if (status != STOCKADE_OK) return status;
  Work work(message, *terms, engine);
  if (communicator.rank() == 0) work.add_head();
  status = work.run(offset, message.in, message.length, message.out);
  status = conclude(communicator, message, *terms, work, status);
  if (status != STOCKADE_OK) wipe(message.out, message.length);
  return status;
}

uint64_t sent_piece_bytes(uint64_t length, uint32_t ranks) {
  // Nobody should wait long for the last piece of another, so there are more of them than ranks.
  constexpr uint64_t pieces_per_rank = 16, shortest_piece = uint64_t{64} << 10;
  const uint64_t piece = std::clamp(length / (pieces_per_rank * ranks), shortest_piece, longest_piece);
  return piece - piece % block_bytes;
}

namespace {

// Between the root and another rank: the root sends the number of a piece, then the piece, and later gets it back. That
// there are no more is a number of its own, with an empty piece, for each slot. Both sides use their slots in turn, and
// each slot has its own tags, since MPI may report in any order what has arrived.
constexpr uint64_t no_more = UINT64_MAX;
constexpr uint32_t slots = pieces_in_flight;
enum class What : uint32_t { number, piece, result };
int tag_of(What what, uint32_t slot) { return static_cast<int>(static_cast<uint32_t>(what) * slots + slot); }

// A rank that works for the root.
class Hand {
 public:
  Hand(Communicator& communicator, uint32_t root, uint64_t piece)
      : communicator_(communicator), root_(static_cast<int>(root)), piece_(piece) {}

  ~Hand() { wipe(memory_, used_); }
  Hand(const Hand&) = delete;
  Hand& operator=(const Hand&) = delete;

  Status prepare() {
    memory_ = communicator_.scratch(slots * piece_);
    return memory_ != nullptr ? STOCKADE_OK : STOCKADE_ERROR_MEMORY;
  }

  // MPI, or what the first of its pieces has failed with: those are sent back all the same.
  Status run(Work& work) {
    Status failed = STOCKADE_OK;
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (const Status status = await_piece(slot); status != STOCKADE_OK) return status;
    }
    for (uint32_t open = slots, slot = 0; open != 0; slot = (slot + 1) % slots) {
      int length = 0;
      Status status = take_back(slot);
      if (status == STOCKADE_OK) status = receive(slot, length);
      if (status != STOCKADE_OK) return status;
      if (numbers_[slot] == no_more) {
        --open;
        continue;
      }
      used_ = std::max(used_, (slot + 1) * piece_);
      const Status done = work.run(numbers_[slot] * piece_, at(slot), static_cast<uint64_t>(length), at(slot));
      if (failed == STOCKADE_OK) failed = done;
      if (status = give_back(slot, length); status != STOCKADE_OK) return status;
    }
    return failed;
  }

 private:
  uint8_t* at(uint32_t slot) { return memory_ + slot * piece_; }

  Status await_piece(uint32_t slot) {
    return communicator_.call([&](MPI_Comm all) {
      const int code =
          MPI_Irecv(&numbers_[slot], 1, MPI_UINT64_T, root_, tag_of(What::number, slot), all, &requests_[slot][0]);
      if (code != MPI_SUCCESS) return code;
      return MPI_Irecv(at(slot), static_cast<int>(piece_), MPI_BYTE, root_, tag_of(What::piece, slot), all,
                       &requests_[slot][1]);
    });
  }
  Status receive(uint32_t slot, int& length) {
    return communicator_.call([&](MPI_Comm) {
      MPI_Status statuses[2];
      const int code = MPI_Waitall(2, requests_[slot], statuses);
      return code == MPI_SUCCESS ? MPI_Get_count(&statuses[1], MPI_BYTE, &length) : code;
    });
  }
  Status give_back(uint32_t slot, int length) {
    ++returning_;
    return communicator_.call([&](MPI_Comm all) {
      return MPI_Isend(at(slot), length, MPI_BYTE, root_, tag_of(What::result, slot), all, &requests_[slot][0]);
    });
  }
  // Sees to it that `next` awaits a piece, and as many as can behind it: their results must have left.
  Status take_back(uint32_t next) {
    while (returning_ != 0) {
      const bool waits = oldest_ == next;
      int left = 1;
      const Status status = communicator_.call([&](MPI_Comm) {
        return waits ? MPI_Wait(requests_[oldest_], MPI_STATUS_IGNORE)
                     : MPI_Test(requests_[oldest_], &left, MPI_STATUS_IGNORE);
      });
      if (status != STOCKADE_OK || left == 0) return status;
      if (const Status posted = await_piece(oldest_); posted != STOCKADE_OK) return posted;
      oldest_ = (oldest_ + 1) % slots;
      --returning_;
    }
    return STOCKADE_OK;
  }

  Communicator& communicator_;
  const int root_;
  const uint64_t piece_;
  uint8_t* memory_ = nullptr;
  uint64_t used_ = 0;
  uint64_t numbers_[slots];
  MPI_Request requests_[slots][2];
  // Slots in their order whose results are on their way.
  uint32_t oldest_ = 0, returning_ = 0;
};

// The rank that has the message.
class Root {
 public:
  Root(Communicator& communicator, const DistributedMessage& message, uint64_t piece)
      : communicator_(communicator), message_(message), piece_(piece), pieces_((message.length + piece - 1) / piece) {}

  Status prepare() {
    try {
      hands_.resize(communicator_.size() - 1);
      requests_.assign(hands_.size() * requests_per_hand, MPI_REQUEST_NULL);
      done_.resize(requests_.size());
    } catch (const std::bad_alloc&) {
      return STOCKADE_ERROR_MEMORY;
    }
    return STOCKADE_OK;
  }

  // MPI, or what a piece has failed with that was done here.
  Status run(Work& work) {
    Status failed = STOCKADE_OK;
    while (true) {
      const double begin = MPI_Wtime();
      if (const Status status = hand_out(); status != STOCKADE_OK) return status;
      const double handed = MPI_Wtime();
      const bool has_own = next_ < pieces_;
      if (!has_own && in_flight_ == 0) break;
      if (has_own) failed = run_own(work);
      if (failed != STOCKADE_OK) next_ = pieces_;
      const double done = MPI_Wtime();
      if (const Status status = collect(!has_own); status != STOCKADE_OK) return status;
      if (has_own) own_.add(done - handed);
      moving_.seconds += handed - begin + (has_own ? MPI_Wtime() - done : 0);
    }
    const Status status = dismiss();
    return status != STOCKADE_OK ? status : failed;
  }

 private:
  static constexpr uint32_t requests_per_hand = 2 * slots;
  enum class Stage : uint8_t { idle, leaving, away };
  // What pieces cost the root. The first few say little.
  struct Cost {
    double seconds = 0;
    uint64_t pieces = 0;
    void add(double more) {
      seconds += more;
      ++pieces;
    }
    bool exceeds(const Cost& other) const {
      constexpr uint64_t enough = 2;
      return pieces >= enough && other.pieces >= enough &&
             seconds * static_cast<double>(other.pieces) > other.seconds * static_cast<double>(pieces);
    }
  };
  struct HandState {
    uint64_t numbers[slots] = {};  // of the pieces that it has
    Stage stages[slots] = {};
    uint32_t next = 0;  // slot
    uint32_t busy = 0;
  };

  uint64_t length_of(uint64_t piece) const { return std::min(piece_, message_.length - piece * piece_); }
  int rank_of(size_t hand) const {
    const uint32_t own = communicator_.rank();
    return static_cast<int>(hand < own ? hand : hand + 1);
  }
  MPI_Request* requests(size_t hand, uint32_t slot) { return &requests_[hand * requests_per_hand + 2 * slot]; }

  // Whether it takes the root longer to do a piece than to send it and to fetch what comes of it.
  bool hands_pay() const { return !hands_.empty() && !moving_.exceeds(own_); }

  // The next piece; or all that is left, if nobody else shall have any of it.
  Status run_own(Work& work) {
    const uint64_t begin = next_ * piece_;
    next_ = hands_pay() ? next_ + 1 : pieces_;
    const uint64_t end = std::min(message_.length, next_ * piece_);
    return work.run(begin, message_.in + begin, end - begin, message_.out + begin);
  }

  // So that all end at about the same time, a rank has fewer pieces the fewer are left; and one is left for the root.
  uint32_t allowance() const {
    const uint64_t left = pieces_ - next_;
    if (left < 2 || !hands_pay()) return 0;
    return static_cast<uint32_t>(std::clamp<uint64_t>(left / (2 * communicator_.size()), 1, slots));
  }

  Status hand_out() {
    for (size_t hand = 0; hand < hands_.size(); ++hand) {
      HandState& state = hands_[hand];
      while (state.busy < allowance()) {
        // Results may be noted in another order than that of their slots; and a number has left before its piece has
        // come back, but MPI may not have said so yet.
        if (state.stages[state.next] != Stage::idle || requests(hand, state.next)[0] != MPI_REQUEST_NULL) break;
        if (const Status status = send(hand, state.next, next_); status != STOCKADE_OK) return status;
        state.next = (state.next + 1) % slots;
        ++state.busy;
        ++in_flight_;
        ++next_;
      }
    }
    return STOCKADE_OK;
  }

  Status send(size_t hand, uint32_t slot, uint64_t piece) {
    HandState& state = hands_[hand];
    state.numbers[slot] = piece;
    state.stages[slot] = Stage::leaving;
    const bool ends = piece == no_more;
    const uint8_t* const bytes = ends ? message_.in : message_.in + piece * piece_;
    const int length = ends ? 0 : static_cast<int>(length_of(piece)), rank = rank_of(hand);
    return communicator_.call([&](MPI_Comm all) {
      MPI_Request* const own = requests(hand, slot);
      const int code = MPI_Isend(&state.numbers[slot], 1, MPI_UINT64_T, rank, tag_of(What::number, slot), all, &own[0]);
      return code != MPI_SUCCESS ? code
                                 : MPI_Isend(bytes, length, MPI_BYTE, rank, tag_of(What::piece, slot), all, &own[1]);
    });
  }

  // Looks what has left or come back, and waits for something if there is nothing else to do.
  Status collect(bool waits) {
    if (in_flight_ == 0) return STOCKADE_OK;
    int count = 0;
    const Status status = communicator_.call([&](MPI_Comm) {
      const auto look = waits ? MPI_Waitsome : MPI_Testsome;
      return look(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(), MPI_STATUSES_IGNORE);
    });
    if (status != STOCKADE_OK) return status;
    for (int i = 0; i < count; ++i) {
      const auto index = static_cast<uint32_t>(done_[i]);
      if (index % 2 == 0) continue;
      const Status noted = note(index / requests_per_hand, index % requests_per_hand / 2);
      if (noted != STOCKADE_OK) return noted;
    }
    return STOCKADE_OK;
  }

  // A piece has left, or its result has come. Only the first makes room for the second, for both may be the same
  // memory.
  Status note(size_t hand, uint32_t slot) {
    HandState& state = hands_[hand];
    if (state.stages[slot] == Stage::away) {
      state.stages[slot] = Stage::idle;
      --state.busy;
      --in_flight_;
      ++moving_.pieces;
      return STOCKADE_OK;
    }
    state.stages[slot] = Stage::away;
    const uint64_t piece = state.numbers[slot];
    return communicator_.call([&](MPI_Comm all) {
      return MPI_Irecv(message_.out + piece * piece_, static_cast<int>(length_of(piece)), MPI_BYTE, rank_of(hand),
                       tag_of(What::result, slot), all, &requests(hand, slot)[1]);
    });
  }

  Status dismiss() {
    if (const Status status = wait_all(); status != STOCKADE_OK) return status;
    for (size_t hand = 0; hand < hands_.size(); ++hand) {
      for (uint32_t i = 0; i < slots; ++i) {
        const Status status = send(hand, (hands_[hand].next + i) % slots, no_more);
        if (status != STOCKADE_OK) return status;
      }
    }
    return wait_all();
  }
  Status wait_all() {
    return communicator_.call([&](MPI_Comm) {
      return MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    });
  }

  Communicator& communicator_;
  const DistributedMessage& message_;
  const uint64_t piece_, pieces_;
  uint64_t next_ = 0;       // piece
  uint64_t in_flight_ = 0;  // pieces that other ranks have
  Cost own_, moving_;
  std::vector<HandState> hands_;
  std::vector<MPI_Request> requests_;  // of each hand and slot: that of the number, and that of the piece or its result
  std::vector<int> done_;
};

}  // namespace

Status crypt_from_root(Communicator& communicator, uint32_t root, const DistributedMessage& message,
                       const config::EngineChoice& engine) {
  Secret<MessageTerms> terms;
  Status status = settle(communicator, root, message, *terms);
  if (status != STOCKADE_OK) return status;
  const bool leads = communicator.rank() == root;
  const uint64_t piece = sent_piece_bytes(terms->length, communicator.size());
  Root side(communicator, message, piece);
  Hand hand(communicator, root, piece);
  if (status = communicator.agree(leads ? side.prepare() : hand.prepare()); status != STOCKADE_OK) return status;
  Work work(message, *terms, engine);
  if (leads) work.add_head();
  status = leads ? side.run(work) : hand.run(work);
  if (status != STOCKADE_ERROR_MPI) status = conclude(communicator, message, *terms, work, status);
  if (status != STOCKADE_OK && leads) wipe(message.out, message.length);
  return status;
}

}  // namespace stockade::mpi
