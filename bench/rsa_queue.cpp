// The queue for requests as they come, under load and through the C ABI, beside OpenSSL in a plain pool of as many
// threads. First clients that ask again as soon as they are answered, then requests at random times.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include "aes.h"
#include "handles.h"
#include "rsa.h"
#include "rsa_load.h"
#include "rsa_material.h"
#include "rsa_pool.h"

namespace stockade::bench {
namespace {

constexpr uint64_t digest_count = 64;

void require(stockade_status status, const char* what) {
  if (status != STOCKADE_OK) throw std::runtime_error(std::string(what) + ": " + stockade_status_text(status));
}

RsaKey read_key(const RsaPeer& peer, const std::string& row) {
  const std::vector<uint8_t> der = peer.private_key();
  const std::string force = row.empty() ? row : "bignum:" + row;
  stockade_rsa_reading reading{};
  reading.struct_size = sizeof reading;
  if (!force.empty()) reading.force = force.c_str();
  stockade_rsa_key* key = nullptr;
  require(stockade_rsa_key_read_private(&key, der.data(), der.size(), &reading), "private key");
  return RsaKey(key);
}

RsaQueue make_queue(uint32_t threads) {
  stockade_engine* engine = nullptr;
  require(stockade_engine_create(&engine, "threads", threads), "engine");
  const Engine owned(engine);
  stockade_rsa_queue_options options{};
  options.struct_size = sizeof options;
  options.padding.struct_size = sizeof options.padding;
  options.padding.padding = STOCKADE_RSA_PKCS1V15;
  stockade_rsa_queue* queue = nullptr;
  require(stockade_rsa_queue_create(&queue, &options, engine), "queue");
  return RsaQueue(queue);
}

// A row behind the queue, as it is without options.
class Queue : public Signer {
 public:
  Queue(const RsaPeer& peer, const std::string& row, uint32_t threads)
      : key_(read_key(peer, row)), queue_(make_queue(threads)) {}
  const char* row() const { return stockade_rsa_key_row(key_.get()); }

  void sign(std::span<const uint8_t> digest, std::span<uint8_t> signature) override {
    stockade_rsa_item item = item_for(digest, signature);
    stockade_rsa_queue_sign(queue_.get(), &item);
  }
  void submit(Request& request) override {
    auto pending = std::make_unique<Pending>(Pending{item_for(request.digest, request.signature), &request});
    const stockade_status status = stockade_rsa_queue_submit_sign(queue_.get(), &pending->item, done, pending.get());
    if (status != STOCKADE_OK) return request.done(request);
    // Its owner is now `done`, or has been.
    static_cast<void>(pending.release());
  }
  Counts counts() const override {
    stockade_rsa_queue_statistics found{};
    stockade_rsa_queue_statistics_get(queue_.get(), &found);
    return {found.requests, found.batches};
  }

 private:
  struct Pending {
    stockade_rsa_item item;
    Request* request;
  };
  static void done(void* context, stockade_rsa_item*) {
    const std::unique_ptr<Pending> pending(static_cast<Pending*>(context));
    pending->request->done(*pending->request);
  }
  stockade_rsa_item item_for(std::span<const uint8_t> digest, std::span<uint8_t> signature) const {
    return {key_.get(), digest.data(), digest.size(), signature.data(), signature.size(), 0, nullptr, 0, STOCKADE_OK};
  }

  RsaKey key_;
  RsaQueue queue_;
};

// Someone who signs, and what the rounds of one load have given.
struct Contender {
  std::string name;
  std::unique_ptr<Signer> signer;
  std::vector<double> latencies = {};           // of all rounds
  std::vector<double> rates = {};               // of each round
  std::vector<double> medians = {}, p99s = {};  // of the latencies of each round that has any
  Signer::Counts before = {};
  bool left_out = false;
};

// One load, whoever bears it.
using Round = std::function<LoadResult(Signer&, uint32_t round)>;

class Bench {
 public:
  Bench(const RsaSettings& settings, uint32_t bits, uint32_t threads)
      : settings_(settings),
        threads_(threads),
        material_(bits, digest_count, std::array{RsaOperation::sign}),
        turn_(turn_for(settings, bits)) {
    contenders_.push_back({"openssl", std::make_unique<PeerPool>(material_.peer, threads)});
    std::vector<std::string> rows = settings.rows;
    if (rows.empty()) rows.emplace_back();
    for (const std::string& row : rows) {
      auto queue = std::make_unique<Queue>(material_.peer, row, threads);
      const std::string name = queue->row();
      contenders_.push_back({name, std::move(queue)});
    }
  }

  RsaLoad with_clients(uint32_t clients, const OnPoint& on_point) {
    RsaLoad load{material_.bits, threads_, clients, 0, {}, {}};
    run(load, [&](Signer& signer, uint32_t) {
      on_point("RSA-" + std::to_string(material_.bits) + ", " + std::to_string(clients) + " clients");
      return closed_loop(signer, material_, clients, turn_);
    });
    return load;
  }

  // So many requests per second; who can do no more than that is left out, for then they would only pile up.
  RsaLoad with_arrivals(const RsaLoad& full, size_t whose, double share, const OnPoint& on_point) {
    const RsaLoadLine& line = full.lines[whose];
    const std::string percent = std::to_string(static_cast<int>(share * 100 + 0.5));
    RsaLoad load{material_.bits, threads_, 0, share * line.per_second.figure, percent + "% of " + line.contender, {}};
    for (size_t i = 0; i < contenders_.size(); ++i) {
      contenders_[i].left_out = full.lines[i].per_second.figure <= load.arrivals_per_second;
    }
    run(load, [&](Signer& signer, uint32_t round) {
      on_point("RSA-" + std::to_string(material_.bits) + ", " + load.arrivals);
      return open_loop(signer, material_, load.arrivals_per_second, turn_, round);
    });
    for (Contender& contender : contenders_) contender.left_out = false;
    return load;
  }

 private:
  // A power of RSA grows with the cube of its length; the number of requests in a turn shrinks less than that.
  static Turn turn_for(const RsaSettings& settings, uint32_t bits) {
    const double longer = static_cast<double>(bits) / 2048;
    const std::chrono::duration<double> seconds(settings.turn_seconds * longer * longer);
    return {seconds / 4, seconds};
  }

  void run(RsaLoad& load, const Round& round) {
    for (Contender& contender : contenders_) {
      contender.latencies.clear();
      contender.rates.clear();
      contender.medians.clear();
      contender.p99s.clear();
      contender.before = contender.signer->counts();
    }
    for (uint32_t i = 0; i < settings_.schedule.rounds; ++i) {
      for (size_t turn = 0; turn < contenders_.size(); ++turn) {
        Contender& contender = contenders_[(turn + i) % contenders_.size()];
        if (!contender.left_out) take(contender, round(*contender.signer, i));
      }
    }
    for (const Contender& contender : contenders_) load.lines.push_back(line_for(contender));
    for (RsaLoadLine& line : load.lines) {
      const double yardstick = load.lines[0].per_second.figure;
      if (yardstick > 0) line.ratio = line.per_second.figure / yardstick;
    }
  }

  void take(Contender& contender, const LoadResult& result) const {
    if (result.wrong != 0) {
      throw Mismatch("RSA-" + std::to_string(material_.bits) + ", " + contender.name +
                     " under load: " + std::to_string(result.wrong) + " signatures are not those of OpenSSL");
    }
    contender.rates.push_back(result.per_second);
    if (result.latencies.empty()) return;
    contender.medians.push_back(quantile(result.latencies, 0.5));
    contender.p99s.push_back(quantile(result.latencies, 0.99));
    contender.latencies.insert(contender.latencies.end(), result.latencies.begin(), result.latencies.end());
  }

  static RsaSpread spread(double figure, const std::vector<double>& rounds) {
    const auto [low, high] = std::ranges::minmax(rounds);
    // The figure of all rounds together need not lie between those of the rounds.
    return {figure, std::min(low, figure), std::max(high, figure)};
  }

  static RsaLoadLine line_for(const Contender& contender) {
    RsaLoadLine line;
    line.contender = contender.name;
    if (contender.left_out) {
      line.reason = "more than it can do";
      return line;
    }
    if (median(contender.rates) == 0) {
      line.reason = "nothing was finished in time";
      return line;
    }
    const Signer::Counts now = contender.signer->counts();
    const uint64_t batches = now.batches - contender.before.batches;
    line.requests = contender.latencies.size();
    line.per_second = spread(median(contender.rates), contender.rates);
    line.median_seconds = spread(quantile(contender.latencies, 0.5), contender.medians);
    line.p99_seconds = spread(quantile(contender.latencies, 0.99), contender.p99s);
    if (batches != 0) {
      line.mean_batch = static_cast<double>(now.requests - contender.before.requests) / static_cast<double>(batches);
    }
    return line;
  }

  const RsaSettings& settings_;
  uint32_t threads_;
  RsaMaterial material_;
  Turn turn_;
  std::vector<Contender> contenders_;  // OpenSSL first
};

}  // namespace

void run_rsa_queue(const RsaSettings& settings, const OnPoint& on_point,
                   const std::function<void(const RsaLoad&)>& on_load) {
  for (const uint32_t bits : settings.bits) {
    for (const uint32_t threads : settings.threads) {
      on_point("a key of " + std::to_string(bits) + " bits");
      Bench bench(settings, bits, threads);
      RsaLoad full;
      for (const uint32_t clients : settings.clients) {
        full = bench.with_clients(clients, on_point);
        on_load(full);
      }
      // With the most clients OpenSSL did what it can do, and so did the first row.
      for (const auto& [whose, share] : {std::pair{0, 0.5}, {0, 0.9}, {1, 0.9}}) {
        if (full.lines[static_cast<size_t>(whose)].per_second.figure == 0) continue;
        on_load(bench.with_arrivals(full, static_cast<size_t>(whose), share, on_point));
      }
    }
  }
}

}  // namespace stockade::bench
