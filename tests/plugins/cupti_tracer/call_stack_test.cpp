#include "plugins/cupti_tracer/stacks/call_stack.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <string>

#include "plugins/cupti_tracer/stacks/symbol_table.h"
#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {

// Functions with names that the symbol table has, called for their place on the stack.
__attribute__((noinline)) size_t StackOfInner(std::span<FramePlace> out) {
  size_t count = TakeFrames(out);
  asm volatile("" ::: "memory");  // not the last thing that it does: it stays on the stack
  return count;
}
__attribute__((noinline)) size_t StackOfOuter(std::span<FramePlace> out) {
  size_t count = StackOfInner(out);
  asm volatile("" ::: "memory");
  return count;
}

namespace {

bool Names(const NamedFrame& frame, std::string_view function) {
  return frame.function.find(function) != std::string::npos;
}

TEST_CASE("a stack names the functions that called, from the innermost to main") {
  FramePlace places[kMostFrames];
  size_t count = StackOfOuter(places);
  REQUIRE(count > 3);
  StackNames names;
  std::vector<NamedFrame> frames = names.Name({places, count}, kMostFrames);
  REQUIRE(frames.size() > 3);
  CHECK(Names(frames[0], "TakeFrames"));
  CHECK(Names(frames[1], "graphkit::StackOfInner("));
  CHECK(Names(frames[2], "graphkit::StackOfOuter("));
  CHECK(frames.back().function == "main");
  CHECK(frames[1].file.ends_with("recorder_test"));
  CHECK(names.Name({places, count}, 2) ==
        std::vector<NamedFrame>(frames.begin(), frames.begin() + 2));
}

TEST_CASE("an address that no file holds is named by itself") {
  const FramePlace place{0x10, 0};
  StackNames names;
  CHECK(names.Name({&place, 1}, 4) == std::vector<NamedFrame>{{"0x10", ""}});
}

std::optional<NamedFrame> g_found;
bool g_may_find = false;

void FindWorkspace() {
  FramePlace places[kMostFrames];
  g_found = WorkspaceCalls().Find({places, TakeFrames(places)});
  const auto* words = static_cast<const uint64_t*>(__builtin_frame_address(0));
  g_may_find = WorkspaceCalls().MayFind({words, 64});
}

TEST_CASE("a workspace is known by PyTorch's function that asks for it") {
  FindWorkspace();
  CHECK(!g_found.has_value());
  CHECK(!g_may_find);
  void* library = dlopen(GRAPHKIT_FAKE_TORCH, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  FindWorkspace();
  CHECK(!g_found.has_value());
  const auto call = [&](const char* name) {
    reinterpret_cast<void (*)(void (*)())>(dlsym(library, name))(FindWorkspace);
  };
  call("_ZN2at4cuda24getCurrentCUDABlasHandleEv");
  REQUIRE(g_found.has_value());
  CHECK(g_may_find);
  CHECK(g_found->function == "at::cuda::getCurrentCUDABlasHandle()");
  CHECK(g_found->file == GRAPHKIT_FAKE_TORCH);
  call("_ZN2at4cuda5emptyEv");
  CHECK(!g_found.has_value());
  const auto other = reinterpret_cast<uint64_t>(dlsym(library, "_ZN2at4cuda5emptyEv"));
  const uint64_t elsewhere[] = {0, 1, other + 4};
  CHECK(!WorkspaceCalls().MayFind(elsewhere));
  dlclose(library);
}

TEST_CASE("a file that is no program has no functions") {
  CHECK(SymbolTable("/nowhere").size() == 0);
  CHECK(SymbolTable("/proc/self/cmdline").size() == 0);
  CHECK(SymbolTable(GRAPHKIT_TESTDATA "/traces/hand_fork_join.json").At(0x1000).empty());
}

TEST_CASE("a stack is written once, however it was taken") {
  Script script;
  const uint64_t here[] = {1, 2}, there[] = {1, 3};
  std::vector<NamedFrame> frames{{"Run", "/app"}, {"main", "/app"}};
  CHECK_FALSE(script.recorder.stacks().Find(here));
  StackId id = script.recorder.stacks().Add(here, frames);
  CHECK(script.recorder.stacks().Find(here) == id);
  CHECK(script.recorder.stacks().Add(there, frames) == id);
  CHECK(script.recorder.stacks().Find(there) == id);
  CHECK_FALSE(script.recorder.stacks().Add(there, {}));
  CHECK(script.Records("stack") ==
        Lines{R"({"type":"stack","id":0,"frames":[["Run","/app",0],["main","/app",0]]})"});
}

TEST_CASE("nodes, memory, execs and failures say from where they were called") {
  Script script;
  script.CreateStream(7);
  StackId id = script.recorder.stacks().Add(std::vector<uint64_t>{1}, {{"main", "/app"}});
  Call call = Script::Of(CallKind::kAlloc);
  call.address = 0x1000;
  call.size = 16;
  call.stack = id;
  script.Do(call);
  script.BeginCapture(7, 70);
  call = Script::Work(7);
  call.stack = id;
  script.Do(call, Script::Node(70, 71, NodeKind::kHost));
  call = Script::Work(7, "cuLaunchKernel");
  call.stack = id;
  script.Do(call, {}, 1);
  CHECK(script.Records("alloc") ==
        Lines{R"({"type":"alloc","id":0,"address":"0x1000","size":16,"pool":0,"stack":0})"});
  CHECK(script.Records("node") ==
        Lines{R"({"type":"node","id":0,"graph":0,"kind":"host","stream":0,"thread":0,"stack":0})"});
  REQUIRE(script.Records("failure").size() == 1);
  CHECK(script.Records("failure")[0].find("\"stack\":0") != std::string::npos);
}

}  // namespace
}  // namespace graphkit
