#include <algorithm>

#include "engine/engine.h"

namespace stockade::engine {

void run_serial(uint64_t items, uint64_t grain, Body body, void* context) {
  grain = std::max<uint64_t>(grain, 1);
  for (uint64_t begin = 0; begin < items;) {
    const uint64_t end = begin + std::min(grain, items - begin);
    body(context, begin, end, 0);
    begin = end;
  }
}

}  // namespace stockade::engine
