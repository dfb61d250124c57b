// graph_capture_record_stream_reuse as it is: the markers are what a stream stands behind at the
// free. A malloc walks back from where its stream stands, over edges of every kind and not again
// over what an earlier malloc of the stream walked, and takes back the blocks of its stream all of
// whose markers were walked over. These are the nodes before its place by an order in which every
// edge is a full one, and, after a stream was set back, before its places until then.
#include <algorithm>

#include "libgraphkit/alloc/policies/policy_defer.h"

namespace graphkit {
namespace {

class PyTorchPolicy final : public MarkerPolicy {
 public:
  explicit PyTorchPolicy(const PolicyView& view)
      : MarkerPolicy(view, view.walks, &view.frontiers) {}

 private:
  void Mark(StreamId stream, GraphId, std::vector<NodeId>* markers) override {
    for (const FrontierEntry& entry : frontiers_.Of(stream).entries) markers->push_back(entry.node);
  }

  // Of what the stream ever stood behind only the last is kept.
  void Move(std::span<const FrontierEntry> entries, Stream* own) override {
    for (const FrontierEntry& entry : entries) {
      const End end{entry.node, order_.EndOf(entry.node)};
      const auto known = [&](const End& other) {
        return other.node == end.node || order_.Covers(other.point, end.point);
      };
      if (std::ranges::any_of(own->ends, known)) continue;
      std::erase_if(own->ends,
                    [&](const End& other) { return order_.Covers(end.point, other.point); });
      own->ends.push_back(end);
      Advance(end.point, own);
    }
  }

  bool Passed(const Stream& own, NodeId marker) const override {
    return std::ranges::any_of(own.ends, [&](const End& end) { return EndsBefore(marker, end); });
  }
};

}  // namespace

std::unique_ptr<ReusePolicy> MakePyTorch(const PolicyView& view) {
  return std::make_unique<PyTorchPolicy>(view);
}

}  // namespace graphkit
