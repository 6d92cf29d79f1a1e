// Where the time of one RSA-2048 decryption goes, and what each parallel layer takes away of it:
//
//   serial  both halves of the Chinese remainder theorem, one after the other, on the row `reference`
//   AVX     powers by the best vector row; alone both halves go through its lanes in one call
//   TT      a power by two threads: one squares, the other multiplies what it finds (binary, from the right)
//   OMP     the halves on two threads
//
// With TT the vector rows lend their single products, for no row lays one product over its lanes. No blinding and no
// check of the result: what is compared is the arithmetic.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "aes.h"
#include "base/random.h"
#include "base/secret.h"
#include "bignum/bignum_variants.h"
#include "bignum/integer.h"
#include "config/environment.h"
#include "parallel/parallel_for.h"
#include "peer_rsa.h"
#include "rsa.h"
#include "rsa/key_files.h"
#include "rsa/operation.h"

namespace stockade::bench {
namespace {

using bignum::Limb;

constexpr uint32_t key_bits = 2048;
constexpr uint64_t key_bytes = key_bits / 8;
constexpr uint64_t seed = 0x57060CADE;

void require(Status status, const char* what) {
  if (status != STOCKADE_OK) throw std::runtime_error(std::string(what) + ": " + stockade_status_text(status));
}

const bignum::Variant& row_named(std::string_view name) {
  const bignum::Variant* row = nullptr;
  require(bignum::choose(name, config::environment().usable, &row), "row");
  return *row;
}

// Calls run(item) for each item, on as many threads.
template <typename Run>
void on_threads(uint32_t count, Run run) {
  const parallel::Plan plan{config::Kind::threads, count, aes::Stores::ordinary, ""};
  parallel::parallel_for(plan, count, 1, [&run](uint64_t begin, uint64_t end, uint32_t) {
    for (uint64_t i = begin; i < end; ++i) run(i);
  });
}

// One half: base^exponent modulo a prime.
class Half {
 public:
  Half(const bignum::Modulus& prime, const Limb* exponent)
      : prime_(&prime), exponent_(exponent), base_(prime.limbs()), result_(prime.limbs()) {}

  Limb* base() { return base_.data(); }
  const Limb* result() const { return result_.data(); }
  const bignum::Modulus& prime() const { return *prime_; }
  bignum::Power power() { return {&prime_->constants(), base_.data(), exponent_, prime_->bits(), result_.data()}; }
  uint64_t multiplications() const {
    uint64_t ones = 0;
    for (uint32_t i = 0; i < prime_->bits(); ++i) ones += bignum::bit(exponent_, i);
    return ones;
  }

  // Binary exponentiation from the right in two parts: base^(2^i) for all i, and the product of those whose bit is set.
  // Each part is one thread's; `squares` says how far the first has come.
  void prepare(const bignum::Residues& residues) {
    const bignum::Montgomery& modulus = prime_->constants();
    words_ = (residues.words(modulus) + 7) / 8 * 8;
    scratch_words_ = (residues.scratch_words(modulus) + 7) / 8 * 8;
    const size_t words = (prime_->bits() + size_t{2}) * words_ + 2 * size_t{scratch_words_};
    if (!memory_.allocate(words * sizeof(uint64_t))) throw std::bad_alloc();
    squares_ = 0;
  }
  void start() { squares_.store(0, std::memory_order_relaxed); }
  void square_all(const bignum::Residues& residues) {
    residues.enter(prime_->constants(), base_.data(), square(0), scratch(0));
    squares_.store(1, std::memory_order_release);
    for (uint32_t i = 1; i < prime_->bits(); ++i) {
      residues.square(prime_->constants(), square(i - 1), square(i), scratch(0));
      squares_.store(i + 1, std::memory_order_release);
    }
  }
  void multiply_all(const bignum::Residues& residues) {
    const bignum::Montgomery& modulus = prime_->constants();
    uint64_t* const product = square(prime_->bits());
    bool any = false;
    for (uint32_t i = 0; i < prime_->bits(); ++i) {
      if (bignum::bit(exponent_, i) == 0) continue;
      while (squares_.load(std::memory_order_acquire) <= i) sched_yield();
      if (any) {
        residues.multiply(modulus, product, square(i), product, scratch(1));
      } else {
        std::copy_n(square(i), words_, product);
      }
      any = true;
    }
    residues.leave(modulus, product, result_.data(), scratch(1));
  }

 private:
  uint64_t* square(uint32_t i) { return reinterpret_cast<uint64_t*>(memory_.data()) + size_t{i} * words_; }
  // Behind the squares and the product.
  uint64_t* scratch(uint32_t thread) { return square(prime_->bits() + 2) + size_t{thread} * scratch_words_; }

  const bignum::Modulus* prime_;
  const Limb* exponent_;
  std::vector<Limb> base_, result_;
  SecretBuffer memory_;
  uint32_t words_ = 0, scratch_words_ = 0;
  std::atomic<uint32_t> squares_ = 0;
};

// Which layers a decryption has.
struct Layers {
  bool vector, two_threads, halves;
  std::string name() const {
    std::string text;
    for (const auto& [on, part] : {std::pair{vector, "AVX"}, {two_threads, "TT"}, {halves, "OMP"}}) {
      if (on) text += text.empty() ? part : std::string(" + ") + part;
    }
    return text.empty() ? "serial" : text;
  }
  uint32_t threads() const { return (two_threads ? 2 : 1) * (halves ? 2 : 1); }
};

class Decryption {
 public:
  Decryption(RsaPeer& peer, const bignum::Variant& row) {
    const std::vector<uint8_t> der = peer.private_key();
    std::string type;
    require(rsa::read_private_key(der, {}, &row, system_random(), key_, type), "private key");
    message_.resize(key_bytes);
    ciphertext_.resize(key_bytes);
    fill(message_.data(), key_bytes, seed);
    message_[0] &= 0x7f;  // below the modulus
    peer.encrypt_raw(message_, ciphertext_);
    number_.resize(key_->public_key().limbs());
    bignum::from_bytes(ciphertext_.data(), key_bytes, number_.data(), key_->public_key().limbs());
    halves_[0] = std::make_unique<Half>(key_->p(), key_->dp());
    halves_[1] = std::make_unique<Half>(key_->q(), key_->dq());
  }
  Half& half(uint32_t i) { return *halves_[i]; }
  const std::vector<uint8_t>& ciphertext() const { return ciphertext_; }

  void run(const Layers& layers, const bignum::Kernels& kernels) {
    for (const auto& half : halves_) {
      require(half->prime().reduce(number_.data(), key_->public_key().limbs(), half->base()), "reduce");
    }
    if (layers.two_threads) {
      raise_by_two(layers, kernels.residues);
    } else {
      raise(layers, kernels);
    }
    recombine();
  }
  void check(const std::string& name) const {
    if (decrypted_ != message_) throw Mismatch("RSA-2048, " + name + ": not what was encrypted");
  }

 private:
  void raise(const Layers& layers, const bignum::Kernels& kernels) {
    bignum::Power powers[2] = {half(0).power(), half(1).power()};
    if (layers.halves) {
      Status done[2];
      on_threads(2, [&](uint64_t i) { done[i] = kernels.modexp(&powers[i], 1); });
      for (const Status status : done) require(status, "modexp");
    } else {
      require(kernels.modexp(powers, 2), "modexp");
    }
  }
  // Parts are begun in this order, so nobody waits for one that has not been begun.
  void raise_by_two(const Layers& layers, const bignum::Residues& residues) {
    for (const auto& half : halves_) half->start();
    const auto part = [&](uint64_t h, uint64_t i) {
      i == 0 ? half(static_cast<uint32_t>(h)).square_all(residues)
             : half(static_cast<uint32_t>(h)).multiply_all(residues);
    };
    if (layers.halves) {
      on_threads(4, [&](uint64_t i) { part(i % 2, i / 2); });
    } else {
      for (uint64_t h = 0; h < 2; ++h) on_threads(2, [&](uint64_t i) { part(h, i); });
    }
  }
  // RFC 8017 5.1.2 step 2b.
  void recombine() {
    const bignum::Modulus &p = key_->p(), &q = key_->q();
    const uint32_t p_limbs = p.limbs(), q_limbs = q.limbs();
    std::vector<Limb> h(p_limbs), result(p_limbs + q_limbs);
    require(p.reduce(half(1).result(), q_limbs, h.data()), "reduce");
    p.subtract(half(0).result(), h.data(), h.data());
    require(p.multiply(h.data(), key_->qinv(), h.data()), "multiply");
    bignum::multiply(h.data(), p_limbs, q.value(), q_limbs, result.data());
    const Limb carry = bignum::add(result.data(), half(1).result(), result.data(), q_limbs);
    bignum::add_word(result.data() + q_limbs, carry, result.data() + q_limbs, p_limbs);
    decrypted_.resize(key_bytes);
    bignum::to_bytes(result.data(), key_->public_key().limbs(), decrypted_.data(), key_bytes);
  }

  std::unique_ptr<rsa::PrivateKey> key_;
  std::vector<uint8_t> message_, ciphertext_, decrypted_;
  std::vector<Limb> number_;
  std::unique_ptr<Half> halves_[2];
};

// The best row with lanes that runs here, or null.
const bignum::Variant* vector_row() {
  for (const bignum::Variant& row : bignum::variants()) {
    if (row.automatic && row.lanes > 1 && (row.needs & ~config::environment().usable) == 0) return &row;
  }
  return nullptr;
}

Work repeat(std::function<void()> once) {
  return [once = std::move(once)](uint64_t iterations) {
    for (uint64_t i = 0; i < iterations; ++i) once();
  };
}

void measure_layers(Ablation& ablation, RsaPeer& peer, const bignum::Variant* vector, const Schedule& schedule) {
  const bignum::Variant& reference = row_named("reference");
  std::vector<std::unique_ptr<Decryption>> decryptions;
  std::vector<Work> works;
  for (uint32_t i = 0; i < (vector == nullptr ? 4U : 8U); ++i) {
    const Layers layers{(i & 4) != 0, (i & 2) != 0, (i & 1) != 0};
    const bignum::Variant& row = layers.vector ? *vector : reference;
    decryptions.push_back(std::make_unique<Decryption>(peer, row));
    Decryption* const decryption = decryptions.back().get();
    for (const uint32_t h : {0U, 1U}) decryption->half(h).prepare(row.kernels->residues);
    decryption->run(layers, *row.kernels);
    decryption->check(layers.name());
    works.push_back(repeat([decryption, layers, &row] { decryption->run(layers, *row.kernels); }));
    ablation.lines.push_back({layers.name(), layers.threads(), {}, 0});
  }
  std::vector<uint8_t> out(key_bytes);
  works.push_back(repeat([&] { peer.decrypt_raw(decryptions[0]->ciphertext(), out); }));
  ablation.lines.push_back({"openssl", 1, {}, 0});
  const std::vector<Timing> timings = measure(works, schedule);
  for (size_t i = 0; i < timings.size(); ++i) {
    ablation.lines[i].timing = timings[i];
    if (timings[i].measured) ablation.lines[i].ratio = timings[0].seconds / timings[i].seconds;
  }
}

// What one half is made of, on one thread.
AblationPart measure_part(const bignum::Variant& row, RsaPeer& peer, const Schedule& schedule) {
  Decryption decryption(peer, row);
  const bignum::Residues& residues = row.kernels->residues;
  for (const uint32_t h : {0U, 1U}) decryption.half(h).prepare(residues);
  decryption.run({false, true, false}, *row.kernels);
  const bignum::Modulus& p = decryption.half(0).prime();
  const bignum::Montgomery& modulus = p.constants();
  const size_t words = (residues.words(modulus) + 7) / 8 * 8;
  SecretBuffer memory((words + residues.scratch_words(modulus)) * sizeof(uint64_t));
  if (memory.data() == nullptr) throw std::bad_alloc();
  auto* const value = reinterpret_cast<uint64_t*>(memory.data());
  residues.enter(modulus, decryption.half(0).base(), value, value + words);
  const auto power = [&](uint32_t h) {
    return repeat([&decryption, &residues, h] {
      decryption.half(h).start();
      decryption.half(h).square_all(residues);
      decryption.half(h).multiply_all(residues);
    });
  };
  const std::vector<Timing> timings =
      measure({power(0), power(1), repeat([&] {
                 bignum::Modulus made;
                 require(bignum::Modulus::make(p.value(), p.limbs(), made), "modulus");
               }),
               repeat([&] { residues.multiply(modulus, value, value, value, value + words); }),
               repeat([&] { residues.square(modulus, value, value, value + words); })},
              schedule);
  AblationPart part{row.name, timings[0].seconds, timings[1].seconds, 0,
                    0,        timings[2].seconds, timings[3].seconds, timings[4].seconds};
  for (const uint32_t h : {0U, 1U}) {
    part.squarings += decryption.half(h).prime().bits() - 1;
    part.multiplications += decryption.half(h).multiplications() - 1;
  }
  return part;
}

}  // namespace

Ablation run_rsa_ablation(const Schedule& schedule, const std::function<void(const std::string&)>& on_point) {
  on_point("the layers of a decryption with RSA-2048");
  RsaPeer peer(key_bits);
  const bignum::Variant* const vector = vector_row();
  Ablation ablation{key_bits, vector == nullptr ? "" : vector->name, {}, {}};
  measure_layers(ablation, peer, vector, schedule);
  on_point("the parts of a decryption with RSA-2048");
  ablation.parts.push_back(measure_part(row_named("reference"), peer, schedule));
  ablation.parts.push_back(measure_part(vector == nullptr ? row_named("portable") : *vector, peer, schedule));
  return ablation;
}

}  // namespace stockade::bench
