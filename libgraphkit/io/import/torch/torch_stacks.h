// Frames and stacks that a snapshot repeats, kept once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libgraphkit/checked_number.h"
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
    TorchFrame frame{out_->strings.Intern(FunctionOf(dict)),
                     out_->strings.Intern(TextOf(dict.find("filename")))};
    const PickleValue* line = dict.find("line");
    if (line && line->is(PickleType::kInt) && line->integer > 0) {
      frame.line = static_cast<uint32_t>(std::min<int64_t>(line->integer, 0xffffffffu));
    }
    TakeOriginal(TextOf(dict.find("fx_original_trace")), &frame);
    seen->second = frames_.Intern(BytesOf(std::span(&frame, 1))).value;
    if (seen->second == out_->frames.size()) out_->frames.push_back(frame);
    return seen->second;
  }

  // "forward"; of code that torch.fx generated with its node (PyTorch #182407): "forward [addmm]".
  static std::string FunctionOf(const PickleValue& dict) {
    const std::string function(TextOf(dict.find("name")));
    const std::string node(TextOf(dict.find("fx_node_name")));
    return node.empty() ? function : function + " [" + node + "]";
  }

  // The innermost line that generated code was made from: `File "model.py", line 12, in forward`.
  void TakeOriginal(std::string_view trace, TorchFrame* frame) {
    constexpr std::string_view kFile = "File \"", kLine = "\", line ";
    const size_t file = trace.rfind(kFile), line = trace.find(kLine, file);
    if (file == std::string_view::npos || line == std::string_view::npos) return;
    const std::string_view number = trace.substr(line + kLine.size());
    const auto parsed = ParseNumber<uint32_t>(number.substr(0, number.find(',')));
    if (!parsed) return;
    frame->file = out_->strings.Intern(trace.substr(0, line).substr(file + kFile.size()));
    frame->line = *parsed;
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
