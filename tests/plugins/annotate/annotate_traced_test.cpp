#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/plugins/annotate/calls.h"

namespace {

// The calls of one round, in the order of calls_c99.c.
constexpr char kOneRound[] =
    "6 0x1000 4096 (nil) pool\n"
    "5 0x1000 512 0x20 -\n"
    "1 0x1000 512 0x20 -\n"
    "2 0x1000 512 0x20 -\n"
    "3 0x1000 0 0x20 -\n"
    "4 0x1000 0 (nil) -\n";

TEST_CASE("what is annotated reaches the tracer once the driver has loaded it") {
  REQUIRE(std::string(std::getenv("CUDA_INJECTION64_PATH")) == GRAPHKIT_RECORDER);
  void* block = reinterpret_cast<void*>(0x1000);
  void* stream = reinterpret_cast<void*>(0x20);

  AnnotateFromC99(block, stream);    // before the tracer is there: nobody hears it,
  AnnotateFromCpp17(block, stream);  // and it isn't loaded for that

  CHECK(dlopen(GRAPHKIT_RECORDER, RTLD_LAZY | RTLD_NOLOAD) == nullptr);
  void* recorder = dlopen(GRAPHKIT_RECORDER, RTLD_LAZY);
  REQUIRE(recorder != nullptr);
  const auto recorded = reinterpret_cast<const char* (*)()>(dlsym(recorder, "RecordedAnnotations"));
  REQUIRE(static_cast<bool>(recorded));

  AnnotateFromC99(block, stream);
  CHECK(recorded() == std::string(kOneRound));
  AnnotateFromCpp17(block, stream);
  CHECK(recorded() == std::string(kOneRound) + kOneRound);
}

}  // namespace
