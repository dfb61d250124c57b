#include "libgraphkit/io/import/torch/torch_stacks.h"

namespace graphkit {
namespace {

uint64_t HashPointer(const void* pointer) {
  return IdTable::Combine(0, reinterpret_cast<uintptr_t>(pointer));
}

}  // namespace

const uint32_t* TorchStacks::ByIdentity::Find(const PickleContainer* container) const {
  const uint32_t at = table_.Find(HashPointer(container),
                                  [&](uint32_t i) { return seen_[i].container == container; });
  return at == IdTable::kNone ? nullptr : &seen_[at].id;
}

void TorchStacks::ByIdentity::Add(const PickleContainer* container, uint32_t id) {
  table_.Insert(HashPointer(container), static_cast<uint32_t>(seen_.size()));
  seen_.push_back({container, id});
}

StringId TorchStacks::Intern(std::string_view text) {
  const uint64_t hash = std::hash<std::string_view>()(text);
  const auto next = static_cast<uint32_t>(out_->strings.size());
  const uint32_t id =
      strings_.FindOrInsert(hash, next, [&](uint32_t i) { return out_->strings[i] == text; });
  if (id == next) out_->strings.emplace_back(text);
  return StringId(id);
}

uint32_t TorchStacks::Frame(const PickleValue& dict) {
  if (const uint32_t* known = frames_seen_.Find(dict.container)) return *known;
  TorchFrame frame;
  frame.function = Intern(TextOf(dict.find("name")));
  frame.file = Intern(TextOf(dict.find("filename")));
  const PickleValue* line = dict.find("line");
  if (line && line->is(PickleType::kInt) && line->integer > 0) {
    frame.line = static_cast<uint32_t>(std::min<int64_t>(line->integer, 0xffffffffu));
  }
  const uint64_t hash =
      IdTable::Combine(IdTable::Combine(frame.function.value, frame.file.value), frame.line);
  const auto next = static_cast<uint32_t>(out_->frames.size());
  const uint32_t id =
      frames_.FindOrInsert(hash, next, [&](uint32_t i) { return out_->frames[i] == frame; });
  if (id == next) out_->frames.push_back(frame);
  frames_seen_.Add(dict.container, id);
  return id;
}

StackId TorchStacks::InternStack(const std::vector<uint32_t>& frames) {
  uint64_t hash = frames.size();
  for (const uint32_t frame : frames) hash = IdTable::Combine(hash, frame);
  const auto same = [&](uint32_t i) {
    const Slice run = out_->stacks[i];
    return run.count == frames.size() &&
           std::equal(frames.begin(), frames.end(), out_->stack_frames.begin() + run.first);
  };
  const auto next = static_cast<uint32_t>(out_->stacks.size());
  const uint32_t id = stacks_.FindOrInsert(hash, next, same);
  if (id == next) {
    out_->stacks.push_back(
        {static_cast<uint32_t>(out_->stack_frames.size()), static_cast<uint32_t>(frames.size())});
    out_->stack_frames.insert(out_->stack_frames.end(), frames.begin(), frames.end());
  }
  return StackId(id);
}

StackId TorchStacks::Stack(const PickleValue& list) {
  if (!list.is_sequence() || list.items().empty()) return {};
  if (const uint32_t* known = stacks_seen_.Find(list.container)) return StackId(*known);
  scratch_.clear();
  for (const PickleValue& frame : list.items()) {
    if (frame.is(PickleType::kDict)) scratch_.push_back(Frame(frame));
  }
  const StackId id = scratch_.empty() ? StackId() : InternStack(scratch_);
  stacks_seen_.Add(list.container, id.value);
  return id;
}

}  // namespace graphkit
