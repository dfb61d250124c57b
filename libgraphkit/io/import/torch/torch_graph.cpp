#include "libgraphkit/io/import/formats.h"

#include <algorithm>
#include <string>
#include <utility>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/import/graph_draft.h"
#include "libgraphkit/io/pickle/pickle.h"

namespace graphkit {
namespace {

uint64_t NaturalOf(const PickleValue* value) {
  uint64_t number = 0;
  return value && Natural(*value, &number) ? number : 0;
}

// Of a dict; without the key what no node has.
uint64_t NumberOf(const PickleValue& dict, std::string_view key) {
  const PickleValue* value = dict.find(key);
  uint64_t number = 0;
  return value && Natural(*value, &number) ? number : ~uint64_t{0};
}

void ReadDimensions(const PickleValue* value, uint32_t out[3]) {
  if (!value || !value->is_sequence()) return;
  for (size_t i = 0; i < std::min<size_t>(3, value->items().size()); ++i) {
    out[i] = Saturate<uint32_t>(NaturalOf(&value->items()[i]));
  }
}

// Edge data that a later version may carry under another name: better incomplete than wrong.
bool HasEdgeData(const PickleValue& node) {
  for (size_t i = 0; i + 1 < node.items().size(); i += 2) {
    const PickleValue& key = node.items()[i];
    const PickleValue& value = node.items()[i + 1];
    if (!key.is(PickleType::kString)) continue;
    const bool about_edges = key.text().find("edge") != std::string_view::npos ||
                             key.text().find("programmatic") != std::string_view::npos;
    const bool container = value.is_sequence() || value.is(PickleType::kDict);
    if (about_edges && container && !value.items().empty()) return true;
  }
  return false;
}

class GraphReader {
 public:
  explicit GraphReader(size_t file_size) : budget_(file_size) {}

  Result<Imported> Run(const PickleValue& root) {
    if (!Any(root, 0)) return error_;
    if (drafts_.empty()) {
      Fail("it has no 'nodes'");
      return error_;
    }
    for (const GraphDraft& draft : drafts_) {
      if (const Result<DraftedGraph> made = AddDraft(draft, make_); !made) return made.error();
    }
    if (edge_data_) {
      make_.Note("the file carries edge data that isn't read: programmatic edges count as full");
    }
    make_.trace.process.unknown_memory = "PyTorch's graph data has no memory";
    return make_.Finish(CountsOf(make_.trace));
  }

 private:
  bool Fail(std::string what) {
    error_ = {.message = "not graph data of PyTorch: " + std::move(what),
              .hint = "give the file that torch.cuda.export_graph_data wrote"};
    return false;
  }
  // References can't multiply what is read beyond the file's size.
  bool Spend(size_t things) {
    if (things > budget_) return Fail("it repeats the same entries beyond the file's size");
    budget_ -= things;
    return true;
  }

  // A graph, or a container of them.
  bool Any(const PickleValue& value, int depth) {
    constexpr int kDeepest = 4;
    if (depth > kDeepest) return true;
    if (const PickleValue* nodes = value.find("nodes")) return OneGraph(value, *nodes);
    if (!value.is_sequence() && !value.is(PickleType::kDict)) return true;
    if (!Spend(value.items().size() + 1)) return false;
    for (const PickleValue& item : value.items()) {
      if (!Any(item, depth + 1)) return false;
    }
    return true;
  }

  bool OneGraph(const PickleValue& graph, const PickleValue& nodes) {
    if (!nodes.is_sequence()) return Fail("'nodes' isn't a list");
    if (!Spend(nodes.items().size() + 1)) return false;
    GraphDraft draft;
    draft.tool_id = NaturalOf(graph.find("exec_graph_id"));
    draft.nodes.resize(nodes.items().size());
    uint32_t number = 0;
    for (const PickleValue& node : nodes.items()) {
      if (!OneNode(node, number++, nodes.items().size(), &draft)) return false;
    }
    const PickleValue* edges = graph.find("edges");
    if (edges && !Edges(*edges, &draft)) return false;
    drafts_.push_back(std::move(draft));
    return true;
  }

  // Since PyTorch 2.15: what `dependencies` say, with the edges' data.
  bool Edges(const PickleValue& edges, GraphDraft* draft) {
    if (!edges.is_sequence()) return Fail("'edges' isn't a list");
    if (!Spend(edges.items().size())) return false;
    draft->edges.clear();
    for (const PickleValue& edge : edges.items()) {
      const uint64_t from = NumberOf(edge, "from"), to = NumberOf(edge, "to");
      if (std::max(from, to) >= draft->nodes.size()) return Fail("an edge leads to no node");
      const uint64_t type = NumberOf(edge, "type");
      if (type > 1) return Fail("an edge is of a type that isn't known");
      draft->edges.push_back({.from = static_cast<uint32_t>(from),
                              .to = static_cast<uint32_t>(to),
                              .from_port = Saturate<uint8_t>(NumberOf(edge, "from_port")),
                              .to_port = Saturate<uint8_t>(NumberOf(edge, "to_port")),
                              .type = static_cast<EdgeType>(type)});
    }
    return true;
  }

  bool OneNode(const PickleValue& node, uint32_t number, size_t count, GraphDraft* draft) {
    if (!node.is(PickleType::kDict)) return Fail("a node isn't a dict");
    if (!Spend(node.items().size())) return false;
    DraftNode& out = draft->nodes[number];
    out.kind = KindNamed(TextOf(node.find("node_type")));
    out.kernel = TextOf(node.find("kernel_name"));
    out.tool_id = NaturalOf(node.find("tools_id"));
    out.event = NaturalOf(node.find("event_ptr"));
    ReadDimensions(node.find("grid_dim"), out.shape.grid);
    ReadDimensions(node.find("block_dim"), out.shape.block);
    out.shape.shared_bytes = Saturate<uint32_t>(NaturalOf(node.find("shared_mem_bytes")));
    out.label = TextOf(node.find("host_fn_name"));
    edge_data_ |= HasEdgeData(node);
    const PickleValue* dependencies = node.find("dependencies");
    if (!dependencies) return true;
    if (!dependencies->is_sequence()) return Fail("'dependencies' isn't a list");
    if (!Spend(dependencies->items().size())) return false;
    for (const PickleValue& dependency : dependencies->items()) {
      const bool inside = dependency.is(PickleType::kInt) && dependency.integer >= 0 &&
                          static_cast<uint64_t>(dependency.integer) < count;
      if (!inside) return Fail("a dependency is no node of the graph");
      draft->edges.push_back({.from = static_cast<uint32_t>(dependency.integer), .to = number});
    }
    return true;
  }

  size_t budget_;
  std::vector<GraphDraft> drafts_;
  TraceMaker make_;
  bool edge_data_ = false;
  Error error_;
};

}  // namespace

bool IsTorchGraph(std::string_view head) {
  return IsPickle(head) && head.find("tools_id") != std::string_view::npos;
}

Result<Imported> ReadTorchGraph(std::string_view bytes) {
  const Result<PickleDocument> document = ReadPickle(bytes);
  if (!document) return document.error();
  return GraphReader(bytes.size()).Run(document->root);
}

}  // namespace graphkit
