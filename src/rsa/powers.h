// Who computes the powers of private operations: the layers of parallel work inside an operation. What a power is, is
// the row's business (bignum/modexp.h); which layers are best is rsa/batch.h's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "bignum/bignum_variants.h"
#include "config/environment.h"
#include "parallel/plan.h"

namespace stockade::rsa {

enum class Layers : uint32_t {
  together,             // all powers in one call of the row, which fills its lanes
  halves,               // each power by a worker of its own
  right_to_left,        // one power after the other, each by two workers: one squares, the other multiplies
  right_to_left_halves  // each power by two workers of its own
};

// The names of rsa_layers, in which STOCKADE_FORCE speaks. None for one that is not known.
std::optional<Layers> find_layers(std::string_view name);

// How many workers `powers` can keep busy.
uint64_t most_workers(Layers layers, uint64_t powers);

struct Arrangement {
  Layers layers = Layers::together;
  parallel::Plan plan{config::Kind::serial, 1, aes::Stores::ordinary, ""};
  const bignum::Variant* row = nullptr;  // null: the one that run_powers is given
};

// Constant-time like the row, in the number of workers too. The row's statuses, and MEMORY.
Status run_powers(const bignum::Variant& row, std::span<const bignum::Power> powers, const Arrangement& arrangement);

}  // namespace stockade::rsa
