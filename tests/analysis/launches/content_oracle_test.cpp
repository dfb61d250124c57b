// The life of content against programs that are executed byte by byte (content_program.h): what is
// called scratch or input is poisoned at cuts, and nothing that is read later may change.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <vector>

#include "tests/analysis/launches/content_program.h"

namespace graphkit {
namespace {

std::vector<bool> CellsWith(const ContentRange& range, Address base) {
  std::vector<bool> cells(ContentProgram::CellCount());
  for (Address at = range.bytes.begin; at < range.bytes.end; at += kContentCell)
    cells[(at - base) / kContentCell] = true;
  return cells;
}

TEST_CASE("scratch and input are needed at no cut, and constants and state at some") {
  uint64_t programs = 0, dropped = 0, changed = 0, named = 0;
  std::map<ContentClass, uint64_t> cells, restored;
  for (uint64_t seed = RandomSeed(), end = seed + static_cast<uint64_t>(RandomRounds(2000));
       seed < end; ++seed, ++programs) {
    CAPTURE(seed);
    ContentProgram program(seed);
    const Facts facts(program.trace());
    const std::vector<ContentRange> ranges = FindContent(facts, MarkerRule::kLastUse);
    std::vector<bool> poisoned(ContentProgram::CellCount());
    for (const ContentRange& range : ranges) {
      cells[range.what] += range.bytes.size() / kContentCell;
      if (range.what != ContentClass::kScratch && range.what != ContentClass::kInput) continue;
      const std::vector<bool> own = CellsWith(range, program.base());
      for (size_t i = 0; i < own.size(); ++i) poisoned[i] = poisoned[i] || own[i];
    }
    Random random(seed);
    for (int round = 0; round < 4; ++round) {
      std::set<uint32_t> cuts;
      for (uint32_t i = 0; i < program.launches(); ++i) {
        if (round == 0 || random.Chance(0.4)) cuts.insert(i);
      }
      const uint64_t order = random.Next();
      const auto whole = program.Run(order, cuts, std::vector<bool>(poisoned.size()));
      for (const bool zero : {false, true}) {
        const auto without = program.Run(order, cuts, poisoned, zero);
        REQUIRE(whole.observed == without.observed);
        bool same = true;
        for (size_t i = 0; i < poisoned.size(); ++i)
          same = same && (poisoned[i] || whole.memory[i] == without.memory[i]);
        REQUIRE(same);
      }
      for (const ContentRange& range : ranges) {
        const bool needed =
            range.what == ContentClass::kConstant || range.what == ContentClass::kState;
        if (!needed || range.launch == kNoUse || round > 0) continue;
        ++dropped;
        const auto lost = program.Run(order, cuts, CellsWith(range, program.base()));
        const bool differs = lost.observed != whole.observed || lost.read != whole.read;
        changed += differs ? 1 : 0;
        const std::vector<bool> own = CellsWith(range, program.base());
        named += differs && program.NodeReads(range.reader, own) ? 1 : 0;
        restored[range.what] += range.restored ? 1 : 0;
      }
    }
  }
  MESSAGE(
      "seeds from " << RandomSeed() << ", " << programs << " programs: cells of scratch "
                    << cells[ContentClass::kScratch] << ", input " << cells[ContentClass::kInput]
                    << ", constant " << cells[ContentClass::kConstant] << ", state "
                    << cells[ContentClass::kState] << ", output " << cells[ContentClass::kOutput]
                    << ", unknown " << cells[ContentClass::kUnknown] << "; of " << dropped
                    << " constant and state ranges that were dropped " << changed
                    << " changed a result, of which " << named
                    << " name a node that reads them; copied back after a sleep: "
                    << restored[ContentClass::kConstant] << " and "
                    << restored[ContentClass::kState]);
  CHECK(cells[ContentClass::kScratch] > 2 * programs);
  CHECK(cells[ContentClass::kInput] > programs / 2);
  CHECK(cells[ContentClass::kConstant] > programs / 2);
  CHECK(dropped > programs);
  CHECK(changed * 2 > dropped);
  CHECK(named * 10 > changed * 9);
  CHECK(restored[ContentClass::kConstant] > programs / 100);
}

}  // namespace
}  // namespace graphkit
