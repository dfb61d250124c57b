#include "libgraphkit/render/diff/memory_text.h"

#include <algorithm>
#include <array>
#include <vector>

#include "libgraphkit/analysis/names/titles.h"
#include "libgraphkit/render/explain/memory_text.h"
#include "libgraphkit/render/printable.h"

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

class MemoryDiffText {
 public:
  MemoryDiffText(const MemoryDiff& diff, const DiffSide& before, const DiffSide& after,
                 const TextStyle& style, std::ostream& out)
      : diff_(diff),
        before_(before),
        after_(after),
        from_(AccountOf(before, diff.before)),
        to_(AccountOf(after, diff.after)),
        style_(style),
        out_(out) {}

  std::string Name() const {
    if (!from_) return "device " + std::to_string(to_->device) + ", only after";
    const std::string from = "device " + std::to_string(from_->device);
    if (!to_) return from + ", only before";
    return SameDevice() ? from : from + " → device " + std::to_string(to_->device);
  }

  bool SameDevice() const { return from_ && to_ && from_->device == to_->device; }

  void Render() {
    Figures();
    Peaks();
    Holders();
    Remarks();
  }

 private:
  bool OnlyEnd() const { return HasHistory(before_) != HasHistory(after_); }

  // Rows of a table; each wrapped where that is too wide.
  void Figures() {
    std::vector<std::array<std::string, 4>> rows;
    std::array<size_t, 4> widths = {};
    const FigureChange& most = diff_.figures[0];
    for (const FigureChange& figure : diff_.figures) {
      const bool nothing = figure.before.value_or(0) == 0 && figure.after.value_or(0) == 0;
      const bool said = figure.figure == "reserved_at_end_bytes" && figure.before == most.before &&
                        figure.after == most.after;
      if (nothing || said) continue;
      const bool known = figure.before && figure.after;
      rows.push_back({FigureWords(figure.figure), FormatBytes(figure.before),
                      FormatBytes(figure.after),
                      known ? ChangeText(*figure.before, *figure.after) : ""});
      for (size_t i = 0; i < 4; ++i) widths[i] = std::max(widths[i], DisplayWidth(rows.back()[i]));
    }
    for (const auto& [words, before, after, change] : rows) {
      const std::string aligned =
          "  " + Padded(words, widths[0], false) + "  " + Padded(before, widths[1], true) + " → " +
          Padded(after, widths[2], true) + "  " + Padded(change, widths[3], true);
      const bool fits = DisplayWidth(aligned) <= style_.width;
      out_ << (fits ? aligned.substr(0, aligned.find_last_not_of(' ') + 1) + "\n"
                    : Wrapped("  ", words + " " + before + " → " + after + "  " + change, style_));
    }
    if (!OnlyEnd()) return;
    const DiffSide& without = HasHistory(before_) ? after_ : before_;
    out_ << Wrapped("  ",
                    Printable(without.file) + " has no history: its state is compared with " +
                        "the end of the other",
                    style_);
  }

  // Where the peaks in use are.
  void Peaks() {
    if (!from_ || !to_ || !from_->has_history || !to_->has_history) return;
    const std::string before = PeakText(before_.trace, *from_);
    const std::string after = PeakText(after_.trace, *to_);
    out_ << Wrapped("  ", "peak in use: " + before + (before == after ? "" : " → " + after),
                    style_);
  }

  std::string HoldersHeading() const {
    if (OnlyEnd() || !HasHistory(before_)) return "HELD AT THE END";
    const bool before = from_ && from_->out_of_memory, after = to_ && to_->out_of_memory;
    if (before && after) return "HELD WHEN MEMORY RAN OUT";
    if (!before && !after) return "HELD AT THE PEAK";
    return before ? "HELD (out of memory → peak)" : "HELD (peak → out of memory)";
  }

  void Holders() {
    if (diff_.holders.empty()) {
      if (!from_ || !to_ || from_->holders.empty() || to_->holders.empty()) return;
      out_ << "\n"
           << Wrapped("  ", "who holds it isn't compared: only one of the files has call stacks",
                      style_);
      return;
    }
    const auto changed =
        std::ranges::partition_point(diff_.holders,
                                     [](const HolderChange& of) { return of.change() > 0; }) -
        diff_.holders.begin();
    if (changed == 0) return;
    const std::span all(diff_.holders);
    HeadHolders();
    const size_t shown = Shown(static_cast<size_t>(changed), style_);
    for (const HolderChange& change : all.first(shown)) HolderRow(change);
    MoreHolders(all.subspan(shown, static_cast<size_t>(changed) - shown),
                all.subspan(static_cast<size_t>(changed)));
  }

  bool Narrow() const { return style_.width < 4 + kLeastTitle + 2 * kBytes + kChange; }
  size_t TitleWidth() const {
    if (Narrow()) return std::max<size_t>(style_.width, 40) - kChange - 4;
    return std::min<size_t>(style_.width - 4 - 2 * kBytes - kChange, 70);
  }

  void HeadHolders() {
    out_ << "\n  ";
    if (Narrow()) {
      out_ << Inked(HoldersHeading(), Ink::kBold, style_) << "\n";
      return;
    }
    out_ << Inked(Padded(HoldersHeading(), TitleWidth() + 2, false), Ink::kBold, style_)
         << Padded("before", kBytes, true) << Padded("after", kBytes, true)
         << Padded("change", kChange, true) << "\n";
  }

  void HolderRow(const HolderChange& change) {
    const std::string title = HolderChangeTitle(change, diff_, before_, after_);
    const std::string bytes = Inked(Padded(ChangeText(change.before, change.after), kChange, true),
                                    change.more() ? Ink::kRed : Ink::kGreen, style_);
    const std::string from = FormatBytes(change.before), to = FormatBytes(change.after);
    const std::string cut = Ellipsize(title, TitleWidth());
    if (Narrow()) {
      out_ << bytes << "  " << cut << "\n"
           << std::string(kChange + 2, ' ') << from << " → " << to << "\n";
    } else {
      out_ << "    " << Padded(cut, TitleWidth(), false) << Padded(from, kBytes, true)
           << Padded(to, kBytes, true) << bytes << "\n";
    }
  }

  void MoreHolders(std::span<const HolderChange> more, std::span<const HolderChange> equal) {
    Bytes from = 0, to = 0, same = 0;
    for (const HolderChange& change : more) from += change.before, to += change.after;
    for (const HolderChange& change : equal) same += change.after;
    if (!more.empty()) {
      out_ << Wrapped("    ",
                      "… " + FormatCount(more.size()) + " more, " + ChangeText(from, to) +
                          " together (--top 0 shows all)",
                      style_);
    }
    if (!equal.empty()) {
      out_ << Wrapped("    ", FormatCount(equal.size()) + " equal, " + FormatBytes(same), style_);
    }
  }

  void Remarks() {
    if (diff_.remarks.empty()) return;
    out_ << "\n  " << Inked("WORTH A LOOK", Ink::kBold, style_) << "\n";
    for (const RemarkChange& remark : diff_.remarks) {
      const char* sign = !remark.after ? "    - " : remark.before ? "    ~ " : "    + ";
      const std::string then = !remark.after   ? "no longer: "
                               : remark.before ? "was " + FormatBytes(*remark.before) + ": "
                                               : "";
      out_ << Wrapped(sign, then + Printable(remark.text), style_);
      if (!remark.after || remark.advice.empty()) continue;
      out_ << Wrapped("      → ", Printable(remark.advice), style_);
    }
  }

  const MemoryDiff& diff_;
  const DiffSide &before_, &after_;
  const MemoryAccount *from_, *to_;  // null: no memory there
  const TextStyle& style_;
  std::ostream& out_;
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
                      const TextStyle& style, std::ostream& out) {
  for (const MemoryDiff& memory : diff.memory) {
    MemoryDiffText text(memory, before, after, style, out);
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
