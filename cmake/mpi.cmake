# libstockade_mpi, once for each MPI library that is there: what a type of MPI is differs between them, so a program
# takes the one that belongs to its own. Each contains only what stockade_mpi.h declares, and reaches into the static
# libstockade, with which it is linked. Defines the targets stockade_mpi_<implementation> and lists the implementations,
# the default first, in stockade_mpi_implementations; stockade_mpi_links_<implementation> is what the linker must be
# told of the MPI library.

set(stockade_mpi_implementations)
set(stockade_mpi_known openmpi mpich)

# What compiler wrapper `wrapper` adds to a command line, as the target `target`. Its Fortran and C++ bindings are left
# out.
function(stockade_import_mpi target wrapper)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    return()
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  list(POP_FRONT words)
  set(folders)
  set(links)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      list(APPEND folders ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-(L|l|Wl,)")
      list(APPEND links ${word})
    endif()
  endforeach()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${folders})
  target_link_libraries(${target} INTERFACE ${links})
  target_compile_definitions(${target} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endfunction()

# Whether the MPI of target `mpi` is of that implementation.
function(stockade_check_mpi mpi implementation result)
  set(openmpi_macro OPEN_MPI)
  set(mpich_macro MPICH_VERSION)
  get_target_property(folders ${mpi} INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(links ${mpi} INTERFACE_LINK_LIBRARIES)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${folders})
  set(CMAKE_REQUIRED_LIBRARIES ${links})
  set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("#include <mpi.h>\n#ifndef ${${implementation}_macro}\n#error\n#endif
    int main() { return MPI_Init(nullptr, nullptr); }" ${result})
  set(${result} ${${result}} PARENT_SCOPE)
  if(NOT ${result})
    # So that it is asked again when the packages are there.
    unset(${result} CACHE)
  endif()
endfunction()

# One library for one MPI, from the wrapper that Debian names after it, or from the one that is simply there.
function(stockade_add_mpi implementation)
  find_program(STOCKADE_MPICC_${implementation} NAMES mpicc.${implementation} mpicc
    DOC "The C compiler wrapper of ${implementation}")
  find_program(STOCKADE_MPIRUN_${implementation} NAMES mpirun.${implementation} mpirun
    DOC "The launcher of ${implementation}")
  mark_as_advanced(STOCKADE_MPICC_${implementation} STOCKADE_MPIRUN_${implementation})
  if(NOT STOCKADE_MPICC_${implementation})
    return()
  endif()
  set(mpi stockade_with_${implementation})
  stockade_import_mpi(${mpi} ${STOCKADE_MPICC_${implementation}})
  if(NOT TARGET ${mpi})
    return()
  endif()
  stockade_check_mpi(${mpi} ${implementation} STOCKADE_HAS_${implementation})
  if(NOT STOCKADE_HAS_${implementation})
    return()
  endif()
  set(library stockade_mpi_${implementation})
  add_library(${library} STATIC
    src/mpi/chunk_distribution.cpp
    src/mpi/communicator.cpp
    src/mpi/file.cpp
    src/mpi/finalize.cpp
    src/mpi/message.cpp
    src/capi/mpi.cpp)
  target_include_directories(${library} PRIVATE src PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PUBLIC stockade_static ${mpi})
  get_target_property(links ${mpi} INTERFACE_LINK_LIBRARIES)
  set_target_properties(${library} PROPERTIES EXPORT_NAME mpi_${implementation})
  set_target_properties(${mpi} PROPERTIES EXPORT_NAME with_${implementation})
  set(stockade_mpi_links_${implementation} "${links}" PARENT_SCOPE)
  add_library(stockade::mpi_${implementation} ALIAS ${library})
  set(stockade_mpi_implementations ${stockade_mpi_implementations} ${implementation} PARENT_SCOPE)
endfunction()

foreach(implementation IN LISTS stockade_mpi_known)
  stockade_add_mpi(${implementation})
endforeach()
list(JOIN stockade_mpi_implementations ", " stockade_mpi_found)
if(stockade_mpi_found)
  message(STATUS "MPI libraries found: ${stockade_mpi_found}")
elseif(STOCKADE_MPI STREQUAL "AUTO")
  message(STATUS "No MPI library found: stockade_mpi is not built")
else()
  message(FATAL_ERROR "STOCKADE_MPI is ${STOCKADE_MPI}, but no MPI library was found (tools/setup.sh mpi installs two)")
endif()
