#include "plugins/cupti_tracer/recorder/eager_sites.h"

#include <doctest/doctest.h>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

std::vector<ScalarPlace> Places(const char* mangled, std::vector<uint32_t> sizes) {
  std::vector<KernelParam> params;
  uint32_t offset = 0;
  for (const uint32_t size : sizes) {
    params.push_back({offset, size});
    offset += size;
  }
  return ScalarPlaces(mangled, params);
}

TEST_CASE("a C++ signature says which parameters are numbers") {
  // Scale(float*, int, double, bool)
  CHECK(Places("_Z5ScalePfidb", {8, 4, 8, 1}) ==
        std::vector<ScalarPlace>{{1, 0, 4, true}, {2, 0, 8, true}, {3, 0, 1, true}});
  // Fill(int, FillFunctor<float>, Pair<float>)
  CHECK(Places("_Z4Filli11FillFunctorIfE4PairIfE", {4, 4, 8}) ==
        std::vector<ScalarPlace>{{0, 0, 4, true}, {1, 0, 4, true}});
  CHECK(Places("_Z3Addi10AddFunctorIaE", {4, 1}) ==  // an empty class has a byte, too
        std::vector<ScalarPlace>{{0, 0, 4, true}});
  CHECK(Places("_Z5Scalei", {4, 4}).empty());  // another layout than the name says
}

TEST_CASE("without a signature every word may be a number") {
  CHECK(Places("attend", {8, 4, 12, 128}) == std::vector<ScalarPlace>{{0, 0, 8, false},
                                                                      {1, 0, 4, false},
                                                                      {2, 0, 4, false},
                                                                      {2, 4, 4, false},
                                                                      {2, 8, 4, false}});
}

TEST_CASE("what looks like an address is no number") {
  KernelInfo kernel;
  kernel.params = {{0, 8}, {8, 8}};
  const uint64_t address = 0x7f00'0000'1000, number = 77;
  const void* arguments[] = {&address, &number};
  const KernelWork launch{.function = 1, .arguments = arguments};
  uint64_t bits = 0;
  CHECK_FALSE(ReadScalar(launch, kernel, {0, 0, 8, false}, bits));
  CHECK_FALSE(ReadScalar(launch, kernel, {0, 4, 4, false}, bits));  // half of it
  CHECK(ReadScalar(launch, kernel, {0, 0, 8, true}, bits));
  CHECK(ReadScalar(launch, kernel, {1, 0, 8, false}, bits));
  CHECK(bits == 77);
}

TEST_CASE("of many values the first, the least and the greatest stay") {
  SeenValues seen;
  for (const int32_t value : {5, 5, 1, 2, 3, 4, 6, 7, 8, 100, 50, -9, 120, -10})
    seen.Add(static_cast<uint32_t>(value), 4);
  std::vector<int32_t> values;
  seen.ForEach([&](uint64_t value) { values.push_back(static_cast<int32_t>(value)); });
  CHECK(values == std::vector<int32_t>{5, 1, 2, 3, 4, 6, -10, 120});
}

// A stack with the return addresses of two frames, above the tracer's own.
struct Stack {
  uint64_t words[16] = {};
  std::vector<FramePlace> frames;

  uint64_t anchor() const { return reinterpret_cast<uint64_t>(&words[0]); }
  uint64_t end() const { return reinterpret_cast<uint64_t>(&words[16]); }
  Stack(uint64_t inner, uint64_t outer, size_t distance = 3) {
    const auto call = [&](size_t at, uint64_t address) {
      words[at] = address;
      frames.push_back({address - 1, reinterpret_cast<uint64_t>(&words[at + 1])});
    };
    call(distance, inner);
    call(distance + 5, outer);
  }
};

TEST_CASE("a launch belongs to the place whose return addresses its stack has") {
  Script s;
  Records records{s.sink};
  EagerSites sites;
  ThreadSites& thread = sites.AddThread(ThreadId(0u));
  KernelInfo kernel;
  kernel.id = KernelId(0u);
  kernel.params = {{0, 4}};
  kernel.scalars = {{0, 0, 4, true}};
  uint32_t number = 7;
  const void* arguments[] = {&number};
  const KernelWork launch{.function = 9, .grid = {2, 1, 1}, .arguments = arguments};
  const auto count = [&](const Stack& at, StackId stack) {
    if (thread.Count(launch, at.anchor(), at.end(), {})) return false;
    sites.Add(thread, launch, kernel, stack, at.anchor(), at.frames, {});
    return true;
  };
  const Stack first(0x1000, 0x2000), other_line(0x1000, 0x2008), deeper(0x1000, 0x2000, 5);
  CHECK(count(first, StackId(0u)));
  number = 8;
  CHECK_FALSE(count(first, StackId(0u)));
  CHECK(count(other_line, StackId(1u)));
  CHECK(count(deeper, StackId(2u)));  // another way there
  CHECK_FALSE(count(deeper, StackId(2u)));
  sites.Write(records, 0);
  sites.Write(records, 0);  // nothing new
  CHECK(
      s.Records("eager_site") ==
      std::vector<std::string>{
          R"({"type":"eager_site","kernel":0,"stack":0,"thread":0,"launches":2,"first":2,"last":3,)"
          R"("scalars":[[65535,0,"0x2"],[65535,1,"0x1"],[65535,2,"0x1"],[0,0,"0x7"],[0,0,"0x8"]]})",
          R"({"type":"eager_site","kernel":0,"stack":1,"thread":0,"launches":1,"first":4,"last":4,)"
          R"("scalars":[[65535,0,"0x2"],[65535,1,"0x1"],[65535,2,"0x1"],[0,0,"0x8"]]})",
          R"({"type":"eager_site","kernel":0,"stack":2,"thread":0,"launches":2,"first":5,"last":6,)"
          R"("scalars":[[65535,0,"0x2"],[65535,1,"0x1"],[65535,2,"0x1"],[0,0,"0x8"]]})"});
}

TEST_CASE("where the native stack can't be followed, Python's frames tell callers apart") {
  EagerSites sites;
  ThreadSites& thread = sites.AddThread(ThreadId(0u));
  KernelInfo kernel;
  kernel.id = KernelId(0u);
  const KernelWork launch{.function = 9};
  Stack at(0x1000, 0x2000);
  at.words[8] = 0;  // where the outer frame's return address ought to be
  sites.Add(thread, launch, kernel, StackId(0u), at.anchor(), at.frames, {});  // of the rest
  CHECK_FALSE(thread.Count(launch, at.anchor(), at.end(), {}));
  const PythonFrame line{nullptr, "a", 1, false}, other{nullptr, "a", 2, false};
  sites.Add(thread, launch, kernel, StackId(0u), at.anchor(), at.frames, {&line, 1});
  CHECK(thread.Count(launch, at.anchor(), at.end(), {&line, 1}));
  CHECK_FALSE(thread.Count(launch, at.anchor(), at.end(), {&other, 1}));
}

TEST_CASE("stacks of one kernel are taken so often only, and the rest has no place") {
  Script s;
  Records records{s.sink};
  EagerSites sites;
  ThreadSites& thread = sites.AddThread(ThreadId(0u));
  KernelInfo kernel;
  kernel.id = KernelId(0u);
  const KernelWork launch{.function = 9};
  size_t taken = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    const Stack at(0x1000 + 16 * i, 0x2000);
    if (thread.Count(launch, at.anchor(), at.end(), {})) continue;
    sites.Add(thread, launch, kernel, StackId(0u), at.anchor(), at.frames, {});
    ++taken;
  }
  CHECK(taken == 257);
  sites.Write(records, 0);
  const std::vector<std::string> written = s.Records("eager_site");
  REQUIRE(written.size() == 257);
  CHECK(written.back().starts_with(
      R"({"type":"eager_site","kernel":0,"thread":0,"launches":744,"first":258,"last":1001,)"));
}

}  // namespace
}  // namespace graphkit
