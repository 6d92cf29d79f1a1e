// How long keys take: to make, and to read from a file with every check. Through the C ABI, on one thread, beside
// OpenSSL. Each run makes a key of its own, so the figures are those of many keys.
#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "aes.h"
#include "handles.h"
#include "peer_rsa.h"
#include "rsa.h"
#include "rsa_load.h"

namespace stockade::bench {
namespace {

void require(stockade_status status, const char* what) {
  if (status != STOCKADE_OK) throw std::runtime_error(std::string(what) + ": " + stockade_status_text(status));
}

// A key in both of its files, in PEM.
struct Files {
  std::string private_key, public_key;
};

Files write(const RsaKey& key) {
  const auto text = [&](auto put) {
    std::string pem(stockade_rsa_key_file_bound(key.get()), '\0');
    uint64_t length = 0;
    require(put(pem, &length), "key file");
    pem.resize(length);
    return pem;
  };
  return {text([&](std::string& pem, uint64_t* length) {
            return stockade_rsa_key_write_private(key.get(), nullptr, 0, pem.data(), pem.size(), length);
          }),
          text([&](std::string& pem, uint64_t* length) {
            return stockade_rsa_key_write_public(key.get(), pem.data(), pem.size(), length);
          })};
}

// The implementation of that name, or the one that is chosen for an empty name.
class Maker {
 public:
  explicit Maker(const std::string& row) : force_(row.empty() ? row : "bignum:" + row) {}

  RsaKey generate(uint32_t bits) const {
    stockade_rsa_key* key = nullptr;
    require(stockade_rsa_key_generate(&key, bits, 0, force()), "key generation");
    return RsaKey(key);
  }
  template <auto read>
  RsaKey load(const std::string& pem) const {
    stockade_rsa_reading reading{};
    reading.struct_size = sizeof reading;
    reading.force = force();
    stockade_rsa_key* key = nullptr;
    require(read(&key, pem.data(), pem.size(), &reading), "key file");
    return RsaKey(key);
  }

 private:
  const char* force() const { return force_.empty() ? nullptr : force_.c_str(); }
  std::string force_;
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What one contender does in its turn of run i.
struct Contender {
  std::string name;
  std::function<void(uint32_t i)> turn;
  std::vector<double> seconds = {};
};

// How often, and who hears of it.
struct Runs {
  uint32_t count;
  const OnPoint& on_point;
};

void take_turns(RsaKeyTable& table, const char* operation, std::vector<Contender> contenders, const Runs& runs) {
  for (uint32_t i = 0; i < runs.count; ++i) {
    runs.on_point("RSA-" + std::to_string(table.bits) + ", " + operation);
    for (size_t turn = 0; turn < contenders.size(); ++turn) {
      Contender& contender = contenders[(turn + i) % contenders.size()];
      contender.seconds.push_back(seconds_of([&] { contender.turn(i); }));
    }
  }
  const double yardstick = median(contenders[0].seconds);
  for (const Contender& contender : contenders) {
    const double middle = median(contender.seconds);
    const auto [low, high] = std::ranges::minmax(contender.seconds);
    table.lines.push_back({operation,
                           contender.name,
                           contender.seconds.size(),
                           {middle, low, high},
                           quantile(contender.seconds, 0.9),
                           yardstick / middle});
  }
}

// The keys of all contenders, which OpenSSL has to agree with.
std::vector<Files> measure_generation(RsaKeyTable& table, const std::vector<Maker>& makers,
                                      const std::vector<std::string>& names, const Runs& runs) {
  std::vector<RsaKey> made;
  std::vector<Contender> contenders{{"openssl", [&](uint32_t) { peer_generate_key(table.bits); }}};
  for (size_t i = 0; i < makers.size(); ++i) {
    contenders.push_back({names[i], [&, i](uint32_t) { made.push_back(makers[i].generate(table.bits)); }});
  }
  take_turns(table, "generate", std::move(contenders), runs);
  std::vector<Files> files;
  for (const RsaKey& key : made) {
    files.push_back(write(key));
    try {
      peer_load_private(files.back().private_key);
    } catch (const std::runtime_error& error) {
      throw Mismatch("RSA-" + std::to_string(table.bits) + ", a key that was made here: " + error.what());
    }
  }
  return files;
}

void measure_loading(RsaKeyTable& table, const std::vector<Maker>& makers, const std::vector<std::string>& names,
                     const std::vector<Files>& files, const Runs& runs) {
  const auto file = [&](uint32_t i) -> const Files& { return files[i % files.size()]; };
  std::vector<Contender> private_ones{{"openssl", [&](uint32_t i) { peer_load_private(file(i).private_key); }}};
  std::vector<Contender> public_ones{{"openssl", [&](uint32_t i) { peer_load_public(file(i).public_key); }}};
  for (size_t m = 0; m < makers.size(); ++m) {
    const Maker& maker = makers[m];
    private_ones.push_back(
        {names[m], [&](uint32_t i) { maker.load<stockade_rsa_key_read_private>(file(i).private_key); }});
    public_ones.push_back(
        {names[m], [&](uint32_t i) { maker.load<stockade_rsa_key_read_public>(file(i).public_key); }});
  }
  take_turns(table, "load private", std::move(private_ones), runs);
  take_turns(table, "load public", std::move(public_ones), runs);
}

}  // namespace

void run_rsa_keys(const RsaSettings& settings, const OnPoint& on_point,
                  const std::function<void(const RsaKeyTable&)>& on_table) {
  std::vector<Maker> makers;
  std::vector<std::string> names = settings.rows;
  if (names.empty()) names.emplace_back();
  for (std::string& name : names) {
    makers.emplace_back(name);
    // What is chosen has a name too.
    name = stockade_rsa_key_row(makers.back().generate(2048).get());
  }
  const Runs runs{settings.schedule.rounds, on_point};
  for (const uint32_t bits : settings.bits) {
    RsaKeyTable table{bits, {}};
    const std::vector<Files> files = measure_generation(table, makers, names, runs);
    measure_loading(table, makers, names, files, runs);
    on_table(table);
  }
}

}  // namespace stockade::bench
