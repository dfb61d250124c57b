#include "libgraphkit/model/shared_column.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "libgraphkit/model/trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

// None, a small number, or any.
uint32_t AnyNumber(std::mt19937_64& random) {
  if (random() % 4 == 0) return ~uint32_t{0};
  return static_cast<uint32_t>(random() % 8 == 0 ? random() : random() % 1000);
}
uint64_t AnyWord(std::mt19937_64& random) {
  return random() % 4 == 0 ? ~uint64_t{0} : random() >> random() % 64;
}
template <typename Id>
void Vary(Id* id, std::mt19937_64& random) {
  if (random() % 2 == 0) *id = Id(AnyNumber(random));
}
template <typename Enum>
Enum AnyOf(std::mt19937_64& random, uint64_t count) {
  return static_cast<Enum>(random() % count);
}

Node AnyValue(std::mt19937_64& random, Node) {
  Node node{.seq = AnyNumber(random),
            .kind = AnyOf<NodeKind>(random, kNodeKindCount),
            .source = AnyOf<Source>(random, 4),
            .conditional = AnyOf<ConditionalType>(random, 4),
            .accesses_complete = random() % 2 == 0,
            .shape = AnyNumber(random),
            .accesses = {AnyNumber(random), static_cast<uint32_t>(random() % 300)}};
  if (random() % 8 == 0) node.kind = NodeKind::kUnknown;
  if (random() % 8 == 0) node.destroyed = AnyNumber(random);
  if (random() % 8 == 0) node.duration_ns = AnyNumber(random);
  Vary(&node.graph, random);
  Vary(&node.stream, random);
  Vary(&node.thread, random);
  Vary(&node.kernel, random);
  if (random() % 4 == 0) Vary(&node.block, random);
  if (random() % 4 == 0) Vary(&node.event, random);
  Vary(&node.stack, random);
  return node;
}

Edge AnyValue(std::mt19937_64& random, Edge) {
  Edge edge{.from = NodeId(AnyNumber(random)),
            .to = NodeId(AnyNumber(random)),
            .type = AnyOf<EdgeType>(random, 2),
            .source = AnyOf<Source>(random, 4),
            .seq = AnyNumber(random)};
  if (random() % 4 == 0) edge.to = NodeId(edge.from.value + (random() % 2 == 0 ? 3 : 0 - 3u));
  if (random() % 4 == 0) edge.from_port = AnyOf<uint8_t>(random, 8);
  if (random() % 4 == 0) edge.to_port = AnyOf<uint8_t>(random, 8);
  if (random() % 8 == 0) edge.removed = AnyNumber(random);
  return edge;
}

Block AnyValue(std::mt19937_64& random, Block) {
  Block block{.address = AnyWord(random),
              .size = AnyWord(random),
              .allocated = AnyNumber(random),
              .free_requested = AnyNumber(random)};
  block.free_completed = block.free_requested;
  if (random() % 3 == 0) block.free_completed = AnyNumber(random);
  Vary(&block.pool, random);
  Vary(&block.segment, random);
  Vary(&block.stream, random);
  Vary(&block.graph, random);
  if (random() % 8 == 0) Vary(&block.alloc_node, random);
  if (random() % 8 == 0) Vary(&block.free_node, random);
  Vary(&block.free_stream, random);
  Vary(&block.stack, random);
  Vary(&block.free_stack, random);
  return block;
}

StreamOp AnyValue(std::mt19937_64& random, StreamOp) {
  StreamOp op{.seq = AnyNumber(random),
              .kind = AnyOf<StreamOpKind>(random, 7),
              .capturing = random() % 2 == 0,
              .external = random() % 2 == 0,
              .has_entries = random() % 2 == 0};
  Vary(&op.stream, random);
  Vary(&op.event, random);
  if (op.has_entries) op.entries = {AnyNumber(random), static_cast<uint32_t>(random() % 40)};
  return op;
}

// Of few or many kinds, half of them the default.
Access AnyValue(std::mt19937_64& random, Access) {
  Access access{.block = BlockId(AnyNumber(random)), .mode = AnyOf<AccessMode>(random, 4)};
  if (random() % 2 == 0) return access;
  access.offset = random() % 2 == 0 ? AnyWord(random) : random() % 4;
  if (random() % 2 == 0) access.length = AnyWord(random);
  return access;
}

template <typename Column>
std::vector<typename Column::value_type> All(const Column& column) {
  return {column.begin(), column.end()};
}

// Beside a vector, to which the same is done.
template <typename Row>
void CheckColumn() {
  using Value = typename Row::Value;
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  SharedColumn<Row> column;
  std::vector<Value> expected;
  for (int i = 0; i < 2000; ++i) {
    expected.push_back(AnyValue(random, Value()));
    column.push_back(expected.back());
  }
  CHECK(All(column) == expected);
  for (int i = 0; i < 2000; ++i) {
    const size_t at = random() % expected.size();
    expected[at] = AnyValue(random, Value());
    column.Change(at, [&](Value& value) { value = expected[at]; });
  }
  CHECK(All(column) == expected);
  CHECK(column == SharedColumn<Row>(expected));  // the rests lie otherwise there
  const auto some = column.Of({100, 7});
  CHECK(std::vector<Value>(some.begin(), some.end()) ==
        std::vector<Value>(expected.begin() + 100, expected.begin() + 107));
  column.resize(1500);
  expected.resize(1500);
  column.resize(1600);
  expected.resize(1600);
  CHECK(All(column) == expected);
  expected.back() = AnyValue(random, Value());
  CHECK((column == SharedColumn<Row>(expected)) == (expected.back() == Value()));
}

TEST_CASE("nodes come back as they were put in, and changed") { CheckColumn<NodeRow>(); }
TEST_CASE("edges come back as they were put in, and changed") { CheckColumn<EdgeRow>(); }
TEST_CASE("blocks come back as they were put in, and changed") { CheckColumn<BlockRow>(); }
TEST_CASE("accesses come back as they were put in, and changed") { CheckColumn<AccessRow>(); }
TEST_CASE("stream operations come back as they were put in, and changed") {
  CheckColumn<StreamOpRow>();
}

TEST_CASE("a column is searched as a vector is") {
  const NodeColumn nodes = {{.seq = 3}, {.seq = 5}, {.seq = 9, .destroyed = 11}};
  const auto at = std::ranges::lower_bound(nodes, Seq{6}, {}, &Node::seq);
  CHECK(at - nodes.begin() == 2);
  CHECK(at->destroyed == 11);
  CHECK(std::ranges::count(nodes, kNever, &Node::destroyed) == 2);
}

TEST_CASE("values that differ in what is their own share the rest") {
  NodeColumn nodes;
  for (uint32_t i = 0; i < 100'000; ++i) {
    nodes.push_back(
        {.graph = GraphId(i / 50), .stream = StreamId(i % 8), .seq = i, .kernel = KernelId(i % 3)});
  }
  CHECK(nodes.rests() < 100);
}

}  // namespace
}  // namespace graphkit
