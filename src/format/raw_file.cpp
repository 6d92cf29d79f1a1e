#include "format/raw_file.h"

#include <algorithm>
#include <cstring>

#include "cipher/raw_transform.h"
#include "io/transfer.h"

namespace stockade::format {
namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
constexpr uint32_t tag_bytes = cipher::GcmTransform::tag_bytes;

Status check_options(const cipher::CipherKey& key, const stockade_raw_options& options) {
  // A caller in C may have put any number here, and an enum may not hold any number here.
  uint32_t padding;
  static_assert(sizeof padding == sizeof options.padding);
  std::memcpy(&padding, &options.padding, sizeof padding);
  if (padding > STOCKADE_PADDING_PKCS7) return STOCKADE_ERROR_ARGUMENT;
  if (options.unit != 0 && (options.unit < block_bytes || options.unit > aes::max_unit_bytes)) {
    return STOCKADE_ERROR_ARGUMENT;
  }
  if (options.iv == nullptr && options.iv_length != 0) return STOCKADE_ERROR_NULL_POINTER;
  if (options.aad == nullptr && options.aad_length != 0) return STOCKADE_ERROR_NULL_POINTER;
  const bool can_pad = key.mode == STOCKADE_ECB || key.mode == STOCKADE_CBC;
  if (options.padding != STOCKADE_PADDING_NONE && !can_pad) return STOCKADE_ERROR_MODE;
  if (options.unit != 0 && key.mode != STOCKADE_XTS) return STOCKADE_ERROR_MODE;
  if (key.mode == STOCKADE_GCM) return gcm::check(options.iv_length, options.aad_length, 0, tag_bytes);
  return options.aad_length != 0 ? STOCKADE_ERROR_MODE : aes::check_iv(key.mode, options.iv_length);
}

Status run(io::TransferOptions& transfer, cipher::Transform& transform, const config::EngineChoice& engine,
           stockade_raw_options& options) {
  io::TransferResult result{};
  const Status status = io::run_transfer(transfer, transform, engine, result);
  options.in_length = result.in_length;
  options.out_length = result.out_length;
  return status;
}

}  // namespace

Status crypt_fd(const cipher::CipherKey& key, stockade_direction direction, int in_fd, int out_fd,
                stockade_raw_options& options, const config::EngineChoice& engine, const FilePace& pace) {
  if (options.struct_size != sizeof options) return STOCKADE_ERROR_ARGUMENT;
  options.in_length = 0;
  options.out_length = 0;
  const Status status = check_options(key, options);
  if (status != STOCKADE_OK) return status;
  io::TransferOptions transfer{};
  transfer.in_fd = in_fd;
  transfer.out_fd = out_fd;
  transfer.segment_bytes = std::max(pace.segment_bytes / block_bytes, uint64_t{1}) * block_bytes;
  transfer.progress_interval = pace.progress_interval;
  transfer.progress = options.progress;
  transfer.progress_context = options.progress_context;
  if (key.mode == STOCKADE_GCM) {
    cipher::GcmTransform transform(key.gcm, direction, options.iv, options.iv_length, options.aad, options.aad_length);
    transfer.kept_bytes = direction == STOCKADE_DECRYPT ? tag_bytes : 0;
    transfer.added_bytes = direction == STOCKADE_ENCRYPT ? tag_bytes : 0;
    transfer.only_regular_output = direction == STOCKADE_DECRYPT;
    return run(transfer, transform, engine, options);
  }
  if (key.mode == STOCKADE_XTS) {
    cipher::UnitTransform transform(key.aes, direction, options.iv, options.unit);
    transfer.segment_bytes = transform.segment_bytes(pace.segment_bytes);
    return run(transfer, transform, engine, options);
  }
  cipher::BlockTransform transform(key.aes, direction, options.iv, options.padding == STOCKADE_PADDING_PKCS7);
  transfer.in_order = transform.in_order();
  return run(transfer, transform, engine, options);
}

}  // namespace stockade::format
