#include <algorithm>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/titles.h"
#include "libgraphkit/render/explain/memory_text.h"
#include "libgraphkit/render/printable.h"

namespace graphkit {
namespace {

constexpr size_t kMostOperations = 4;

struct Level {
  std::string label;
  Bytes bytes = 0;
  std::string remark;
};

// Levels of memory as bars; `most` is as long as they get.
void RenderLevels(const std::vector<Level>& levels, const TextStyle& style, std::ostream& out) {
  const size_t columns = style.width >= 100 ? 40 : style.width >= 80 ? 24 : 12;
  Bytes most = 0;
  for (const Level& level : levels) most = std::max(most, level.bytes);
  TextRows rows;
  for (const Level& level : levels) {
    rows.push_back(
        {level.label, FormatBytes(level.bytes), Bar(level.bytes, most, columns), level.remark});
  }
  out << Table(rows, "lrll", "  ", style);
}

std::string SegmentsText(const MemoryAt& at) {
  return at.segments == 0 ? "" : Counted(at.segments, "segment");
}

std::vector<Level> LevelsOf(const Trace& trace, const MemoryAccount& account) {
  const MemoryMoments& moments = account.moments;
  const bool known = moments.end.reserved >= moments.end.in_use;
  const bool same = moments.end.reserved == moments.peak_reserved.reserved;
  std::string idle = known ? FormatBytes(moments.end.idle()) + " reserved and idle" : "";
  if (known && moments.end.reserved == 0) {
    idle = "nothing reserved";
  } else if (known && !same) {
    idle += ", of " + FormatBytes(moments.end.reserved);
  }
  if (!account.has_history) {
    return {{"reserved", moments.end.reserved, SegmentsText(moments.end)},
            {"in use", moments.end.in_use, idle}};
  }
  std::vector<Level> levels;
  if (moments.peak_reserved.reserved > 0) {
    levels.push_back(
        {"peak reserved", moments.peak_reserved.reserved, SegmentsText(moments.peak_reserved)});
  }
  levels.push_back({"peak in use", moments.peak_in_use.in_use, PeakText(trace, account)});
  levels.push_back({"in use at end", moments.end.in_use, idle});
  return levels;
}

constexpr size_t kFunctionColumns = 40;

// The operators; without one the function.
std::string OperationsText(const HeldGroup& group) {
  if (group.operations.empty() && group.function != "<module>") {
    return ShortName(Demangle(group.function), kFunctionColumns);
  }
  std::string text;
  const size_t shown = std::min(group.operations.size(), kMostOperations);
  for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + group.operations[i];
  return shown < group.operations.size() ? text + ", …" : text;
}

void RenderStack(const Trace& trace, StackId stack, std::ostream& out) {
  if (!stack) return;
  const Slice run = trace.stacks[stack.index()].frames;
  for (uint32_t i = run.first; i < run.first + run.count; ++i) {
    const std::string place = PlaceOfFrame(trace, i);
    out << "                 " << Printable(place) << " "
        << Demangle(trace[trace.stack_frames[i].function]) << "\n";
  }
}

std::string Percent(Bytes part, Bytes whole) {
  return FormatPercent(whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole));
}

std::string HoldersHeading(const Trace& trace, const MemoryAccount& account) {
  const bool lines = !trace.stacks.empty() || trace.process.device == DeviceKind::kImported;
  const std::string bytes = " (" + FormatBytes(account.told.in_use) +
                            (lines ? ")" : "; trace --stacks would name lines)");
  if (account.out_of_memory) return "HELD WHEN MEMORY RAN OUT" + bytes;
  return (account.has_history ? "HELD AT THE PEAK" : "HELD AT THE END") + bytes;
}

// "<bytes>  <title>     <share>  <blocks>", aligned under the heading.
void RenderHolders(const Trace& trace, const MemoryAccount& account, const ExplainStyle& style,
                   std::ostream& out) {
  constexpr size_t kBytes = 11, kShare = 9, kBlocks = 8;
  const size_t room =
      style.text.width - std::min<size_t>(style.text.width, kBytes + kShare + kBlocks + 4);
  const size_t width = std::clamp<size_t>(room, 24, 70);
  out << "\n  "
      << Inked(Padded(HoldersHeading(trace, account), kBytes + 2 + width, false), Ink::kBold,
               style.text)
      << Padded("share", kShare, true) << Padded("blocks", kBlocks, true) << "\n";
  const size_t shown = Shown(account.holders.size(), style.text);
  Bytes left = account.told.in_use;
  for (size_t i = 0; i < shown; ++i) {
    const HeldGroup& group = account.holders[i];
    left -= std::min(left, group.bytes);
    out << "  " << Padded(FormatBytes(group.bytes), kBytes, true) << "  "
        << Padded(Ellipsize(HolderTitle(trace, account, group), width), width, false)
        << Padded(Percent(group.bytes, account.told.in_use), kShare, true)
        << Padded(FormatCount(group.blocks), kBlocks, true) << "\n";
    if (style.stacks) RenderStack(trace, group.stack, out);
  }
  if (shown < account.holders.size()) {
    out << "  " << std::string(kBytes - 3, ' ') << "…    "
        << Counted(account.holders.size() - shown, "more line") << ", " << FormatBytes(left)
        << " (--top 0 shows all)\n";
  }
}

void RenderRemarksOf(const MemoryAccount& account, const TextStyle& style, std::ostream& out) {
  if (account.remarks.empty()) return;
  out << "\n  " << Inked("WORTH A LOOK", Ink::kBold, style) << "\n";
  for (size_t i = 0; i < account.remarks.size(); ++i) {
    const MemoryRemark& remark = account.remarks[i];
    const bool urgent = remark.kind == MemoryRemark::Kind::kOutOfMemory;
    const std::string number = "   " + std::to_string(i + 1) + " ";
    const std::string wrapped = Wrapped(number, Printable(remark.text), style);
    out << number
        << Inked(wrapped.substr(number.size(), wrapped.size() - number.size() - 1),
                 urgent ? Ink::kRed : Ink::kPlain, style)
        << "\n";
    if (!remark.advice.empty()) out << Wrapped("     → ", Printable(remark.advice), style);
  }
}

// Beside the device with the most in use: a line each.
void RenderOtherDevices(const Explanation& explanation, std::ostream& out) {
  for (size_t i = 1; i < explanation.memory.size(); ++i) {
    const MemoryAccount& account = explanation.memory[i];
    out << (i == 1 ? "\n" : "") << "  device " << account.device << ": peak reserved "
        << FormatBytes(account.moments.peak_reserved.reserved) << ", peak in use "
        << FormatBytes(account.moments.peak_in_use.in_use) << ", in use at end "
        << FormatBytes(account.moments.end.in_use) << "\n";
  }
}

}  // namespace

std::string PeakText(const Trace& trace, const MemoryAccount& account) {
  std::string text = account.peak_event ? "event " + FormatCount(*account.peak_event)
                                        : "record " + FormatCount(account.moments.peak_in_use.seq);
  const std::string title = MemoryTitle(trace, account.peak_stack);
  return title.empty() ? text : text + ", at " + Printable(title);
}

std::string HolderTitle(const Trace& trace, const MemoryAccount& account, const HeldGroup& group) {
  switch (group.kind) {
    case HeldGroup::Kind::kPool:
      return PoolTitle(trace, group.pool) + ", no call stacks";
    case HeldGroup::Kind::kBeforeRecording:
      return kBeforeRecording;
    case HeldGroup::Kind::kNoStack:
      return account.python_only
                 ? std::string(kNoStack) + " (threads of autograd have no Python frames)"
                 : kNoStack;
    case HeldGroup::Kind::kOperation:
      return Printable(group.place) + " (no Python frame)";
    case HeldGroup::Kind::kLine:
      break;
  }
  std::string title = group.place;
  const std::string operations = OperationsText(group);
  const bool backward = group.role == MemoryRole::kBackward;
  const std::string_view role = backward ? "of a backward" : RoleText(group.role);
  if (!operations.empty()) title += "  " + operations;
  if (!role.empty()) title += "  (" + std::string(role) + ")";
  return Printable(title);
}

void RenderMemory(const Explanation& explanation, const Trace& trace, const ExplainStyle& style,
                  std::ostream& out) {
  if (explanation.memory.empty() || explanation.memory.front().moments.peak_in_use.in_use == 0) {
    return;
  }
  const MemoryAccount& account = explanation.memory.front();
  out << "\n";
  if (explanation.memory.size() > 1) out << "  device " << account.device << ", the most in use\n";
  RenderLevels(LevelsOf(trace, account), style.text, out);
  RenderOtherDevices(explanation, out);
  RenderHolders(trace, account, style, out);
}

void RenderRemarks(const Explanation& explanation, const TextStyle& style, std::ostream& out) {
  if (!explanation.memory.empty()) RenderRemarksOf(explanation.memory.front(), style, out);
}

}  // namespace graphkit
