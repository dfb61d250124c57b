# The page's build, with emscripten (tools/web.sh): libraries from their sources, which tools/setup.sh web fetched into
# GRAPHKIT_WEB_SOURCES, under the names that find_package and pkg-config give them.
set(_sources "${GRAPHKIT_WEB_SOURCES}")
foreach(name nlohmann_json::nlohmann_json CLI11::CLI11)
  string(REPLACE "::" "_" target ${name})
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${_sources}/headers")
  add_library(${name} ALIAS ${target})
endforeach()

# web_library(name alias include sources...)
function(web_library target alias include)
  add_library(${target} STATIC ${ARGN})
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM PUBLIC "${include}")
  add_library(${alias} ALIAS ${target})
endfunction()
file(GLOB _zlib "${_sources}/zlib/*.c")
file(GLOB _zstd "${_sources}/zstd/common/*.c" "${_sources}/zstd/compress/*.c" "${_sources}/zstd/decompress/*.c")
web_library(web_zlib ZLIB::ZLIB "${_sources}/zlib" ${_zlib})
web_library(web_zstd PkgConfig::zstd "${_sources}/zstd" ${_zstd})
web_library(web_simdjson simdjson::simdjson "${_sources}/simdjson" "${_sources}/simdjson/simdjson.cpp")
web_library(web_sqlite PkgConfig::sqlite3 "${_sources}/sqlite" "${_sources}/sqlite/sqlite3.c")
# abi::__cxa_demangle as libstdc++ has it: that of emscripten's library writes lambdas in another way.
web_library(web_demangle graphkit_web::demangle "${_sources}/demangle" "${_sources}/demangle/cp-demangle.c")
target_compile_definitions(web_demangle PRIVATE IN_GLIBCPP_V3 HAVE_STDLIB_H HAVE_STRING_H)
target_link_libraries(graphkit_options INTERFACE web_demangle)
target_compile_definitions(web_zstd PRIVATE ZSTD_DISABLE_ASM)
target_compile_definitions(web_sqlite PRIVATE SQLITE_THREADSAFE=0 SQLITE_OMIT_LOAD_EXTENSION SQLITE_OMIT_LOOKASIDE)
set(GRAPHKIT_HAS_SQLITE ON)

# Not -Os: with it emscripten inlines nothing, and the page is many times slower and larger.
set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -fwasm-exceptions")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(GRAPHKIT_UNIT_SOURCES 8)

# -Uunix: emscripten defines the word.
target_compile_definitions(graphkit_options INTERFACE GRAPHKIT_WEB)
target_compile_options(graphkit_options INTERFACE -Uunix
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-isystem ${PROJECT_SOURCE_DIR}/tools/web/include -include ${PROJECT_SOURCE_DIR}/tools/web/standard.h>")

# A module that runs one command, in a worker or in node: tools/web/worker.js. binaryen's passes, which take minutes, make it 3 %
# smaller and no faster: -O1 leaves them out.
set(CMAKE_EXE_LINKER_FLAGS "${CMAKE_EXE_LINKER_FLAGS} -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=8MB \
  -sMODULARIZE -sEXPORT_NAME=Graphkit -sENVIRONMENT=worker,node -sINVOKE_RUN=0 -sEXIT_RUNTIME=1 -lworkerfs.js \
  -sEXPORTED_RUNTIME_METHODS=callMain,FS -O1")
