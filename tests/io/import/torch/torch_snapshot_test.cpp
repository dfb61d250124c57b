#include "libgraphkit/io/import/torch/torch_snapshot.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "libgraphkit/io/bytes/byte_source.h"

namespace graphkit {
namespace {

const std::string kFolder = std::string(GRAPHKIT_TESTDATA) + "/torch-snapshots/";

TorchSnapshot Read(const std::string& name) {
  Result<TorchSnapshot> snapshot = ParseTorchSnapshot(ReadFile(kFolder + name + ".pickle")->text);
  REQUIRE_MESSAGE(snapshot.has_value(), Describe(snapshot.error()));
  return std::move(*snapshot);
}

struct Counts {
  size_t segments, small_segments, blocks, active_blocks, allocs, requested, completed;
  bool operator==(const Counts&) const = default;
};

Counts Count(const TorchSnapshot& s) {
  const auto events = [&](TorchAction action) {
    return static_cast<size_t>(
        std::ranges::count(s.events, action, [](const TorchEvent& e) { return e.action; }));
  };
  return {s.segments.size(),
          static_cast<size_t>(std::ranges::count(s.segments, true, &TorchSegment::small)),
          s.blocks.size(),
          static_cast<size_t>(
              std::ranges::count(s.blocks, TorchBlockState::kActive, &TorchBlock::state)),
          events(TorchAction::kAlloc),
          events(TorchAction::kFreeRequested),
          events(TorchAction::kFreeCompleted)};
}

// Counted with Python's own pickle module.
TEST_CASE("the recorded snapshots are read whole") {
  CHECK(Count(Read("transformer_forward")) == Counts{1722, 23, 4158, 3478, 4138, 2405, 2405});
  CHECK(Count(Read("transformer_step")) == Counts{999, 16, 1987, 1313, 6488, 6488, 6488});
  CHECK(Count(Read("transformer_inference")) == Counts{96, 29, 550, 447, 2162, 2162, 2162});
  CHECK(Count(Read("transformer_small")) == Counts{216, 8, 455, 229, 1721, 1721, 1721});
}

TEST_CASE("an event has its address, size, stream, time and stack") {
  const TorchSnapshot s = Read("transformer_small");
  REQUIRE(s.devices == std::vector<Slice>{{0, 5163}});
  TorchEvent first = s.events[0];
  REQUIRE(first.stack.valid());
  const Slice stack = s.stacks[first.stack.index()];
  const TorchFrame& frame = s.frames[s.stack_frames[stack.first]];
  CHECK(s.strings[frame.function] == "forward");
  CHECK(s.strings[frame.file] ==
        "D:\\Dev\\assignment2-systems\\cs336-basics\\cs336_basics\\model.py");
  CHECK(frame.line == 54);
  first.stack = {};
  CHECK(first == TorchEvent{.action = TorchAction::kAlloc,
                            .address = 47294971904,
                            .size = 25165824,
                            .stream = 0,
                            .time_us = 1776479641085368});
}

TEST_CASE("a segment has its blocks, and the file its settings") {
  const TorchSnapshot s = Read("transformer_small");
  CHECK(s.segments[0] ==
        TorchSegment{.address = 47294971904, .total_size = 25165824, .blocks = {0, 1}});
  CHECK(s.blocks[0] ==
        TorchBlock{.address = 47294971904, .size = 25165824, .requested_size = 25165824});
  CHECK(s.pools == std::vector<TorchPoolId>{{0, 0}});
  CHECK(s.settings.known);
  CHECK(s.settings.max_split_size == -1);
  CHECK_FALSE(s.settings.expandable_segments);
  CHECK(s.settings.roundup_power2_divisions.size() == 16);
  CHECK(s.settings.roundup_power2_divisions[3] == std::pair<uint64_t, uint32_t>{8, 0});
}

TEST_CASE("stacks are kept once each") {
  const TorchSnapshot s = Read("transformer_step");
  std::map<std::vector<uint32_t>, int> seen;
  for (const Slice& run : s.stacks) {
    const auto first = s.stack_frames.begin() + run.first;
    CHECK(++seen[{first, first + run.count}] == 1);
  }
  CHECK(s.stacks.size() < s.events.size());
}

TEST_CASE("blocks without addresses lie one after the other") {
  // {'segments': [{'address': 16, 'blocks': [{'size': 3}, {'size': 4}]}]}
  const std::string bytes =
      "\x80\x04}\x8c\x08segments]}(\x8c\x07"
      "address"
      "K\x10\x8c\x06"
      "blocks](}\x8c\x04sizeK\x03s"
      "}\x8c\x04sizeK\x04s"
      "euas.";
  const Result<TorchSnapshot> s = ParseTorchSnapshot(bytes);
  REQUIRE_MESSAGE(s.has_value(), Describe(s.error()));
  CHECK(s->blocks[0].address == 16);
  CHECK(s->blocks[1].address == 19);
}

TEST_CASE("before 2.1 a block's history has its stack and what was asked for") {
  // {'segments': [{'address': 16, 'blocks': [{'size': 9, 'state': 'active_allocated', 'history':
  //  [{'real_size': 7, 'frames': [{'name': 'f', 'filename': 'm', 'line': 2}]}]}]}]}
  const std::string bytes =
      "\x80\x04}\x8c\x08segments]}(\x8c\x07"
      "address"
      "K\x10\x8c\x06"
      "blocks]}(\x8c\x04sizeK\x09\x8c\x05state\x8c\x10"
      "active_allocated\x8c\x07history]}(\x8c\x09real_sizeK\x07\x8c\x06"
      "frames]}(\x8c\x04name\x8c\x01"
      "f\x8c\x08"
      "filename\x8c\x01m\x8c\x04lineK\x02uauauauas.";
  const Result<TorchSnapshot> s = ParseTorchSnapshot(bytes);
  REQUIRE_MESSAGE(s.has_value(), Describe(s.error()));
  CHECK(s->blocks == std::vector<TorchBlock>{{.address = 16,
                                              .size = 9,
                                              .requested_size = 7,
                                              .state = TorchBlockState::kActive,
                                              .stack = StackId(0u)}});
  CHECK(s->frames == std::vector<TorchFrame>{{StringId(0u), StringId(1u), 2}});
}

TEST_CASE("other pickles are refused") {
  CHECK_FALSE(ParseTorchSnapshot("\x80\x04N.").has_value());
  // {'segments': [None]}
  const Result<TorchSnapshot> s = ParseTorchSnapshot("\x80\x04}\x8c\x08segments]Nas.");
  REQUIRE_FALSE(s.has_value());
  CHECK(s.error().message == "not a PyTorch memory snapshot: a segment isn't a dict");
  // {'segments': [{'address': 'x'}]}
  const Result<TorchSnapshot> t = ParseTorchSnapshot(
      "\x80\x04}\x8c\x08segments]}\x8c\x07"
      "address\x8c\x01xsas.");
  REQUIRE_FALSE(t.has_value());
  CHECK(t.error().message ==
        "not a PyTorch memory snapshot: a segment: 'address' has an unexpected value");
}

TEST_CASE("a file that multiplies its entries by reference is refused") {
  // e = [{} x 40]; {'device_traces': [e x 40]}
  std::string bytes =
      "\x80\x04}\x8c\x0d"
      "device_traces](](";
  for (int i = 0; i < 40; ++i) bytes += "}";
  bytes += "e";
  for (int i = 0; i < 39; ++i) bytes += "2";
  bytes += "es.";
  const Result<TorchSnapshot> s = ParseTorchSnapshot(bytes);
  REQUIRE_FALSE(s.has_value());
  CHECK(s.error().message.find("beyond the file's size") != std::string::npos);
}

TEST_CASE("a snapshot cut off anywhere is incomplete") {
  const Result<FileBytes> file = ReadFile(kFolder + "transformer_small.pickle");
  REQUIRE(file.has_value());
  const std::string_view whole = file->text;
  for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    CAPTURE(size);
    const Result<TorchSnapshot> cut = ParseTorchSnapshot(whole.substr(0, size));
    REQUIRE_FALSE(cut.has_value());
    CHECK(cut.error().kind == Error::Kind::kIncomplete);
  }
}

TEST_CASE("flipped bits give an error or a snapshot, never a crash") {
  const Result<FileBytes> file = ReadFile(kFolder + "transformer_small.pickle");
  REQUIRE(file.has_value());
  const unsigned seed = 20240811;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  size_t refused = 0;
  for (int round = 0; round < 60; ++round) {
    std::string bytes(file->text);
    for (int flip = 0; flip <= round % 4; ++flip) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1u << (random() % 8));
    }
    refused += !ParseTorchSnapshot(bytes).has_value();
  }
  CHECK(refused > 0);
}

}  // namespace
}  // namespace graphkit
