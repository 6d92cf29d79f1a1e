// What the program was built from.
#pragma once

namespace stockade::cmd {

// "8ab323e01234", with "+" where there were changes; "v0.1.0" where there was no repository.
const char* built_from();

}  // namespace stockade::cmd
