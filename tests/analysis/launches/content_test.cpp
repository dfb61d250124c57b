// The classes of content, each of a program of its own.
#include "libgraphkit/analysis/launches/content.h"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "tests/analysis/launches/content_trace.h"

namespace graphkit {
namespace {

TEST_CASE("what each launch writes before it reads it is scratch") {
  Program p;
  const ExecId exec = p.Captured([&] {
    const BlockId tmp = p.t.Alloc(p.s, kSize);
    p.t.Memset(p.s, {WritesAll(tmp)});
    p.t.Kernel(p.s, "use", {Reads(tmp)});
    p.t.Free(tmp);
  });
  p.t.Launch(exec, p.s);
  p.t.Launch(exec, p.s);
  const ContentRange range = p.One();
  CHECK(range.what == ContentClass::kScratch);
  CHECK(range.why == UnknownContent::kNone);
}

TEST_CASE("what the program copies before each launch is input, and constant if it does once") {
  for (const bool again : {true, false}) {
    Program p;
    const ExecId exec = p.Captured({Reads(p.x)}, NodeKind::kMemcpy);
    for (int i = 0; i < 3; ++i) {
      if (i == 0 || again) p.t.Work(p.s, NodeKind::kMemcpy, {WritesAll(p.x)});
      p.t.Launch(exec, p.s);
    }
    const ContentRange range = p.One();
    CHECK(range.what == (again ? ContentClass::kInput : ContentClass::kConstant));
    CHECK(range.work == (again ? 2 : 0));
    CHECK(range.launch == 0);
    CHECK(range.reader == NodeId(0u));
    CHECK_FALSE(range.writer.valid());
  }
}

TEST_CASE("a rewrite before one launch of several is no input") {
  Program p;
  const ExecId exec = p.Captured({Reads(p.x)}, NodeKind::kMemcpy);
  p.t.Launch(exec, p.s);
  p.t.Launch(exec, p.s);
  p.t.Work(p.s, NodeKind::kMemcpy, {WritesAll(p.x)});
  p.t.Launch(exec, p.s);
  const ContentRange range = p.One();
  CHECK(range.what == ContentClass::kState);
  CHECK(range.work == 0);
}

TEST_CASE("a launch of another graph between the rewrite and the launch needs the content") {
  Program p;
  const BlockId y = p.t.Alloc(p.s, kSize);
  const ExecId exec = p.Captured({Reads(p.x)}, NodeKind::kMemcpy);
  const ExecId other = p.Captured({WritesAll(y)});
  for (int i = 0; i < 2; ++i) {
    p.t.Work(p.s, NodeKind::kMemcpy, {WritesAll(p.x)});
    p.t.Launch(other, p.s);
    p.t.Launch(exec, p.s);
  }
  CHECK(p.Find().at(0).what == ContentClass::kState);
}

TEST_CASE("one launch makes no input") {
  Program p;
  const ExecId exec = p.Captured({Reads(p.x)}, NodeKind::kMemcpy);
  p.t.Work(p.s, NodeKind::kMemcpy, {WritesAll(p.x)});
  p.t.Launch(exec, p.s);
  CHECK(p.One().what == ContentClass::kConstant);
}

TEST_CASE("a rewrite on a stream that the launch doesn't wait for is no input") {
  for (const bool ordered : {true, false}) {
    Program p;
    const StreamId side = p.t.Stream("side");
    const ExecId exec = p.Captured({Reads(p.x)}, NodeKind::kMemcpy);
    for (int i = 0; i < 2; ++i) {
      p.t.Work(side, NodeKind::kMemcpy, {WritesAll(p.x)});
      if (ordered) p.t.Order(side, p.s);
      p.t.Launch(exec, p.s);
    }
    CHECK(p.One().what == (ordered ? ContentClass::kInput : ContentClass::kState));
  }
}

TEST_CASE("only the bytes that are rewritten are input") {
  Program p;
  const ExecId exec = p.Captured({Reads(p.x)}, NodeKind::kMemcpy);
  for (int i = 0; i < 2; ++i) {
    p.t.Work(p.s, NodeKind::kMemcpy, {Writes(p.x, 0, 1024)});
    p.t.Launch(exec, p.s);
  }
  const std::vector<ContentRange> ranges = p.Find();
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].what == ContentClass::kInput);
  CHECK(ranges[0].bytes.size() == 1024);
  CHECK(ranges[1].what == ContentClass::kConstant);
  CHECK(ranges[1].bytes.size() == kSize - 1024);
}

TEST_CASE("what launches read and write is state") {
  Program p;
  const ExecId exec = p.Captured([&] {
    p.t.Memcpy(p.s, {Reads(p.x)});
    p.t.Memset(p.s, {WritesAll(p.x)});
  });
  p.t.Launch(exec, p.s);
  p.t.Launch(exec, p.s);
  const ContentRange range = p.One();
  CHECK(range.what == ContentClass::kState);
  CHECK(range.reader == NodeId(0u));
  CHECK(range.writer == NodeId(1u));
}

TEST_CASE("what a graph writes, and the program rewrites before each launch, is input") {
  Program p;
  const ExecId exec = p.Captured({ReadsWrites(p.x, 0, kSize)}, NodeKind::kKernel);
  for (int i = 0; i < 2; ++i) {
    p.t.Work(p.s, NodeKind::kMemset, {WritesAll(p.x)});
    p.t.Launch(exec, p.s);
  }
  CHECK(p.One().what == ContentClass::kInput);
}

TEST_CASE("what the program reads between a launch and the rewrite is no input") {
  Program p;
  const ExecId exec = p.Captured({ReadsWrites(p.x, 0, kSize)}, NodeKind::kKernel);
  for (int i = 0; i < 2; ++i) {
    p.t.Work(p.s, NodeKind::kMemset, {WritesAll(p.x)});
    p.t.Launch(exec, p.s);
    p.t.Work(p.s, NodeKind::kMemcpy, {Reads(p.x)});
  }
  CHECK(p.One().what == ContentClass::kState);
}

TEST_CASE("what a launch leaves in its pool, or the program reads, is output") {
  for (const bool freed : {true, false}) {
    Program p;
    BlockId out;
    const ExecId exec = p.Captured([&] {
      out = p.t.Alloc(p.s, kSize);
      p.t.Memset(p.s, {WritesAll(out)});
      if (freed) p.t.Free(out);
    });
    p.t.Launch(exec, p.s);
    if (freed) p.t.Work(p.s, NodeKind::kMemcpy, {Reads(out)});
    CHECK(p.One().what == ContentClass::kOutput);
  }
}

TEST_CASE("an output is named by the block that is left, not by one that lay there before") {
  Program p;
  BlockId out;
  const ExecId exec = p.Captured([&] {
    const BlockId tmp = p.t.Alloc(p.s, kSize);
    p.t.Memset(p.s, {WritesAll(tmp)});
    p.t.Free(tmp);
    out = p.t.AllocAt(p.s, kSize, p.t.trace()[tmp].address);
    p.t.Memset(p.s, {WritesAll(out)});
  });
  p.t.Launch(exec, p.s);
  const ContentRange range = p.One();
  CHECK(range.what == ContentClass::kOutput);
  CHECK(range.block == out);
}

TEST_CASE("a block allocated outside that lies where one of a capture lay is no scratch") {
  Program p;
  BlockId tmp;
  const ExecId exec = p.Captured([&] {
    tmp = p.t.Alloc(p.s, kSize);
    p.t.Memset(p.s, {WritesAll(tmp)});
    p.t.Free(tmp);
  });
  const BlockId later = p.t.AllocAt(p.s, kSize, p.t.trace()[tmp].address);
  const ExecId other = p.Captured({WritesAll(later)});
  p.t.Launch(exec, p.s);
  p.t.Launch(other, p.s);
  CHECK(p.One().what == ContentClass::kOutput);
}

TEST_CASE("a block allocated outside is scratch if only launches read it, and all work is known") {
  for (const bool all_work : {true, false}) {
    Program p;
    const ExecId exec = p.Captured([&] {
      p.t.Memset(p.s, {WritesAll(p.x)});
      p.t.Memcpy(p.s, {Reads(p.x)});
    });
    p.t.Launch(exec, p.s);
    p.t.Launch(exec, p.s);
    CHECK(p.One(all_work).what == (all_work ? ContentClass::kScratch : ContentClass::kOutput));
  }
}

TEST_CASE("bytes whose writers can't be told are unknown, with the reason") {
  SUBCASE("of a graph") {
    Program p;
    const ExecId exec = p.Captured({Touches(p.x)}, NodeKind::kKernel);
    p.t.Launch(exec, p.s);
    const ContentRange range = p.One();
    CHECK(range.what == ContentClass::kUnknown);
    CHECK(range.why == UnknownContent::kKernel);
    CHECK(range.reader == NodeId(0u));
  }
  SUBCASE("outside of graphs") {
    Program p;
    const ExecId exec = p.Captured({Reads(p.x)}, NodeKind::kMemcpy);
    p.t.Launch(exec, p.s);
    p.t.Work(p.s, "fill", {Touches(p.x)});
    p.t.Launch(exec, p.s);
    const ContentRange range = p.One();
    CHECK(range.what == ContentClass::kUnknown);
    CHECK(range.why == UnknownContent::kWork);
    CHECK(range.work == 0);
  }
  SUBCASE("not recorded") {
    Program p;
    const ExecId exec = p.Captured({Reads(p.x)}, NodeKind::kMemcpy);
    p.t.Launch(exec, p.s);
    p.t.Launch(exec, p.s);
    const ContentRange range = p.One(false);
    CHECK(range.what == ContentClass::kUnknown);
    CHECK(range.why == UnknownContent::kUnseen);
  }
  SUBCASE("a kernel whose arguments weren't read") {
    Program p;
    const ExecId exec = p.Captured({Reads(p.x)}, NodeKind::kMemcpy);
    p.t.Launch(exec, p.s);
    p.t.Work(p.s, "opaque");
    const ContentRange range = p.One();
    CHECK(range.what == ContentClass::kUnknown);
    CHECK(range.why == UnknownContent::kAnything);
  }
}

TEST_CASE("a kernel is to write what it has as its only pointer to non-const") {
  Program p;
  const KernelId append = p.t.Function("_Z6appendPfPKf");
  const ExecId exec = p.Captured([&] {
    p.t.Memcpy(p.s, {Reads(p.x)});
    const Access touch = Touches(p.x);
    p.t.Kernel(p.s, append, {&touch, 1});
  });
  p.t.Launch(exec, p.s);
  const ContentRange range = p.One();
  CHECK(range.what == ContentClass::kState);
  CHECK(range.writer == NodeId(1u));
}

TEST_CASE("graphs that were never launched count as long as they have an exec") {
  Program p;
  p.Captured({Reads(p.x)}, NodeKind::kMemcpy);
  const BlockId y = p.t.Alloc(p.s, kSize);
  const ExecId gone = p.Captured({Reads(y)}, NodeKind::kMemcpy);
  p.t.Destroy(gone);
  const ContentRange range = p.One();
  CHECK(range.block == p.x);
  CHECK(range.what == ContentClass::kConstant);
  CHECK(range.launch == kNoUse);
}

TEST_CASE("what one graph finds in a freed block of another, which writes it, is state") {
  for (const bool writes : {true, false}) {
    Program p;
    BlockId tmp;
    const ExecId exec = p.Captured([&] {
      tmp = p.t.Alloc(p.s, kSize);
      p.t.Memset(p.s, {Writes(tmp, 0, writes ? kSize : 512)});
      p.t.Free(tmp);
    });
    const BlockId later = p.t.AllocAt(p.s, kSize, p.t.trace()[tmp].address);
    const ExecId other = p.Captured({Reads(later, 2048, 2048)}, NodeKind::kMemcpy);
    p.t.Launch(exec, p.s);
    p.t.Launch(other, p.s);
    const ContentRange last = p.Find().back();
    CHECK(last.what == (writes ? ContentClass::kState : ContentClass::kConstant));
  }
}

TEST_CASE("blocks have the class of most of their bytes") {
  Program p;
  const BlockId y = p.t.Alloc(p.s, kSize), unused = p.t.Alloc(p.s, kSize);
  const ExecId exec = p.Captured({Reads(p.x, 0, 3072)}, NodeKind::kMemcpy);
  const ExecId other = p.Captured([&] {
    p.t.Memset(p.s, {Writes(p.x, 3072, 1024)});
    p.t.Memcpy(p.s, {Reads(p.x, 3072, 1024)});
    p.t.Memcpy(p.s, {ReadsWrites(y, 0, kSize)});
  });
  p.t.Launch(exec, p.s);
  p.t.Launch(other, p.s);
  const std::vector<ContentRange> ranges = p.Find();
  const auto classes = ClassesOfBlocks(p.trace, ranges);
  CHECK(classes[p.x.index()] == "constant");
  CHECK(classes[y.index()] == "state");
  CHECK(classes[unused.index()] == "untouched");
}

TEST_CASE("pools that keep their memory are in no row") {
  Program p;
  const PoolId weights = p.t.Pool(PoolKind::kPrivate, "weights");
  p.t.SetPool(weights);
  const BlockId w = p.t.Alloc(p.s, kSize);
  p.t.SetPool({});
  const ExecId exec = p.Captured([&] {
    p.t.Memcpy(p.s, {Reads(p.x, 0, kSize)});
    p.t.Memcpy(p.s, {Reads(w, 0, kSize)});
  });
  p.t.Launch(exec, p.s);
  p.trace = p.t.Build();
  p.trace.process.all_work = true;
  const Facts facts(p.trace);
  const ContentBill bill =
      BillContent(facts, FindContent(facts, MarkerRule::kLastUse), {}, std::array{weights});
  CHECK(bill.touched == 2 * kSize);
  CHECK(bill.kept == kSize);
  CHECK(bill.of(ContentClass::kConstant) == kSize);
  CHECK(bill.rows.size() == 1);
}

TEST_CASE("the bill's rows sum up to what is touched") {
  Program p;
  const StackId load = p.t.Stack({{"Load", "load.cpp", 12}});
  const ExecId exec = p.Captured([&] {
    const BlockId tmp = p.t.Alloc(p.s, kSize);
    p.t.Memset(p.s, {WritesAll(tmp)});
    p.t.Memcpy(p.s, {Reads(tmp)});
    p.t.Memcpy(p.s, {Reads(p.x)});
    p.t.Free(tmp);
  });
  p.t.SetStack(load);
  p.t.Work(p.s, NodeKind::kMemcpy, {WritesAll(p.x)});
  p.t.Launch(exec, p.s);
  p.trace = p.t.Build();
  p.trace.process.all_work = true;
  const Facts facts(p.trace);
  const ContentBill bill = BillContent(facts, FindContent(facts, MarkerRule::kLastUse), {});
  CHECK(bill.touched == 2 * kSize);
  CHECK(bill.of(ContentClass::kScratch) == kSize);
  CHECK(bill.of(ContentClass::kConstant) == kSize);
  CHECK(bill.graphs == 1);
  CHECK(bill.launches == 1);
  REQUIRE(bill.rows.size() == 2);
  CHECK(bill.rows[0].what == ContentClass::kScratch);
  CHECK(bill.rows[1].line == "load.cpp:12 Load");
  CHECK(bill.rows[1].written);
  CHECK(bill.rows[1].bytes == kSize);
}

}  // namespace
}  // namespace graphkit
