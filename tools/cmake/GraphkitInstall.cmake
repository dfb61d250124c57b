# cmake --install build --prefix X: a tree that can be moved as a whole.
#   bin/graphkit  lib/libgraphkit.a  lib/cmake/graphkit  include/libgraphkit  lib/graphkit (the plugins)
# The library folder is lib on every system: the tool finds the plugins as ../lib/graphkit from its own place.
include(CMakePackageConfigHelpers)
set(_package lib/cmake/graphkit)

install(TARGETS graphkit EXPORT graphkitTargets ARCHIVE DESTINATION lib)
install(TARGETS graphkit_cli RUNTIME DESTINATION bin)
install(DIRECTORY libgraphkit DESTINATION include FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE README.md DESTINATION share/doc/graphkit)
install(FILES "${PROJECT_BINARY_DIR}/share/graphkit/trace.schema.json" DESTINATION share/graphkit)
install(DIRECTORY testdata/schemas DESTINATION share/graphkit OPTIONAL)
install(DIRECTORY "${PROJECT_BINARY_DIR}/share/graphkit/example" DESTINATION share/graphkit USE_SOURCE_PERMISSIONS OPTIONAL)
# The plugins are loaded as files; the build lays them out as they are installed.
install(DIRECTORY "${PROJECT_BINARY_DIR}/lib/graphkit" DESTINATION lib USE_SOURCE_PERMISSIONS OPTIONAL)

install(EXPORT graphkitTargets NAMESPACE graphkit:: DESTINATION ${_package})
configure_package_config_file(tools/cmake/graphkitConfig.cmake.in graphkitConfig.cmake
  INSTALL_DESTINATION ${_package})
write_basic_package_version_file(graphkitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/graphkitConfig.cmake" "${PROJECT_BINARY_DIR}/graphkitConfigVersion.cmake"
  DESTINATION ${_package})
