// Frames and stacks that a snapshot repeats, kept once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "libgraphkit/io/pickle/pickle.h"
#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {

// Gathers the stack frames of a snapshot without repeats. A snapshot says the same few thousand
// stacks millions of times, mostly as references to the same list.
class TorchStacks {
 public:
  explicit TorchStacks(TorchSnapshot* out) : out_(out) {}

  // The stack of a "frames" list; invalid for an empty list and for what isn't a list of frames.
  StackId Stack(const PickleValue& list) {
    if (!list.is_sequence() || list.items().empty()) return {};
    const auto seen = seen_.find(list.container);
    if (seen != seen_.end()) return StackId(seen->second);
    scratch_.clear();
    for (const PickleValue& frame : list.items()) {
      if (frame.is(PickleType::kDict)) scratch_.push_back(Frame(frame));
    }
    const uint32_t id =
        scratch_.empty() ? StackId::kNone : stacks_.Intern(BytesOf(std::span(scratch_))).value;
    if (id == out_->stacks.size()) {
      out_->stacks.push_back({static_cast<uint32_t>(out_->stack_frames.size()),
                              static_cast<uint32_t>(scratch_.size())});
      out_->stack_frames.insert(out_->stack_frames.end(), scratch_.begin(), scratch_.end());
    }
    seen_.emplace(list.container, id);
    return StackId(id);
  }

 private:
  uint32_t Frame(const PickleValue& dict) {
    const auto [seen, fresh] = seen_.try_emplace(dict.container);
    if (!fresh) return seen->second;
    TorchFrame frame{out_->strings.Intern(TextOf(dict.find("name"))),
                     out_->strings.Intern(TextOf(dict.find("filename")))};
    const PickleValue* line = dict.find("line");
    if (line && line->is(PickleType::kInt) && line->integer > 0) {
      frame.line = static_cast<uint32_t>(std::min<int64_t>(line->integer, 0xffffffffu));
    }
    seen->second = frames_.Intern(BytesOf(std::span(&frame, 1))).value;
    if (seen->second == out_->frames.size()) out_->frames.push_back(frame);
    return seen->second;
  }

  template <typename T>
  static std::string_view BytesOf(std::span<T> values) {
    static_assert(std::has_unique_object_representations_v<T>);
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
  }

  TorchSnapshot* out_;
  std::unordered_map<const PickleContainer*, uint32_t> seen_;  // the ids of frames and stacks
  StringTable frames_, stacks_;                                // by their bytes
  std::vector<uint32_t> scratch_;
};

}  // namespace graphkit
