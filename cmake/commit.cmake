# Run at every build: writes OUTPUT, which says of what commit the program is, only if that has changed. "+" stands for changes
# that were not committed. Without git, as in a release's archive, it is the version.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "v${VERSION}")
else()
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit "+")
  endif()
endif()
set(text "// Made by cmake/commit.cmake.\n#include \"cmd/stockade/commit.h\"\n\nnamespace stockade::cmd {\nconst char* built_from() { return \"${commit}\"; }\n}\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL "${before}")
  file(WRITE ${OUTPUT} "${text}")
endif()
