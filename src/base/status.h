// The outcome of an internal operation: the public enum under a shorter name.
#pragma once

#include "stockade/stockade.h"

namespace stockade {
using Status = stockade_status;
}
