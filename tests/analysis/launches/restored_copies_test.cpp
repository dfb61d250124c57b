// Content that is saved before a sleep and copied back after it.
#include "libgraphkit/analysis/launches/restored_copies.h"

#include <doctest/doctest.h>

#include "tests/analysis/launches/content_trace.h"

namespace graphkit {
namespace {

// A mapping that sleeps between two launches which read it, and page-locked memory.
struct Sleeper : Program {
  static constexpr Address kAt = 0x7e0000000000;
  BlockId w = t.Map(kAt, kSize), saved;
  ExecId exec = Captured({Reads(w, 0, kSize)}, NodeKind::kMemcpy);

  explicit Sleeper(bool loads = false) {
    t.SetPool(t.Pool(PoolKind::kHost));
    saved = t.Alloc({}, kSize);
    t.SetPool({});
    if (loads) Copy(saved, w, s);
    if (!loads) t.Work(s, NodeKind::kMemset, {WritesAll(w)});
    t.Launch(exec, s);
  }
  void Copy(BlockId from, BlockId to, StreamId stream) {
    t.Work(stream, NodeKind::kMemcpy, {WritesAll(to), Reads(from, 0, kSize)});
  }
  void Wake(BlockId same_as = {}) { t.Free(w), w = t.Map(kAt, kSize, same_as); }
  ContentRange Launched() {
    t.Launch(exec, s);
    return One();
  }
};

TEST_CASE("a constant that is saved before a sleep and copied back after it stays one") {
  Sleeper p;
  p.Copy(p.w, p.saved, p.s);
  p.Wake();
  p.Copy(p.saved, p.w, p.s);
  const ContentRange range = p.Launched();
  CHECK(range.what == ContentClass::kConstant);
  CHECK(range.work == 0);
  CHECK(range.restored);
}

TEST_CASE("what is copied again after a sleep from where it came is constant, else input") {
  for (const bool slept : {true, false}) {
    Sleeper p(true);
    if (slept) p.Wake();
    p.Copy(p.saved, p.w, p.s);
    CHECK(p.Launched().what == (slept ? ContentClass::kConstant : ContentClass::kInput));
  }
}

TEST_CASE("a copy doesn't bring back what was there before") {
  Sleeper p;
  SUBCASE("where the saved copy was written") {
    p.Copy(p.w, p.saved, p.s);
    p.Wake();
    p.t.Work(p.s, NodeKind::kMemset, {WritesAll(p.saved)});
    p.Copy(p.saved, p.w, p.s);
  }
  SUBCASE("where the memory was written after it was saved") {
    p.Copy(p.w, p.saved, p.s);
    p.t.Work(p.s, NodeKind::kMemset, {WritesAll(p.w)});
    p.Wake();
    p.Copy(p.saved, p.w, p.s);
  }
  SUBCASE("where the same memory is mapped again") {
    p.Copy(p.w, p.saved, p.s);
    p.Wake(p.w);
    p.Copy(p.saved, p.w, p.s);
  }
  SUBCASE("where the saved copy slept, too") {
    const BlockId other = p.t.Map(Sleeper::kAt + kSize, kSize);
    p.Copy(p.w, other, p.s);
    p.Wake();
    p.t.Free(other);
    p.t.Map(Sleeper::kAt + kSize, kSize);
    p.Copy(other, p.w, p.s);
  }
  SUBCASE("where other bytes were saved") {
    p.Copy(p.x, p.saved, p.s);
    p.Wake();
    p.Copy(p.saved, p.w, p.s);
  }
  SUBCASE("where the launch may come first") {
    p.Copy(p.w, p.saved, p.s);
    p.Wake();
    p.Copy(p.saved, p.w, p.t.Stream("side"));
  }
  const ContentRange range = p.Launched();
  CHECK(range.what != ContentClass::kConstant);
  CHECK_FALSE(range.restored);
}

TEST_CASE("a save counts as a read where other work reads what was saved") {
  for (const bool read : {true, false}) {
    Sleeper p;
    const ExecId fills = p.Captured([&] {
      p.t.Memset(p.s, {WritesAll(p.x)});
      p.t.Memcpy(p.s, {Reads(p.x, 0, kSize)});
    });
    const BlockId slept = p.w;
    p.t.Launch(fills, p.s);
    p.Copy(p.w, p.saved, p.s);
    p.Wake();
    p.Copy(p.saved, p.w, p.s);
    if (read) p.t.Work(p.s, NodeKind::kMemcpy, {Reads(p.saved, 0, kSize)});
    p.t.Launch(p.exec, p.s);
    bool found = false;
    for (const ContentRange& range : p.Find()) {
      if (range.block != slept) continue;
      found = true;
      CHECK(range.what == ContentClass::kConstant);
    }
    CHECK(found);
  }
}

}  // namespace
}  // namespace graphkit
