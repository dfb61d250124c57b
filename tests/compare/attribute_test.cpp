// Replayed kernels matched with captured launches.

#include "libgraphkit/compare/attribute/attribute.h"
#include <doctest/doctest.h>
#include <algorithm>
#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/import/profile.h"
#include "libgraphkit/ran/resolve.h"
#include "libgraphkit/random.h"

namespace graphkit {
namespace {

constexpr uint32_t kNoMatch = 0xffffffffu;

std::unique_ptr<ByteSource> Open(const std::string& name) {
  Result<std::unique_ptr<ByteSource>> file = OpenFile(GRAPHKIT_TESTDATA "/" + name);
  REQUIRE(file.has_value());
  return std::move(*file);
}

Profile ReadPair(const std::string& capture, const std::string& replay) {
  Profile profile;
  REQUIRE(ReadKinetoCaptures(*Open(capture), "capture", &profile).has_value());
  REQUIRE(ReadKinetoReplays(*Open(replay), &profile).has_value());
  return profile;
}

// Work of the launches in another order, or fewer of it: `left` are indices of what was replayed.
Profile Keep(const Profile& whole, const std::vector<uint32_t>& left) {
  Profile profile = whole;
  profile.replayed.clear();
  for (ReplayLaunch& launch : profile.launches) launch.work = {};
  for (const uint32_t i : left) {
    const ReplayedWork& work = whole.replayed[i];
    Slice& slice = profile.launches[work.correlation].work;
    if (slice.count++ == 0) slice.first = static_cast<uint32_t>(profile.replayed.size());
    profile.replayed.push_back(work);
  }
  return profile;
}

std::vector<uint32_t> AllOf(const Profile& profile) {
  std::vector<uint32_t> all(profile.replayed.size());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

const char* const kPairs[][2] = {
    {"kineto/sglang_decode_capture.json.gz", "kineto/sglang_decode_replay.json.gz"},
    {"kineto/vllm_pieces_capture.json.gz", "kineto/vllm_pieces_replay.json.gz"}};

TEST_CASE("a server's replays are attributed whole: kernels, lines, modules and shapes") {
  for (const auto& pair : kPairs) {
    CAPTURE(pair[0]);
    const Profile profile = ReadPair(pair[0], pair[1]);
    const Attribution attribution = Attribute(profile);
    CHECK(attribution.matched[0] == WorkTime{});
    CHECK(attribution.with_line == attribution.all());
    CHECK(attribution.with_module == attribution.all());
    for (uint32_t i = 0; i < profile.replayed.size(); ++i) {
      const uint32_t captured = attribution.captured_of[i];
      REQUIRE(captured == i);  // both have the same kernels in one order
      CHECK(profile.captured[captured].work.kernel == profile.replayed[i].kernel);
    }
  }
}

TEST_CASE("a kernel has the module, the line and the operator that launched it") {
  const Profile profile = ReadPair(kPairs[0][0], kPairs[0][1]);
  const ProfilePlace& place = profile.places[profile.captured[2].place];
  CHECK(profile[place.module] ==
        "Qwen3Model_0.Qwen3DecoderLayer_0.Qwen3Attention_0.QKVParallelLinear_0");
  CHECK(profile[place.line] == "aiter/tuned_gemm.py:395 torch_gemm");
  CHECK(profile[place.op] == "aten::mm");
  CHECK(profile[place.shapes] == "[32,4096] BFloat16, [4096,6144] BFloat16");
  CHECK(profile.graphs[0].size == 32);
}

TEST_CASE("an export of Nsight Systems has the launches, work and batch sizes of the run") {
  Profile from_nsys, from_kineto;
  const Result<FileBytes> bytes = ReadFile(GRAPHKIT_TESTDATA "/import/profile.sqlite");
  REQUIRE(bytes.has_value());
  const Result<void> read = ReadNsysReplays(bytes->text, &from_nsys);
  if (!read && read.error().kind == Error::Kind::kUnsupported) return;
  REQUIRE(read.has_value());
  REQUIRE(ReadKinetoReplays(*Open("import/profile.json"), &from_kineto).has_value());
  REQUIRE(from_nsys.replayed.size() == from_kineto.replayed.size());
  for (size_t i = 0; i < from_nsys.replayed.size(); ++i) {
    const ReplayedWork &a = from_nsys.replayed[i], &b = from_kineto.replayed[i];
    CHECK(std::tuple(a.kind, a.shape, a.stream, a.tool_id, a.duration_ns, a.correlation) ==
          std::tuple(b.kind, b.shape, b.stream, b.tool_id, b.duration_ns, b.correlation));
  }
  REQUIRE(from_nsys.launches.size() == 2);
  CHECK(from_nsys.launches[0].size == 4);
  CHECK(from_nsys.launches[1].size == 8);
  CHECK(from_nsys.launches[1].work == from_kineto.launches[1].work);
}

TEST_CASE("of planted drops, repeats and shuffles no kernel gets another one's place") {
  for (const auto& pair : kPairs) {
    const Profile whole = ReadPair(pair[0], pair[1]);
    for (uint64_t seed = 0; seed < 24; ++seed) {
      CAPTURE(seed);
      Random random(seed);
      std::vector<uint32_t> left = AllOf(whole);
      const auto any = [&] {
        return left.begin() + static_cast<std::ptrdiff_t>(random.Below(left.size()));
      };
      for (uint64_t i = 0, end = 1 + random.Below(4); i < end; ++i) {
        const auto at = any();
        if (seed % 3 == 0) left.erase(at);
        if (seed % 3 == 1) left.insert(at, *at);
        if (seed % 3 != 2) continue;
        const auto next = at + 1 == left.end() ? at : at + 1;
        const bool same = whole.replayed[*at].kernel == whole.replayed[*next].kernel ||
                          whole.replayed[*at].correlation != whole.replayed[*next].correlation;
        if (!same) std::swap(*at, *next);
      }
      const Attribution attribution = Attribute(Keep(whole, left));
      size_t wrong = 0, matched = 0;
      for (size_t i = 0; i < left.size(); ++i) {
        matched += attribution.captured_of[i] != kNoMatch;
        wrong += attribution.captured_of[i] != kNoMatch && attribution.captured_of[i] != left[i];
      }
      CHECK(wrong == 0);
      CHECK(matched > 0);
      CHECK(attribution.all().count == left.size());
      CHECK(matched == left.size() - attribution.matched[0].count);
    }
  }
}

TEST_CASE("without one launch of a round the equal graphs of the round have no place") {
  Profile profile = ReadPair(kPairs[1][0], kPairs[1][1]);
  const Profile whole = profile;
  std::vector<uint32_t> left;
  for (uint32_t i = 0; i < whole.replayed.size(); ++i) {
    if (whole.replayed[i].correlation != 7) left.push_back(i);
  }
  profile = Keep(whole, left);
  profile.launches.erase(profile.launches.begin() + 7);
  const Attribution attribution = Attribute(profile);
  const auto several = attribution.not_matched[static_cast<size_t>(NotMatched::kSeveral)];
  CHECK(several.count == 22 * 15);
  CHECK(attribution.captured_of.front() == 0);
  CHECK(attribution.captured_of.back() == 360);
  CHECK(attribution.captured_of[20] == kNoMatch);
}

TEST_CASE("ids and order find the same nodes of a trace") {
  Result<Imported> imported = ImportFile(GRAPHKIT_TESTDATA "/import/trace.json");
  REQUIRE(imported.has_value());
  Profile profile;
  AddTraceCaptures(Resolve(imported->trace), "trace", {}, &profile);
  REQUIRE(ReadKinetoReplays(*Open("import/profile.json"), &profile).has_value());
  const Attribution by_id = Attribute(profile);
  CHECK(by_id.matched[static_cast<size_t>(MatchedBy::kId)] == WorkTime{6, 21'500});
  for (CapturedWork& work : profile.captured) work.work.ids.clear();
  const Attribution by_order = Attribute(profile);
  CHECK(by_order.matched[static_cast<size_t>(MatchedBy::kName)].count == 6);
  CHECK(by_order.captured_of == by_id.captured_of);
}

TEST_CASE("an id of another kernel is no match") {
  Result<Imported> imported = ImportFile(GRAPHKIT_TESTDATA "/import/trace.json");
  REQUIRE(imported.has_value());
  Profile profile;
  AddTraceCaptures(Resolve(imported->trace), "trace", {}, &profile);
  REQUIRE(ReadKinetoReplays(*Open("import/profile.json"), &profile).has_value());
  profile.replayed[0].kernel = profile.strings.Intern("another");
  const Attribution attribution = Attribute(profile);
  CHECK(attribution.captured_of[0] == kNoMatch);
  CHECK(attribution.not_matched[static_cast<size_t>(NotMatched::kOtherName)].count == 1);
}

TEST_CASE("a node id that two captures have is no id") {
  Result<Imported> imported = ImportFile(GRAPHKIT_TESTDATA "/import/trace.json");
  REQUIRE(imported.has_value());
  Profile profile;
  for (const char* rank : {"rank 0", "rank 1"}) {
    AddTraceCaptures(Resolve(imported->trace), rank, {}, &profile);
  }
  REQUIRE(ReadKinetoReplays(*Open("import/profile.json"), &profile).has_value());
  const Attribution attribution = Attribute(profile);
  CHECK(attribution.matched[static_cast<size_t>(MatchedBy::kId)] == WorkTime{});
  CHECK(attribution.matched[0] == attribution.all());
  const auto several = attribution.not_matched[static_cast<size_t>(NotMatched::kSeveral)];
  CHECK(several == attribution.all());
}

TEST_CASE("a batch that no captured graph holds ran in none of them") {
  Profile profile = ReadPair(kPairs[0][0], kPairs[0][1]);
  profile.launches[0].size = 33;
  const Attribution attribution = Attribute(profile);
  const auto none = attribution.not_matched[static_cast<size_t>(NotMatched::kNoCapture)];
  CHECK(none == attribution.all());
  profile.launches[0].size = 31;
  CHECK(Attribute(profile).matched[0] == WorkTime{});
}

TEST_CASE("a launch of unknown size that several sizes have is left open") {
  Profile profile = ReadPair(kPairs[0][0], kPairs[0][1]);
  const auto count = static_cast<uint32_t>(profile.captured.size());
  profile.captured.insert(profile.captured.end(), profile.captured.begin(), profile.captured.end());
  profile.graphs.push_back(
      {.source = profile.strings.Intern("capture_64"), .size = 64, .work = {count, count}});
  const auto matched = [&](uint64_t size) {
    profile.launches[0].size = size;
    return Attribute(profile).captured_of[0];
  };
  CHECK(matched(0) == kNoMatch);
  CHECK(matched(32) == 0);
  CHECK(matched(30) == 0);  // padded
  CHECK(matched(40) == count);
  CHECK(matched(65) == kNoMatch);
}

TEST_CASE("a capture that names no kernels is matched by order and number alone") {
  Profile profile = ReadPair(kPairs[0][0], kPairs[0][1]);
  for (CapturedWork& work : profile.captured) work.work.kernel = {};
  const Attribution attribution = Attribute(profile);
  CHECK(attribution.matched[static_cast<size_t>(MatchedBy::kCount)].count == 544);
  std::vector<uint32_t> left = AllOf(profile);
  left.erase(left.begin() + 5);
  CHECK(Attribute(Keep(profile, left)).matched[0].count == 543);
}

}  // namespace
}  // namespace graphkit
