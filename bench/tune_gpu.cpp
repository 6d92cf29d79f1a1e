// What is tuned of GPUs: launch shapes for data in their memory, and how data of host memory comes to them and back.
#include <algorithm>
#include <cstring>
#include <optional>

#include "capi/handles.h"
#include "gpu_questions.h"
#include "gpu_task.h"
#include "offload/backend.h"
#include "tune/profile_in_force.h"
#include "tune_work.h"

namespace stockade::bench {
namespace {

using tune::Choice;
using tune::Operation;
using tune::Runner;

AesCipher cipher_of(Operation operation, uint32_t bits) {
  const auto named = [bits](const char* mode, stockade_mode number) {
    return AesCipher{"aes-" + std::to_string(bits) + "-" + mode, number, bits};
  };
  switch (operation) {
    case Operation::gpu_ecb:
      return named("ecb", STOCKADE_ECB);
    case Operation::gpu_cbc:
      return named("cbc", STOCKADE_CBC);
    case Operation::gpu_cfb:
      return named("cfb", STOCKADE_CFB);
    case Operation::gpu_xts:
      return named("xts", STOCKADE_XTS);
    case Operation::gpu_gcm:
      return named("gcm", STOCKADE_GCM);
    default:
      return named("ctr", STOCKADE_CTR);
  }
}

std::string name_of_gpu(uint32_t device) {
  gpu::DeviceFacts facts;
  check(offload::backend().runtime->facts(device, facts), "a GPU's description");
  return facts.name;
}

// A message in a GPU's memory: runs are put behind one another, and their end is waited for once.
class OnGpu : public TuneWork {
 public:
  OnGpu(const TuneSettings& settings, Operation operation, uint32_t bits)
      : settings_(settings),
        operation_(operation),
        bits_(bits),
        cipher_(cipher_of(operation, bits)),
        longest_(size_that_fits(settings.devices[0], settings.largest_on_gpu)),
        cpu_(make_engine("auto", settings.threads)),
        row_(name_of_gpu(settings.devices[0]).c_str()) {}

  std::vector<uint64_t> lengths() const override {
    std::vector<uint64_t> lengths = tune_grid(64, longest_, 4);
    if (settings_.full) return lengths;
    // What takes as long as a launch is short, whatever its shape; and where a thread has a few blocks, one more of them takes
    // that much longer.
    const uint64_t round = uint64_t{facts().multiprocessors} * 1024 * 16, least = uint64_t{64} << 10;
    std::erase_if(lengths, [&](uint64_t length) {
      return (length > 64 && length < std::min(least, longest_)) ||
             (length > round && length < std::min(8 * round, longest_));
    });
    for (const uint64_t halves : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}) {
      const uint64_t length = (halves * round / 2 + round / 32) / 4096 * 4096;
      if (length > least && length < longest_) lengths.push_back(length);
    }
    std::sort(lengths.begin(), lengths.end());
    return lengths;
  }
  std::vector<uint64_t> other_lengths() const override { return tune_off_grid(64, longest_, settings_.full ? 4 : 16); }

  // Threads of a block in steps of 32, as far as they are asked for, blocks of a thread, blocks of a multiprocessor. First what
  // is built in, which a better one must beat.
  std::vector<Choice> candidates(uint64_t length) const override {
    const auto kernel = operation_ == Operation::gpu_ctr || operation_ == Operation::gpu_gcm
                            ? aes::GpuOperation::ctr
                            : aes::GpuOperation::ecb_encrypt;
    const gpu::Shape built_in = aes::default_shape(kernel, facts().capability, length);
    std::vector<Choice> all{
        choice_of(built_in.threads, built_in.blocks_per_thread, built_in.blocks_per_multiprocessor)};
    for (const uint32_t each : settings_.full ? std::vector<uint32_t>{1, 2} : std::vector<uint32_t>{1}) {
      for (const uint32_t blocks : {1U, 2U, 4U}) {
        for (uint32_t threads = 64; threads <= 1024; threads += step(threads)) {
          const Choice choice = choice_of(threads, blocks, each);
          if (!(choice == all[0])) all.push_back(choice);
        }
      }
    }
    return all;
  }

  bool automatic_is_alone(uint64_t) const override { return false; }
  bool automatic_is(uint64_t length, const Choice& choice) const override {
    const tune::Entry* const row = tune::find(operation_, bits_, length, name_of_gpu(settings_.devices[0]));
    return row != nullptr && row->choice == choice;
  }

  void prepare(uint64_t length) override {
    if (!host_) {
      host_.emplace(longest_);
      card_.emplace(settings_.devices[0], longest_);
      card_->copy_in(card_->first(), host_->plain.data(), longest_);
      const bool decrypts = cipher_.mode == STOCKADE_CBC || cipher_.mode == STOCKADE_CFB;
      const GpuOperation what{cipher_, decrypts ? STOCKADE_DECRYPT : STOCKADE_ENCRYPT, GpuForm::out_of_place};
      task_.emplace(what, *card_, *host_, cpu_.get());
    }
    task_->prepare(length);
    uint64_t most = 0;
    for (const Choice& choice : candidates(length)) {
      row_.set(operation_, bits_, choice);
      const tune::ScopedProfile scoped(row_.profile());
      uint64_t needed = 0;
      const uint64_t unit = cipher_.mode == STOCKADE_XTS && length > xts_unit ? xts_unit : 0;
      check(stockade_device_workspace(task_->key(), STOCKADE_ENCRYPT, card_->device(), length, unit, &needed),
            "a workspace");
      most = std::max(most, needed);
    }
    task_->reserve(most);
  }

  void run(uint64_t, const Choice* choice, uint64_t times) override {
    std::optional<tune::ScopedProfile> scoped;
    if (choice != nullptr) {
      row_.set(operation_, bits_, *choice);
      scoped.emplace(row_.profile());
    }
    for (; times > 0; --times) task_->launch();
    card_->wait();
  }

  // Nobody waits for what a GPU did before, and most of the many shapes are alike.
  std::chrono::microseconds warm_up() const override { return {}; }
  double hopeless() const override { return 1.08; }
  double near_enough() const override { return 1.3; }
  bool varies() const override { return false; }

 private:
  uint32_t step(uint32_t threads) const { return settings_.full ? 32 : threads < 256 ? 64 : 128; }
  gpu::DeviceFacts facts() const {
    gpu::DeviceFacts facts;
    check(offload::backend().runtime->facts(settings_.devices[0], facts), "a GPU's description");
    return facts;
  }
  static Choice choice_of(uint32_t threads, uint32_t blocks, uint32_t each) {
    Choice choice;
    choice.threads = static_cast<uint16_t>(threads);
    choice.blocks = static_cast<uint8_t>(blocks);
    choice.per_multiprocessor = static_cast<uint8_t>(each);
    return choice;
  }

  const TuneSettings& settings_;
  const Operation operation_;
  const uint32_t bits_;
  const AesCipher cipher_;
  const uint64_t longest_;
  const Engine cpu_;
  OneRow row_;
  std::optional<HostData> host_;
  std::optional<Card> card_;
  std::optional<GpuTask> task_;
};

// A message in host memory through GPUs, with cores beside them or without, or through cores alone. The rows' ring is what is
// best of the GPUs' ways; their engine is what is best of all.
class FromHost : public TuneWork {
 public:
  FromHost(const TuneSettings& settings, Operation operation, uint32_t bits)
      : settings_(settings),
        operation_(operation),
        bits_(bits),
        longest_(size_that_fits(settings.devices[0], settings.largest_for_gpu)),
        automatic_(make_gpu_engine("auto", settings.threads, settings.devices)),
        threads_(make_engine("threads", settings.threads)),
        cuda_(make_gpu_engine("cuda", settings.threads, settings.devices)),
        row_(name_of_gpu(settings.devices[0]).c_str()) {}

  std::vector<uint64_t> lengths() const override { return tune_grid(least(), longest_, 4); }
  std::vector<uint64_t> other_lengths() const override { return tune_off_grid(least(), longest_, 16); }
  double near_enough() const override { return 2; }

  std::vector<Choice> candidates(uint64_t) const override {
    std::vector<Choice> all;
    Choice cores;
    cores.runner = Runner::threads;
    all.push_back(cores);
    for (const Runner runner : {Runner::cuda, Runner::hybrid}) {
      for (const uint8_t lanes : pinned() ? std::vector<uint8_t>{2, 4, 8} : std::vector<uint8_t>{4, 8, 16}) {
        for (uint32_t shift = 21; shift <= 24; ++shift) {
          if (!settings_.full && (shift == 21 || shift == 24) && lanes != 4) continue;
          Choice choice;
          choice.runner = runner;
          choice.lanes = lanes;
          choice.run_bytes = uint64_t{1} << shift;
          all.push_back(choice);
        }
      }
    }
    return all;
  }

  bool automatic_is_alone(uint64_t) const override { return false; }
  // Nothing goes to GPUs but what was seen to be slower with cores alone.
  bool stays(const Choice& choice) const override { return choice.runner == Runner::threads; }

  void prepare(uint64_t) override {
    if (key_) return;
    check(in_.allocate(*offload::backend().runtime, longest_), "pinned memory");
    check(out_.allocate(*offload::backend().runtime, longest_), "pinned memory");
    fill(in_.data(), longest_, 7);
    if (!pinned()) {
      ordinary_in_.emplace(longest_);
      ordinary_out_.emplace(longest_);
      fill(ordinary_in_->data(), longest_, 7);
    }
    uint8_t bytes[32];
    fill(bytes, sizeof bytes, 8);
    key_ = make_cipher_key({"aes-256-ctr", STOCKADE_CTR, bits_}, bytes);
  }

  void run(uint64_t length, const Choice* choice, uint64_t times) override {
    std::optional<tune::ScopedProfile> scoped;
    const stockade_engine* engine = automatic_.get();
    if (choice != nullptr) {
      row_.set(operation_, bits_, *choice);
      scoped.emplace(row_.profile());
      if (choice->runner == Runner::cuda) engine = cuda_.get();
      if (choice->runner == Runner::threads) engine = threads_.get();
    }
    const uint8_t iv[16] = {};
    const uint8_t* const in = pinned() ? in_.data() : ordinary_in_->data();
    uint8_t* const out = pinned() ? out_.data() : ordinary_out_->data();
    for (; times > 0; --times) check(stockade_encrypt(key_.get(), iv, sizeof iv, in, length, out, engine), "a message");
  }

 private:
  uint64_t least() const { return std::min(longest_, uint64_t{1} << 20); }
  bool pinned() const { return operation_ == Operation::gpu_pinned; }

  const TuneSettings& settings_;
  const Operation operation_;
  const uint32_t bits_;
  const uint64_t longest_;
  const Engine automatic_, threads_, cuda_;
  OneRow row_;
  gpu::PinnedBuffer in_, out_;
  std::optional<Buffer> ordinary_in_, ordinary_out_;
  Key key_;
};

}  // namespace

std::unique_ptr<TuneWork> make_gpu_tune_work(const TuneSettings& settings, Operation operation, uint32_t bits) {
  if (settings.devices.empty()) return nullptr;
  if (operation == Operation::gpu_pinned || operation == Operation::gpu_staged) {
    return std::make_unique<FromHost>(settings, operation, bits);
  }
  return std::make_unique<OnGpu>(settings, operation, bits);
}

}  // namespace stockade::bench
