# Headers, both libraries, the command, the CMake package, pkg-config and the documents. Everything installed is
# relocatable: `cmake --install build --prefix ANYWHERE` needs no new configuration.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stockade)
install(TARGETS stockade EXPORT stockadeTargets)
install(TARGETS stockade_static EXPORT stockadeStaticTargets)
install(DIRECTORY include/stockade TYPE INCLUDE PATTERN "stockade_mpi.h" EXCLUDE)
if(stockade_mpi_implementations)
  install(FILES include/stockade/stockade_mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stockade)
endif()
install(FILES LICENSE README.md CHANGELOG.md SECURITY.md TYPE DOC)
install(DIRECTORY docs TYPE DOC FILES_MATCHING PATTERN "*.md")
if(STOCKADE_BUILD_CLI)
  install(TARGETS stockade_cli)
  install(FILES docs/stockade.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES completions/stockade.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME stockade)
  install(FILES completions/_stockade DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES completions/stockade.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

if(stockade_cuda)
  set(stockade_with_cuda TRUE)
else()
  set(stockade_with_cuda FALSE)
endif()
# Two export files, because only users of the static library need libcrypto and a C++ linker.
install(EXPORT stockadeTargets NAMESPACE stockade:: DESTINATION ${package_dir})
install(EXPORT stockadeStaticTargets NAMESPACE stockade:: DESTINATION ${package_dir})
foreach(implementation IN LISTS stockade_mpi_implementations)
  install(TARGETS stockade_mpi_${implementation} stockade_with_${implementation}
    EXPORT stockadeMpiTargets_${implementation})
  install(EXPORT stockadeMpiTargets_${implementation} NAMESPACE stockade:: DESTINATION ${package_dir})
endforeach()
configure_package_config_file(cmake/stockadeConfig.cmake.in cmake/stockadeConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/stockadeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/stockadeConfig.cmake ${PROJECT_BINARY_DIR}/cmake/stockadeConfigVersion.cmake
  DESTINATION ${package_dir})

# What a static link needs besides libstockade.a and libcrypto: threads, and the C++ library of this compiler.
set(private_libraries pthread)
foreach(runtime stdc++ c++ m)
  if(runtime IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    list(APPEND private_libraries ${runtime})
  endif()
endforeach()
list(TRANSFORM private_libraries PREPEND "-l")
if(stockade_with_cuda)
  list(APPEND private_libraries "-L${CUDAToolkit_LIBRARY_DIR}" -lcudart_static -ldl -lrt)
endif()
list(APPEND private_libraries -Wl,-z,nodelete)
list(JOIN private_libraries " " pc_private_libraries)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE pc_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
  OUTPUT_VARIABLE pc_includedir)
cmake_path(SET pc_prefix NORMALIZE /prefix)
cmake_path(RELATIVE_PATH pc_prefix BASE_DIRECTORY /prefix/${pc_libdir}/pkgconfig)
configure_file(cmake/stockade.pc.in cmake/stockade.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/stockade.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(implementation IN LISTS stockade_mpi_implementations)
  list(JOIN stockade_mpi_links_${implementation} " " pc_mpi_libraries)
  configure_file(cmake/stockade_mpi.pc.in cmake/stockade_mpi_${implementation}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/stockade_mpi_${implementation}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
