// One operation on data in a GPU's memory: how it is launched, and what it must give.
#pragma once

#include <cstdint>
#include <string>

#include "gpu_card.h"
#include "gpu_questions.h"

namespace stockade::bench {

enum class GpuForm {
  out_of_place,
  in_place,
  bitsliced,  // counter mode without tables
  chunks      // of a Cobblestone payload
};

struct GpuOperation {
  AesCipher cipher;
  stockade_direction direction;
  GpuForm form;

  std::string name() const;  // "encrypt", "decrypt", "seal" or "open"
  std::string form_text() const;
};

// Why a size cannot be given to an operation; empty where it can.
std::string unfit(const GpuOperation& operation, uint64_t size);

class GpuTask {
 public:
  GpuTask(const GpuOperation& operation, Card& card, HostData& host, const stockade_engine* cpu);

  // What a message of that size needs, and whether the GPU gives the CPU's bytes for it. Throws Mismatch. card.first() holds
  // host.plain, before and after.
  void prepare(uint64_t size);
  // So much workspace for the message, where another launch shape needs more.
  void reserve(uint64_t workspace) { queue_ = card_.queue(workspace); }
  const stockade_key* key() const { return key_.get(); }
  // Puts one run over the prepared message into the card's stream.
  void launch();
  Card& card() { return card_; }

 private:
  bool gcm() const { return operation_.cipher.mode == STOCKADE_GCM; }
  bool chunks() const { return operation_.form == GpuForm::chunks; }
  bool encrypts() const { return operation_.direction == STOCKADE_ENCRYPT; }
  // Reads what sealing gives, and gives the plaintext back.
  bool opens() const { return gcm() && !encrypts(); }
  bool cut_into_units() const { return operation_.cipher.mode == STOCKADE_XTS && size_ > xts_unit; }
  uint64_t chunk_count() const { return (size_ + STOCKADE_CHUNK_BYTES - 1) / STOCKADE_CHUNK_BYTES; }
  uint64_t result_bytes() const { return chunks() && encrypts() ? sealed_bytes() : size_; }
  uint64_t sealed_bytes() const { return size_ + (chunks() ? 16 * chunk_count() : 0); }

  void compute_on_cpu();
  void seal_chunks_on_cpu();
  void verify();
  bool authentic();
  stockade_status launch_once();
  stockade_status launch_cipher();
  stockade_status launch_gcm();
  stockade_status launch_chunks();
  stockade_status launch_bitsliced();

  GpuOperation operation_;
  Card& card_;
  HostData& host_;
  const stockade_engine* cpu_;
  Key key_;
  uint64_t size_ = 0;
  uint8_t *in_, *out_;
  stockade_device_queue queue_{};
};

}  // namespace stockade::bench
