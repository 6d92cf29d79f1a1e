#include "rsa.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include "aes.h"
#include "base/random.h"
#include "bignum/bignum_variants.h"
#include "config/environment.h"
#include "offload/make_engine.h"
#include "rsa/batch.h"
#include "rsa/key_files.h"
#include "rsa/operation.h"
#include "rsa_material.h"

namespace stockade::bench {
namespace {

constexpr char too_slow[] = "one call takes longer than the limit";

void require(Status status, const char* what) {
  if (status != STOCKADE_OK) throw std::runtime_error(std::string(what) + ": " + stockade_status_text(status));
}

const bignum::Variant* row_named(std::string_view name) {
  const bignum::Variant* row = nullptr;
  require(bignum::choose(name, config::environment().usable, &row), "row");
  return row;
}

std::vector<const bignum::Variant*> rows_for(const RsaSettings& settings) {
  std::vector<const bignum::Variant*> rows;
  const config::Environment& environment = config::environment();
  if (!settings.rows.empty()) {
    for (const std::string& name : settings.rows) rows.push_back(row_named(name));
  } else if (settings.chosen_row_only) {
    rows.push_back(row_named(environment.bignum_row));
  } else {
    for (const bignum::Variant& row : bignum::variants()) {
      if (row.automatic && (row.needs & ~environment.usable) == 0) rows.push_back(&row);
    }
  }
  return rows;
}

std::string_view name_of(RsaOperation operation) { return rsa_operation_names[static_cast<uint32_t>(operation)]; }

// A row with the same key, and calls over the first `batch` digests.
class Contender {
 public:
  Contender(const bignum::Variant& row, uint32_t threads, RsaMaterial& material)
      : row_(&row), threads_(threads), material_(&material) {
    const std::vector<uint8_t> der = material.peer.private_key();
    std::string type;
    require(rsa::read_private_key(der, {}, &row, system_random(), key_, type), "private key");
    require(offload::make_engine(threads == 1 ? "serial" : "threads", threads, engine_), "engine");
    for (uint64_t i = 0; i < material.count; ++i) {
      const rsa::PublicKey* const half = &key_->public_key();
      signing_.push_back({key_.get(), material.digest(i), material.output(i)});
      encrypting_.push_back({half, material.digest(i), material.output(i)});
      if (!material.signatures.empty()) verifying_.push_back({half, material.digest(i), material.signature(i)});
      if (!material.ciphertexts.empty())
        decrypting_.push_back({key_.get(), material.ciphertext(i), material.output(i)});
    }
  }
  const char* name() const { return row_->name; }
  uint32_t threads() const { return threads_; }

  void run(RsaOperation operation, uint64_t batch) { require(call(operation, batch), name_of(operation).data()); }

  // Against what OpenSSL makes of the same, and with one item that is wrong.
  void check(RsaOperation operation, uint64_t batch) {
    std::fill(material_->outputs.begin(), material_->outputs.end(), uint8_t{0});
    run(operation, batch);
    switch (operation) {
      case RsaOperation::sign:
        return check_signatures(batch);
      case RsaOperation::verify:
        return check_refusal(batch);
      case RsaOperation::encrypt:
        return check_ciphertexts(batch);
      case RsaOperation::decrypt:
        return check_messages(batch);
    }
  }

 private:
  Status call(RsaOperation operation, uint64_t batch) {
    switch (operation) {
      case RsaOperation::sign:
        return rsa::sign_many(engine_, padding_, {signing_.data(), batch}, system_random());
      case RsaOperation::verify:
        return rsa::verify_many(engine_, padding_, {verifying_.data(), batch});
      case RsaOperation::encrypt:
        return rsa::encrypt_many(engine_, {}, {encrypting_.data(), batch}, system_random());
      case RsaOperation::decrypt:
        return rsa::decrypt_many(engine_, {}, {decrypting_.data(), batch}, system_random());
    }
    return STOCKADE_ERROR_ARGUMENT;
  }

  void check_signatures(uint64_t batch) const {
    const auto end = material_->outputs.begin() + static_cast<int64_t>(batch * material_->size);
    const bool same = std::equal(material_->outputs.begin(), end, material_->signatures.begin());
    if (!same) fail("gives other signatures than OpenSSL", batch);
  }
  void check_refusal(uint64_t batch) {
    rsa::Verification& last = verifying_[batch - 1];
    const Bytes right = last.digest;
    last.digest = material_->digest(batch == 1 ? 1 : 0);
    if (call(RsaOperation::verify, batch) != STOCKADE_ERROR_SIGNATURE) fail("accepts a wrong signature", batch);
    last.digest = right;
  }
  // OpenSSL decrypts the last and some of the others, because it takes its time.
  void check_ciphertexts(uint64_t batch) const {
    std::vector<uint8_t> message(material_->size);
    const uint64_t step = std::max<uint64_t>(1, batch / 16);
    for (uint64_t i = (batch - 1) % step; i < batch; i += step) {
      const uint64_t length = material_->peer.decrypt(material_->output(i), message);
      const std::span<const uint8_t> digest = material_->digest(i);
      if (length != digest.size() || !std::equal(digest.begin(), digest.end(), message.begin())) {
        fail("encrypts what OpenSSL decrypts to something else", batch);
      }
    }
  }
  void check_messages(uint64_t batch) {
    for (uint64_t i = 0; i < batch; ++i) {
      const std::span<const uint8_t> digest = material_->digest(i);
      const bool same = decrypting_[i].length == digest.size() &&
                        std::equal(digest.begin(), digest.end(), material_->output(i).begin());
      if (!same) fail("decrypts to something else than OpenSSL encrypted", batch);
    }
    uint8_t& last = material_->ciphertexts[batch * material_->size - 1];
    last ^= 1;
    if (call(RsaOperation::decrypt, batch) != STOCKADE_ERROR_DECRYPTION) fail("decrypts a damaged ciphertext", batch);
    last ^= 1;
  }
  [[noreturn]] void fail(const char* what, uint64_t batch) const {
    throw Mismatch("RSA-" + std::to_string(material_->bits) + ", row " + name() + ", batch of " +
                   std::to_string(batch) + ": " + what);
  }

  const bignum::Variant* row_;
  uint32_t threads_;
  RsaMaterial* material_;
  rsa::SignaturePadding padding_ = rsa::Pkcs1{};
  std::unique_ptr<rsa::PrivateKey> key_;
  config::EngineChoice engine_{};
  std::vector<rsa::Signing> signing_;
  std::vector<rsa::Verification> verifying_;
  std::vector<rsa::Encryption> encrypting_;
  std::vector<rsa::Decryption> decrypting_;
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

void run_peer(RsaOperation operation, RsaMaterial& material, uint64_t i) {
  switch (operation) {
    case RsaOperation::sign:
      return material.peer.sign(material.digest(i), material.output(i));
    case RsaOperation::verify:
      if (material.peer.verify(material.digest(i), material.signature(i))) return;
      throw std::runtime_error("OpenSSL refuses its own signature");
    case RsaOperation::encrypt:
      return material.peer.encrypt(material.digest(i), material.output(i));
    case RsaOperation::decrypt:
      material.peer.decrypt(material.ciphertext(i), material.output(i));
      return;
  }
}

RsaTable measure_operation(RsaOperation operation, RsaMaterial& material, std::vector<Contender>& contenders,
                           const RsaSettings& settings) {
  std::vector<Work> works;
  uint64_t next = 0;
  works.push_back([&](uint64_t iterations) {
    for (uint64_t i = 0; i < iterations; ++i, next = (next + 1) % material.count) run_peer(operation, material, next);
  });
  for (Contender& contender : contenders) {
    for (const uint64_t batch : settings.batches) {
      works.push_back([&contender, batch, operation](uint64_t iterations) {
        for (uint64_t i = 0; i < iterations; ++i) contender.run(operation, batch);
      });
    }
  }
  const std::vector<Timing> timings = measure(works, settings.schedule);
  RsaTable table{material.bits, std::string(name_of(operation)), {}};
  table.lines.push_back({"openssl", 1, {{1, timings[0], {}, 1 / timings[0].seconds, 1}}});
  for (size_t i = 0; i < contenders.size(); ++i) {
    table.lines.push_back(make_line(contenders[i], timings, 1 + i * settings.batches.size(), settings));
  }
  return table;
}

}  // namespace

void run_rsa(const RsaSettings& settings, const OnPoint& on_point,
             const std::function<void(const RsaTable&)>& on_table) {
  for (const uint32_t bits : settings.bits) {
    on_point("a key of " + std::to_string(bits) + " bits");
    // One digest more than a batch of one needs, for a wrong signature.
    RsaMaterial material(bits, std::max<uint64_t>(2, settings.batches.back()), settings.operations);
    std::vector<Contender> contenders;
    for (const bignum::Variant* row : rows_for(settings)) {
      for (const uint32_t threads : settings.threads) contenders.emplace_back(*row, threads, material);
    }
    for (const RsaOperation operation : settings.operations) {
      on_point("RSA-" + std::to_string(bits) + " " + std::string(name_of(operation)));
      for (Contender& contender : contenders) {
        for (const uint64_t batch : settings.batches) contender.check(operation, batch);
      }
      on_table(measure_operation(operation, material, contenders, settings));
    }
  }
}

}  // namespace stockade::bench
