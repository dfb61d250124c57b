#include "libgraphkit/render/diff/memory_text.h"

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/explain/explain.h"
#include "libgraphkit/render/figure_text.h"

namespace graphkit {
namespace {

constexpr size_t kBytes = 11, kChange = 13;  // columns
constexpr size_t kLeastTitle = 32;

const MemoryAccount* AccountOf(const DiffSide& side, const std::optional<size_t>& index) {
  return index ? &side.memory[*index] : nullptr;
}

bool HasHistory(const DiffSide& side) {
  return std::ranges::all_of(side.memory, &MemoryAccount::has_history);
}

struct MemoryDiffText {
  const MemoryDiff& diff;
  const DiffSide &before, &after;
  const TextOut& out;
  // Null: no memory there.
  const MemoryAccount* from = AccountOf(before, diff.before);
  const MemoryAccount* to = AccountOf(after, diff.after);

  std::string Name() const {
    if (!from) return "device " + std::to_string(to->device) + ", only after";
    const std::string name = "device " + std::to_string(from->device);
    if (!to) return name + ", only before";
    return SameDevice() ? name : name + " → device " + std::to_string(to->device);
  }

  bool SameDevice() const { return from && to && from->device == to->device; }

  void Render() {
    Figures();
    Peaks();
    Holders();
    Remarks();
  }

  bool OnlyEnd() const { return HasHistory(before) != HasHistory(after); }

  void Figures() {
    TextRows rows;
    const FigureChange& most = diff.figures[0];
    for (const FigureChange& figure : diff.figures) {
      const bool nothing = figure.before.value_or(0) == 0 && figure.after.value_or(0) == 0;
      const bool said = figure.figure == "reserved_at_end_bytes" && figure.before == most.before &&
                        figure.after == most.after;
      if (nothing || said) continue;
      const bool known = figure.before && figure.after;
      rows.push_back({FigureWords(figure.figure), FormatBytes(figure.before), "→",
                      FormatBytes(figure.after),
                      known ? ChangeText(*figure.before, *figure.after) : ""});
    }
    out << Table(rows, "lrlrr", "  ", out.style);
    if (!OnlyEnd()) return;
    const DiffSide& without = HasHistory(before) ? after : before;
    out.Wrap("  ", Printable(without.file) +
                       " has no history: its state is compared with the end of the other");
  }

  // Where the peaks in use are.
  void Peaks() {
    if (!from || !to || !from->has_history || !to->has_history) return;
    const std::string was = PeakText(before.trace, *from), is = PeakText(after.trace, *to);
    out.Wrap("  ", "peak in use: " + was + (was == is ? "" : " → " + is));
  }

  std::string HoldersHeading() const {
    if (OnlyEnd() || !HasHistory(before)) return "HELD AT THE END";
    const bool first = from && from->out_of_memory, second = to && to->out_of_memory;
    if (first && second) return "HELD WHEN MEMORY RAN OUT";
    if (!first && !second) return "HELD AT THE PEAK";
    return first ? "HELD (out of memory → peak)" : "HELD (peak → out of memory)";
  }

  void Holders() {
    if (diff.holders.empty()) {
      if (!from || !to || from->holders.empty() || to->holders.empty()) return;
      out.Paragraph("  ", "who holds it isn't compared: only one of the files has call stacks");
      return;
    }
    const auto changed = std::ranges::partition_point(
                             diff.holders, [](const HolderChange& of) { return of.change() > 0; }) -
                         diff.holders.begin();
    if (changed == 0) return;
    const std::span all(diff.holders);
    HeadHolders();
    const size_t shown = out.Shown(static_cast<size_t>(changed));
    for (const HolderChange& change : all.first(shown)) HolderRow(change);
    MoreHolders(all.subspan(shown, static_cast<size_t>(changed) - shown),
                all.subspan(static_cast<size_t>(changed)));
  }

  bool Narrow() const { return out.style.width < 4 + kLeastTitle + 2 * kBytes + kChange; }
  size_t TitleWidth() const {
    if (Narrow()) return std::max<size_t>(out.style.width, 40) - kChange - 4;
    return std::min<size_t>(out.style.width - 4 - 2 * kBytes - kChange, 70);
  }

  void HeadHolders() {
    out << "\n  ";
    if (Narrow()) {
      out << out.Inked(HoldersHeading(), Ink::kBold) << "\n";
      return;
    }
    out << out.Inked(Padded(HoldersHeading(), TitleWidth() + 2, false), Ink::kBold)
        << Padded("before", kBytes, true) << Padded("after", kBytes, true)
        << Padded("change", kChange, true) << "\n";
  }

  void HolderRow(const HolderChange& change) {
    const std::string title = HolderChangeTitle(change, diff, before, after);
    const std::string bytes =
        out.Inked(Padded(ChangeText(change.before, change.after), kChange, true),
                  change.more() ? Ink::kRed : Ink::kGreen);
    const std::string was = FormatBytes(change.before), is = FormatBytes(change.after);
    const std::string cut = CutAtEnd(title, TitleWidth());
    if (Narrow()) {
      out << bytes << "  " << cut << "\n"
          << std::string(kChange + 2, ' ') << was << " → " << is << "\n";
    } else {
      out << "    " << Padded(cut, TitleWidth(), false) << Padded(was, kBytes, true)
          << Padded(is, kBytes, true) << bytes << "\n";
    }
  }

  void MoreHolders(std::span<const HolderChange> more, std::span<const HolderChange> equal) {
    Bytes was = 0, is = 0, same = 0;
    for (const HolderChange& change : more) was += change.before, is += change.after;
    for (const HolderChange& change : equal) same += change.after;
    if (!more.empty()) {
      out.Wrap("    ", "… " + FormatCount(more.size()) + " more, " + ChangeText(was, is) +
                           " together (--top 0 shows all)");
    }
    if (!equal.empty()) {
      out.Wrap("    ", FormatCount(equal.size()) + " equal, " + FormatBytes(same));
    }
  }

  void Remarks() {
    if (diff.remarks.empty()) return;
    out << "\n  " << out.Inked("WORTH A LOOK", Ink::kBold) << "\n";
    for (const RemarkChange& remark : diff.remarks) {
      const char* sign = !remark.after ? "    - " : remark.before ? "    ~ " : "    + ";
      const std::string then = !remark.after   ? "no longer: "
                               : remark.before ? "was " + FormatBytes(*remark.before) + ": "
                                               : "";
      out.Wrap(sign, then + Printable(remark.text));
      if (!remark.after || remark.advice.empty()) continue;
      out.Wrap("      → ", Printable(remark.advice));
    }
  }
};

}  // namespace

std::string ChangeText(Bytes before, Bytes after) {
  if (before == after) return FormatBytes(Bytes{0});
  return after > before ? "+" + FormatBytes(after - before) : "−" + FormatBytes(before - after);
}

std::string HolderChangeTitle(const HolderChange& change, const MemoryDiff& diff,
                              const DiffSide& before, const DiffSide& after) {
  const HolderPair& pair = change.holder;
  const DiffSide& side = pair.after ? after : before;
  const MemoryAccount& account = side.memory[pair.after ? *diff.after : *diff.before];
  const HeldGroup& group = account.holders[pair.after ? *pair.after : *pair.before];
  if (group.kind == HeldGroup::Kind::kPool) return PoolTitle(side.trace, group.pool);
  std::string title = HolderTitle(side.trace, account, group);
  if (!pair.before || !pair.after) return title;
  const uint32_t line = before.memory[*diff.before].holders[*pair.before].line;
  if (line == group.line) return title;
  const size_t number = title.find(":" + std::to_string(group.line));
  if (number == title.npos) return title;
  return title.insert(number + 1, std::to_string(line) + " → ");
}

void RenderMemoryDiff(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                      const TextOut& out) {
  for (const MemoryDiff& memory : diff.memory) {
    MemoryDiffText text{memory, before, after, out};
    if (diff.memory.size() == 1 && memory.equal()) return;
    if (diff.memory.size() > 1 || !text.SameDevice()) {
      out << "\n  " << text.Name() << (memory.equal() ? ": equal\n" : "\n");
    } else {
      out << "\n";
    }
    if (!memory.equal()) text.Render();
  }
}

}  // namespace graphkit
