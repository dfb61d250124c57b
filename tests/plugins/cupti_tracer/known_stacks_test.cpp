#include "plugins/cupti_tracer/stacks/known_stacks.h"

#include <alloca.h>
#include <doctest/doctest.h>

#include "plugins/cupti_tracer/stacks/call_stack.h"

namespace graphkit {
namespace {

KnownStacks g_known;
uint64_t g_stack_end = 0;
uint32_t g_unwound = 0;

// As a callback does: the record of its stack, which is unwound where it isn't known.
__attribute__((noinline)) StackId Callback() {
  const StackExtent stack{reinterpret_cast<uint64_t>(__builtin_frame_address(0)), g_stack_end};
  StackId record = g_known.Find(stack, {});
  if (!record) {
    TakenStack taken;
    taken.TakeNative();
    record = StackId(g_unwound++);
    g_known.Add(stack, taken.frames(), {}, record);
  }
  asm volatile("" ::: "memory");
  return record;
}

__attribute__((noinline)) StackId Inner(size_t bytes) {
  auto* room = static_cast<volatile char*>(alloca(bytes + 1));
  room[bytes] = 1;
  const StackId record = Callback();
  asm volatile("" ::: "memory");
  return record;
}

__attribute__((noinline)) StackId OneCaller(size_t bytes) {
  const StackId record = Inner(bytes);
  asm volatile("" ::: "memory");
  return record;
}

__attribute__((noinline)) StackId OtherCaller(size_t bytes) {
  char room[200];
  asm volatile("" ::"r"(room) : "memory");
  const StackId record = Inner(bytes);
  asm volatile("" ::"r"(room) : "memory");
  return record;
}

__attribute__((noinline)) StackId Deep(uint32_t left) {
  const StackId record = left == 0 ? Callback() : Deep(left - 1);
  asm volatile("" ::: "memory");
  return record;
}

struct Fresh {
  Fresh() {
    g_known = {};
    g_unwound = 0;
    g_stack_end = reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + (1 << 16);
  }
};

TEST_CASE("a stack that was taken before isn't unwound again") {
  const Fresh fresh;
  for (int round = 0; round < 3; ++round) {
    CHECK(OneCaller(0) == StackId(0u));
    CHECK(OtherCaller(0) == StackId(1u));
  }
  CHECK(g_unwound == 2);
}

TEST_CASE("a frame of another size is found out") {
  const Fresh fresh;
  StackId one, other;
  for (size_t bytes = 0; bytes < 8192; bytes += 48) {
    const bool again = bytes / 48 % 2 == 1;
    const size_t size = again ? bytes - 48 : bytes;
    const StackId one_now = OneCaller(size), other_now = OtherCaller(size);
    CHECK(one_now != other_now);
    CHECK((!again || (one_now == one && other_now == other)));  // the size is known now
    one = one_now;
    other = other_now;
  }
}

TEST_CASE("a stack of more frames than are kept is known by the innermost") {
  const Fresh fresh;
  const StackId deep = Deep(300);
  CHECK(Deep(300) == deep);
  CHECK(Deep(3) != deep);
  CHECK(Deep(300) == deep);
  CHECK(g_unwound == 2);
}

TEST_CASE("Python's frames belong to a stack") {
  const Fresh fresh;
  const PythonLayout layout;
  const PythonFrame here[] = {{&layout, "code", 1, true}}, there[] = {{&layout, "code", 2, true}};
  const StackExtent stack{reinterpret_cast<uint64_t>(__builtin_frame_address(0)), g_stack_end};
  TakenStack taken;
  taken.TakeNative();
  g_known.Add(stack, taken.frames(), here, StackId(7u));
  CHECK(g_known.Find(stack, here) == StackId(7u));
  CHECK_FALSE(g_known.Find(stack, there));
  CHECK_FALSE(g_known.Find(stack, {}));
}

TEST_CASE("nothing is read where the thread isn't on its own stack") {
  const Fresh fresh;
  const StackExtent nowhere{0x10, 0};
  CHECK_FALSE(g_known.Find(nowhere, {}));
  g_known.Add(nowhere, {}, {}, StackId(0u));
  CHECK_FALSE(g_known.Find(nowhere, {}));
}

}  // namespace
}  // namespace graphkit
