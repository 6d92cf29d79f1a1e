// A build without CUDA has no sums on GPUs.
#include "big_sums.h"

namespace stockade::bench {

BigSums big_sums_of_cuda() { return nullptr; }

}  // namespace stockade::bench
