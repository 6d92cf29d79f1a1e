#include "rsa.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

#include "aes.h"
#include "base/random.h"
#include "bignum/bignum_variants.h"
#include "engine/engine.h"
#include "peer_rsa.h"
#include "rsa/batch.h"
#include "rsa/key_files.h"
#include "rsa/operation.h"

namespace stockade::bench {
namespace {

constexpr uint64_t seed = 0x57060CADE;
constexpr uint64_t digest_size = 32;
constexpr char too_slow[] = "one call takes longer than the limit";

void require(Status status, const char* what) {
  if (status != STOCKADE_OK) throw std::runtime_error(std::string(what) + ": " + stockade_status_text(status));
}

std::vector<const bignum::Variant*> rows_for(const RsaSettings& settings) {
  std::vector<const bignum::Variant*> rows;
  const engine::Environment& environment = engine::environment();
  if (settings.chosen_row_only) {
    rows.resize(1);
    require(bignum::choose(environment.bignum_row, environment.usable, rows.data()), "row");
    return rows;
  }
  for (const bignum::Variant& row : bignum::variants()) {
    if (row.automatic && (row.needs & ~environment.usable) == 0) rows.push_back(&row);
  }
  return rows;
}

// One key, as many digests as the largest batch, and OpenSSL's signatures of them.
struct Material {
  Material(uint32_t key_bits, uint64_t count) : peer(key_bits), bits(key_bits), size(key_bits / 8) {
    digests.resize(count * digest_size);
    signatures.resize(count * size);
    outputs.resize(count * size);
    fill(digests.data(), digests.size(), seed);
    for (uint64_t i = 0; i < count; ++i) peer.sign(digest(i), {signatures.data() + i * size, size});
  }
  std::span<const uint8_t> digest(uint64_t i) const { return {digests.data() + i * digest_size, digest_size}; }
  std::span<const uint8_t> signature(uint64_t i) const { return {signatures.data() + i * size, size}; }
  std::span<uint8_t> output(uint64_t i) { return {outputs.data() + i * size, size}; }

  RsaPeer peer;
  uint32_t bits;
  uint64_t size;
  std::vector<uint8_t> digests, signatures, outputs;
};

// A row with the same key, and calls over the first `batch` digests.
class Contender {
 public:
  Contender(const bignum::Variant& row, uint32_t threads, Material& material) : row_(&row), material_(&material) {
    const std::vector<uint8_t> der = material.peer.private_key();
    std::string type;
    require(rsa::read_private_key(der, {}, &row, system_random(), key_, type), "private key");
    require(engine::make_engine(threads == 1 ? "serial" : "threads", threads, engine_), "engine");
    for (uint64_t i = 0; i < material.outputs.size() / material.size; ++i) {
      signing_.push_back({key_.get(), material.digest(i), material.output(i)});
      verifying_.push_back({&key_->public_key(), material.digest(i), material.signature(i)});
    }
  }
  const char* name() const { return row_->name; }
  uint32_t threads() const { return engine_.threads; }

  void sign(uint64_t batch) {
    const std::span<rsa::Signing> items(signing_.data(), batch);
    require(threads() == 1 ? rsa::sign_many(padding_, items, system_random())
                           : rsa::sign_many(engine_, padding_, items, system_random()),
            "sign_many");
  }
  void verify(uint64_t batch) {
    const std::span<rsa::Verification> items(verifying_.data(), batch);
    require(threads() == 1 ? rsa::verify_many(padding_, items) : rsa::verify_many(engine_, padding_, items),
            "verify_many");
  }

  // Against OpenSSL's signatures, and with one that is wrong.
  void check(uint64_t batch) {
    std::fill(material_->outputs.begin(), material_->outputs.end(), uint8_t{0});
    sign(batch);
    const auto end = material_->outputs.begin() + static_cast<int64_t>(batch * material_->size);
    const bool same = std::equal(material_->outputs.begin(), end, material_->signatures.begin());
    if (!same) throw Mismatch(complaint("gives other signatures than OpenSSL", batch));
    verify(batch);
    verifying_[batch - 1].digest = material_->digest(batch == 1 ? 1 : 0);
    const Status status = rsa::verify_many(padding_, {verifying_.data(), batch});
    verifying_[batch - 1].digest = material_->digest(batch - 1);
    if (status != STOCKADE_ERROR_SIGNATURE) throw Mismatch(complaint("accepts a wrong signature", batch));
  }

 private:
  std::string complaint(const char* what, uint64_t batch) const {
    return "RSA-" + std::to_string(material_->bits) + ", row " + name() + ", batch of " + std::to_string(batch) + ": " +
           what;
  }

  const bignum::Variant* row_;
  Material* material_;
  rsa::SignaturePadding padding_ = rsa::Pkcs1{};
  std::unique_ptr<rsa::PrivateKey> key_;
  engine::Engine engine_{};
  std::vector<rsa::Signing> signing_;
  std::vector<rsa::Verification> verifying_;
};

RsaLine make_line(const Contender& contender, const std::vector<Timing>& timings, size_t first,
                  const RsaSettings& settings) {
  RsaLine line{contender.name(), contender.threads(), {}};
  for (size_t i = 0; i < settings.batches.size(); ++i) {
    RsaCell cell{settings.batches[i], timings[first + i], {}, 0, 0};
    if (cell.timing.measured) {
      cell.per_second = static_cast<double>(cell.batch) / cell.timing.seconds;
      cell.ratio = cell.per_second * timings[0].seconds;
    } else {
      cell.reason = too_slow;
    }
    line.cells.push_back(cell);
  }
  return line;
}

// `sign`: or verify.
RsaTable measure_operation(bool sign, Material& material, std::vector<Contender>& contenders,
                           const RsaSettings& settings) {
  std::vector<Work> works;
  uint64_t next = 0;
  const uint64_t count = settings.batches.back();
  works.push_back([&](uint64_t iterations) {
    for (uint64_t i = 0; i < iterations; ++i, next = (next + 1) % count) {
      if (sign) {
        material.peer.sign(material.digest(next), material.output(next));
      } else if (!material.peer.verify(material.digest(next), material.signature(next))) {
        throw std::runtime_error("OpenSSL refuses its own signature");
      }
    }
  });
  for (Contender& contender : contenders) {
    for (const uint64_t batch : settings.batches) {
      works.push_back([&contender, batch, sign](uint64_t iterations) {
        for (uint64_t i = 0; i < iterations; ++i) sign ? contender.sign(batch) : contender.verify(batch);
      });
    }
  }
  const std::vector<Timing> timings = measure(works, settings.schedule);
  RsaTable table{material.bits, sign ? "sign" : "verify", {}};
  table.lines.push_back({"openssl", 1, {{1, timings[0], {}, 1 / timings[0].seconds, 1}}});
  for (size_t i = 0; i < contenders.size(); ++i) {
    table.lines.push_back(make_line(contenders[i], timings, 1 + i * settings.batches.size(), settings));
  }
  return table;
}

}  // namespace

void run_rsa(const RsaSettings& settings, const std::function<void(const std::string&)>& on_point,
             const std::function<void(const RsaTable&)>& on_table) {
  for (const uint32_t bits : settings.bits) {
    on_point("a key of " + std::to_string(bits) + " bits");
    // One digest more than a batch of one needs, for a wrong signature.
    Material material(bits, std::max<uint64_t>(2, settings.batches.back()));
    std::vector<Contender> contenders;
    for (const bignum::Variant* row : rows_for(settings)) {
      for (const uint32_t threads : settings.threads) contenders.emplace_back(*row, threads, material);
    }
    for (Contender& contender : contenders) {
      for (const uint64_t batch : settings.batches) contender.check(batch);
    }
    for (const bool sign : {true, false}) {
      on_point("RSA-" + std::to_string(bits) + (sign ? " sign" : " verify"));
      on_table(measure_operation(sign, material, contenders, settings));
    }
  }
}

}  // namespace stockade::bench
