// Which function of this program called another: what declassified.cpp declares public holds for named callers only.
#pragma once

#include <string_view>

namespace stockade::ct {

// The linker's name of the function that holds an address of code; empty where no symbol does.
std::string_view function_at(const void* address);

}  // namespace stockade::ct
