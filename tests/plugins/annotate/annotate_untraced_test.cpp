#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/plugins/annotate/calls.h"

namespace {

TEST_CASE("a program that isn't traced may annotate, and nothing happens") {
  REQUIRE(std::getenv("CUDA_INJECTION64_PATH") == nullptr);
  int block = 0;
  int stream = 0;
  AnnotateFromC99(&block, &stream);
  AnnotateFromCpp17(&block, &stream);
  CHECK(block == 0);
  CHECK(stream == 0);
}

TEST_CASE("annotating loads no library, and a tracer that comes later isn't looked for") {
  int block = 0;
  AnnotateFromC99(&block, nullptr);
  CHECK(dlopen(GRAPHKIT_RECORDER, RTLD_LAZY | RTLD_NOLOAD) == nullptr);

  void* recorder = dlopen(GRAPHKIT_RECORDER, RTLD_LAZY);
  REQUIRE(recorder != nullptr);
  setenv("CUDA_INJECTION64_PATH", GRAPHKIT_RECORDER, 1);
  AnnotateFromC99(&block, nullptr);
  const auto recorded = reinterpret_cast<const char* (*)()>(dlsym(recorder, "RecordedAnnotations"));
  REQUIRE(static_cast<bool>(recorded));
  CHECK(recorded() == std::string());
}

}  // namespace
