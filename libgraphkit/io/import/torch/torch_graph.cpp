#include "libgraphkit/io/import/file_format.h"

#include <charconv>

#include <nlohmann/json.hpp>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/pickle/pickle.h"

namespace graphkit {
namespace {

uint64_t NaturalOf(const PickleValue* value, uint64_t otherwise = 0) {
  uint64_t number = 0;
  return value && Natural(*value, &number) ? number : otherwise;
}

// Of a dict; without the key what no node has.
uint64_t NumberOf(const PickleValue& dict, std::string_view key) {
  return NaturalOf(dict.find(key), ~uint64_t{0});
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

constexpr const char* kHint =
    "give the file of torch.cuda.graph_annotations.dump_kernel_py_stacks, or "
    "dict(get_kernel_annotations()) as JSON or a pickle";

Error NotNodes(std::string what) {
  return {.message = "no launch stacks or annotations of PyTorch: " + std::move(what),
          .hint = kHint};
}

// "model.py:12:forward", the innermost line first; a path may have colons.
std::vector<StackFrame> FramesOf(std::string_view text, TraceMaker& make) {
  std::vector<StackFrame> frames;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t function = line.rfind(':');
    if (function == std::string_view::npos || function == 0) continue;
    const size_t number = line.rfind(':', function - 1);
    if (number == std::string_view::npos) continue;
    StackFrame frame;
    frame.file = make.Intern(line.substr(0, number));
    frame.function = make.Intern(line.substr(function + 1));
    std::from_chars(line.data() + number + 1, line.data() + function, frame.line);
    frames.push_back(frame);
  }
  return frames;
}

class NodesReader {
 public:
  // A stack's text, or an annotation: a list of one dict, as PyTorch keeps it, or the dict.
  void Add(uint64_t tool_id, const nlohmann::json& value) {
    if (value.is_string()) return AddStack(tool_id, value.get<std::string>());
    const nlohmann::json& of = value.is_array() && !value.empty() ? value.front() : value;
    std::string label;
    if (of.is_string()) label = of.get<std::string>();
    const nlohmann::json none = nlohmann::json::object();
    for (const auto& [key, part] : (of.is_object() ? of : none).items()) {
      const std::string text = part.is_string() ? part.get<std::string>() : part.dump();
      if (key == "name") {
        label.insert(0, label.empty() ? text : text + ", ");
      } else {
        label += (label.empty() ? "" : ", ") + key + " " + text;
      }
    }
    if (!label.empty()) origins_.push_back({.tool_id = tool_id, .label = label});
  }
  void AddStack(uint64_t tool_id, const std::string& text) {
    const auto [known, is_new] = stacks_.try_emplace(text);
    const std::vector<StackFrame> frames =
        is_new ? FramesOf(text, make_) : std::vector<StackFrame>();
    if (!frames.empty()) known->second = make_.AddStack(frames);
    if (known->second.valid()) origins_.push_back({.tool_id = tool_id, .stack = known->second});
  }

  Result<Imported> Finish() {
    if (origins_.empty()) return NotNodes("it names no node");
    Imported imported = make_.Finish(
        Counted(origins_.size(), "node") +
        " of graphs with a launch stack or an annotation; merge them with a trace of the program "
        "(graphkit import)");
    imported.origins = std::move(origins_);
    return imported;
  }

 private:
  TraceMaker make_;
  std::vector<NodeOrigin> origins_;
  std::map<std::string, StackId> stacks_;
};

// A dict of texts, numbers and truth values, as JSON.
nlohmann::json JsonOf(const PickleValue& value) {
  uint64_t number = 0;
  if (value.is(PickleType::kString)) return std::string(value.text());
  if (value.is(PickleType::kBool)) return value.integer != 0;
  if (value.is(PickleType::kFloat)) return value.real;
  if (value.is(PickleType::kInt)) return value.integer;
  if (Natural(value, &number)) return number;
  nlohmann::json json;
  if (value.is_sequence() && !value.items().empty() && !value.items().front().is_sequence())
    json.push_back(JsonOf(value.items().front()));
  if (!value.is(PickleType::kDict)) return json;
  for (size_t i = 0; i + 1 < value.items().size(); i += 2) {
    const PickleValue& part = value.items()[i + 1];
    const bool plain = !part.is_sequence() && !part.is(PickleType::kDict);
    if (plain) json[std::string(TextOf(&value.items()[i]))] = JsonOf(part);
  }
  return json;
}

// Without what lies too deep to be a part of an annotation.
Result<nlohmann::json> ReadJson(std::string_view bytes) {
  constexpr int kDepth = 16;
  const auto shallow = [](int depth, auto, const auto&) { return depth < kDepth; };
  try {
    return nlohmann::json::parse(bytes, shallow);
  } catch (const nlohmann::json::parse_error& error) {
    Error wrong = NotNodes("it isn't JSON");
    if (error.byte > bytes.size()) {
      wrong = {.message = "the JSON ends in the middle",
               .hint = "the file was cut off: write it again",
               .kind = Error::Kind::kIncomplete};
    }
    wrong.offset = error.byte - 1;  // `byte` counts from 1
    return wrong;
  } catch (const nlohmann::json::out_of_range&) {  // a number like 1e999
    return NotNodes("a number is out of range");
  }
}

Result<Imported> ReadPickled(std::string_view bytes) {
  const Result<PickleDocument> document = ReadPickle(bytes);
  if (!document) return document.error();
  if (!document->root.is(PickleType::kDict)) return NotNodes("it isn't a dict");
  NodesReader reader;
  const std::span<const PickleValue> items = document->root.items();
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    uint64_t tool_id = 0;
    if (!Natural(items[i], &tool_id)) return NotNodes("a key isn't a node's id");
    reader.Add(tool_id, JsonOf(items[i + 1]));
  }
  return reader.Finish();
}

}  // namespace

bool IsTorchGraph(std::string_view head) {
  return IsPickle(head) && head.find("tools_id") != std::string_view::npos;
}

Result<Imported> ReadTorchGraph(std::string_view bytes) {
  const Result<PickleDocument> document = ReadPickle(bytes);
  if (!document) return document.error();
  return GraphReader(bytes.size()).Run(document->root);
}

bool IsTorchNodes(std::string_view head) {
  const auto skip = [&head](std::string_view text) {
    if (!head.starts_with(text)) return false;
    head.remove_prefix(text.size());
    while (!head.empty() && (head[0] == ' ' || head[0] == '\n')) head.remove_prefix(1);
    return true;
  };
  if (!skip("{") || !skip("\"")) return false;
  const std::string_view id = head.substr(0, head.find('"'));
  if (!ParseNumber<uint64_t>(id)) return false;
  head.remove_prefix(id.size());
  return skip("\"") && skip(":");
}

Result<Imported> ReadTorchNodes(std::string_view bytes) {
  if (IsPickle(bytes)) return ReadPickled(bytes);
  const Result<nlohmann::json> document = ReadJson(bytes);
  if (!document) return document.error();
  if (!document->is_object()) return NotNodes("it isn't a dict");
  NodesReader reader;
  for (const auto& [key, value] : document->items()) {
    const auto tool_id = ParseNumber<uint64_t>(key);
    if (!tool_id) return NotNodes("'" + key + "' isn't a node's id");
    reader.Add(*tool_id, value);
  }
  return reader.Finish();
}

}  // namespace graphkit
