// Which sanitizer a file is compiled for: GCC says it by macros, Clang by __has_feature.
#pragma once

#if defined(__has_feature)
#define STOCKADE_HAS_FEATURE(x) __has_feature(x)
#else
#define STOCKADE_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || STOCKADE_HAS_FEATURE(address_sanitizer)
#define STOCKADE_ADDRESS_SANITIZER 1
#else
#define STOCKADE_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || STOCKADE_HAS_FEATURE(thread_sanitizer)
#define STOCKADE_THREAD_SANITIZER 1
#else
#define STOCKADE_THREAD_SANITIZER 0
#endif
