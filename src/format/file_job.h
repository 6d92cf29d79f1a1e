// Whole Stockade files and plain Cobblestone from descriptor to descriptor: the header, the payload key, and the transform
// of the payload for the pipelines of src/io.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "base/status.h"
#include "config/environment.h"
#include "format/sealed_file.h"

namespace stockade::format {

// Chunks in a segment: 256 KiB of plaintext, small enough for the second-level cache with both buffers.
inline constexpr uint64_t segment_chunks = 16;

// How finely a job is cut and reported. The bytes do not depend on it.
struct JobPace {
  uint64_t segment_chunks = format::segment_chunks;
  uint32_t progress_interval = 100;    // milliseconds
  uint32_t checkpoint_interval = 250;  // milliseconds, of a journal
};

// stockade_file_encrypt_fd, _decrypt_fd and _verify_fd, without a journal (slices/resume.h has those with one).
Status encrypt_fd(const FileFormat& format, int in_fd, int out_fd, stockade_file_job& job,
                  const config::EngineChoice& engine, RandomSource& random, const JobPace& pace = {});
Status decrypt_fd(const FileFormat& format, int in_fd, int out_fd, stockade_file_job& job,
                  const config::EngineChoice& engine, const JobPace& pace = {});
Status verify_fd(const FileFormat& format, int in_fd, stockade_file_job& job, const config::EngineChoice& engine,
                 const JobPace& pace = {});

}  // namespace stockade::format
