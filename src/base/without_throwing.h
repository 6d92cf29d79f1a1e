// How exceptions end at the functions that return a status: the C interface, and what must not throw beneath it.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include "base/status.h"

namespace stockade {

// What `body` returns. Where it throws:
//   MEMORY     no memory, a container longer than any memory, no thread or lock of the operating system
//   CANCELLED  anything else, which the library does not throw: it came out of a function of the caller
template <typename Body>
Status without_throwing(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return STOCKADE_ERROR_MEMORY;
  } catch (const std::length_error&) {
    return STOCKADE_ERROR_MEMORY;
  } catch (const std::system_error&) {
    return STOCKADE_ERROR_MEMORY;
  } catch (...) {
    return STOCKADE_ERROR_CANCELLED;
  }
}

}  // namespace stockade
