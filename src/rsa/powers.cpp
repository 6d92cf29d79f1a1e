#include "rsa/powers.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <new>

#include "base/secret.h"
#include "parallel/parallel_for.h"

namespace stockade::rsa {
namespace {

using bignum::Limb;
using bignum::Montgomery;
using bignum::Power;

// The first status that is not OK, of many workers.
class Outcome {
 public:
  void note(Status status) {
    Status good = STOCKADE_OK;
    if (status != STOCKADE_OK) status_.compare_exchange_strong(good, status, std::memory_order_relaxed);
  }
  Status status() const { return status_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Status> status_{STOCKADE_OK};
};

Status run_halves(const bignum::Variant& row, std::span<const Power> powers, const parallel::Plan& plan) {
  Outcome outcome;
  parallel::parallel_for(plan, powers.size(), 1, [&](uint64_t begin, uint64_t end, uint32_t) {
    outcome.note(row.kernels->modexp(powers.data() + begin, end - begin));
  });
  return outcome.status();
}

// A power by two workers: base^(2^i) for all i, and the product of those whose bit of the exponent is one. Windows,
// which the rows use, need fewer products but one worker after the other's square (studies of RSA on two threads do
// without them). The product is computed for every bit and taken by a mask, so that nobody sees the exponent in it.
class RightToLeft {
 public:
  // MEMORY.
  Status prepare(const Power& power, const bignum::Residues& residues) {
    power_ = power;
    residues_ = &residues;
    words_ = aligned(residues.words(modulus()));
    scratch_words_ = aligned(residues.scratch_words(modulus()));
    const size_t others = 2 * words_ + 2 * scratch_words_ + aligned(modulus().padded);
    const size_t count = power.exponent_bits * words_ + others;
    return memory_.allocate(count * sizeof(uint64_t)) ? STOCKADE_OK : STOCKADE_ERROR_MEMORY;
  }

  void square_all() {
    if (power_.exponent_bits == 0) return;
    residues_->enter(modulus(), power_.base, square(0), scratch(0));
    squares_.store(1, std::memory_order_release);
    for (uint32_t i = 1; i < power_.exponent_bits; ++i) {
      residues_->square(modulus(), square(i - 1), square(i), scratch(0));
      squares_.store(i + 1, std::memory_order_release);
    }
  }

  void multiply_all() {
    uint64_t* const product = square(power_.exponent_bits);
    uint64_t* const next = product + words_;
    Limb* const one = scratch(2);
    std::fill_n(one, modulus().padded, Limb{0});
    one[0] = 1;
    residues_->enter(modulus(), one, product, scratch(1));
    for (uint32_t i = 0; i < power_.exponent_bits; ++i) {
      while (squares_.load(std::memory_order_acquire) <= i) sched_yield();
      residues_->multiply(modulus(), product, square(i), next, scratch(1));
      const uint64_t take = 0 - uint64_t{bignum::exponent_window(power_.exponent, power_.exponent_bits, i, 1)};
      for (size_t word = 0; word < words_; ++word) product[word] ^= (product[word] ^ next[word]) & take;
    }
    residues_->leave(modulus(), product, power_.result, scratch(1));
  }

 private:
  static size_t aligned(size_t words) { return (words + 7) / 8 * 8; }
  const Montgomery& modulus() const { return *power_.modulus; }
  // The squares, the product, the next product, each worker's scratch, a plain number.
  uint64_t* square(uint32_t i) { return reinterpret_cast<uint64_t*>(memory_.data()) + i * words_; }
  uint64_t* scratch(uint32_t i) { return square(power_.exponent_bits + 2) + i * scratch_words_; }

  Power power_{};
  const bignum::Residues* residues_ = nullptr;
  size_t words_ = 0, scratch_words_ = 0;
  SecretBuffer memory_;
  std::atomic<uint32_t> squares_{0};
};

// Squares come first: whoever multiplies waits for a worker that has begun, however few workers there are.
Status run_right_to_left(const bignum::Variant& row, std::span<const Power> powers, const parallel::Plan& plan) {
  const std::unique_ptr<RightToLeft[]> work(new (std::nothrow) RightToLeft[powers.size()]);
  if (work == nullptr) return STOCKADE_ERROR_MEMORY;
  for (size_t i = 0; i < powers.size(); ++i) {
    if (const Status status = work[i].prepare(powers[i], row.kernels->residues); status != STOCKADE_OK) return status;
  }
  parallel::parallel_for(plan, 2 * powers.size(), 1, [&](uint64_t begin, uint64_t end, uint32_t) {
    for (uint64_t i = begin; i < end; ++i) {
      i < powers.size() ? work[i].square_all() : work[i - powers.size()].multiply_all();
    }
  });
  return STOCKADE_OK;
}

}  // namespace

std::optional<Layers> find_layers(std::string_view name) {
  const auto* const found = std::find(std::begin(config::rsa_layers), std::end(config::rsa_layers), name);
  if (found == std::end(config::rsa_layers)) return std::nullopt;
  return static_cast<Layers>(found - std::begin(config::rsa_layers));
}

uint64_t most_workers(Layers layers, uint64_t powers) {
  switch (layers) {
    case Layers::halves:
      return powers;
    case Layers::right_to_left:
      return 2;
    case Layers::right_to_left_halves:
      return 2 * powers;
    default:
      return 1;
  }
}

Status run_powers(const bignum::Variant& own, std::span<const Power> powers, const Arrangement& arrangement) {
  const bignum::Variant& row = arrangement.row != nullptr ? *arrangement.row : own;
  switch (arrangement.layers) {
    case Layers::halves:
      return run_halves(row, powers, arrangement.plan);
    case Layers::right_to_left:
      for (const Power& power : powers) {
        const Status status = run_right_to_left(row, {&power, 1}, arrangement.plan);
        if (status != STOCKADE_OK) return status;
      }
      return STOCKADE_OK;
    case Layers::right_to_left_halves:
      return run_right_to_left(row, powers, arrangement.plan);
    default:
      return row.kernels->modexp(powers.data(), powers.size());
  }
}

}  // namespace stockade::rsa
