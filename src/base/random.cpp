#include "base/random.h"

#include <sys/random.h>

#include <cerrno>

namespace stockade {
namespace {

class SystemRandom final : public RandomSource {
 public:
  Status fill(uint8_t* out, uint64_t length) override {
    while (length != 0) {
      const ssize_t got = ::getrandom(out, length, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return STOCKADE_ERROR_RANDOM;
      out += got;
      length -= static_cast<uint64_t>(got);
    }
    return STOCKADE_OK;
  }
};

}  // namespace

RandomSource& system_random() {
  static SystemRandom source;
  return source;
}

}  // namespace stockade
