#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/io/import/file_format.h"

#include <cmath>

#include <simdjson.h>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/import/node_times.h"

namespace graphkit {
namespace {

namespace ondemand = simdjson::ondemand;

NodeKind CategoryKind(std::string_view category) {
  if (category == "kernel" || category == "Kernel") return NodeKind::kKernel;
  if (category == "gpu_memcpy" || category == "Memcpy") return NodeKind::kMemcpy;
  if (category == "gpu_memset" || category == "Memset") return NodeKind::kMemset;
  return NodeKind::kUnknown;
}

// Numbers may be written as numbers or as strings.
uint64_t Natural(ondemand::value value) {
  uint64_t number = 0;
  int64_t integer = 0;
  double real = 0;
  if (value.get_uint64().get(number) == simdjson::SUCCESS) return number;
  if (value.get_int64().get(integer) == simdjson::SUCCESS) return 0;
  if (value.get_uint64_in_string().get(number) == simdjson::SUCCESS) return number;
  if (value.get_double().get(real) != simdjson::SUCCESS) return 0;
  return real >= 0 && real < 1e18 ? static_cast<uint64_t>(real) : 0;
}

void ReadDimensions(ondemand::value value, uint32_t out[3]) {
  ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return;
  size_t i = 0;
  for (auto item : array) {
    ondemand::value number;
    if (item.get(number) != simdjson::SUCCESS || i == 3) return;
    out[i++] = Saturate<uint32_t>(Natural(number));
  }
}

// Calls take(key, value) for each field; its error ends that.
simdjson::error_code ForEachField(ondemand::object object, auto take) {
  for (auto field : object) {
    std::string_view key;
    ondemand::value value;
    if (const auto error = field.unescaped_key().get(key)) return error;
    if (const auto error = field.value().get(value)) return error;
    if (const simdjson::error_code error = take(key, value)) return error;
  }
  return simdjson::SUCCESS;
}

class ProfileReader {
 public:
  Result<Imported> Run(std::string_view bytes) {
    ondemand::parser parser;
    ondemand::document document;
    simdjson::error_code error =
        parser.iterate(bytes.data(), bytes.size(), bytes.size() + kReadPadding).get(document);
    ondemand::array events;
    if (!error) error = FindEvents(document, &events);
    if (!error) error = TakeAll(events);
    if (error) return Broken(error);
    return Finish();
  }

 private:
  struct Arguments {
    uint64_t graph = 0;
    uint64_t node = 0;
    bool has_node = false;
    NodeRun run;
  };

  static Error Broken(simdjson::error_code error) {
    Error result{
        .message = std::string("not a profile of PyTorch: ") + simdjson::error_message(error),
        .hint = "give the file that torch.profiler's export_chrome_trace wrote"};
    if (error == simdjson::UNCLOSED_STRING || error == simdjson::INCOMPLETE_ARRAY_OR_OBJECT ||
        error == simdjson::EMPTY) {
      result.kind = Error::Kind::kIncomplete;
    }
    return result;
  }

  // {"traceEvents": […]}, or the array itself.
  static simdjson::error_code FindEvents(ondemand::document& document, ondemand::array* events) {
    ondemand::json_type type{};
    if (const auto error = document.type().get(type)) return error;
    if (type == ondemand::json_type::array) return document.get_array().get(*events);
    return document.find_field_unordered("traceEvents").get_array().get(*events);
  }

  simdjson::error_code TakeAll(ondemand::array& events) {
    for (auto item : events) {
      ondemand::object event;
      if (const auto error = item.get_object().get(event)) return error;
      if (const auto error = Take(event)) return error;
      ++events_;
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code Take(ondemand::object event) {
    std::string category;
    std::string name;
    double duration_us = 0;
    Arguments arguments;
    const auto take = [&](std::string_view key, ondemand::value value) {
      std::string_view text;
      ondemand::object object;
      if (key == "cat" && value.get_string().get(text) == simdjson::SUCCESS) {
        category = text;
      } else if (key == "name" && value.get_string().get(text) == simdjson::SUCCESS) {
        name = text;
      } else if (key == "dur") {
        if (value.get_double().get(duration_us) != simdjson::SUCCESS) duration_us = 0;
      } else if (key == "args" && value.get_object().get(object) == simdjson::SUCCESS) {
        return TakeArguments(object, &arguments);
      }
      return simdjson::SUCCESS;
    };
    if (const auto error = ForEachField(event, take)) return error;
    launches_.Take(name);
    const NodeKind kind = CategoryKind(category);
    if (kind == NodeKind::kUnknown) return simdjson::SUCCESS;
    ++work_;
    const bool whole = arguments.node >> 32 != 0;
    if (!arguments.has_node || (!whole && arguments.graph == 0)) return simdjson::SUCCESS;
    arguments.run.tool_id = whole ? arguments.node : arguments.graph << 32 | arguments.node;
    arguments.run.kind = kind;
    if (kind == NodeKind::kKernel) arguments.run.kernel = name;
    if (duration_us > 0 && duration_us < 1e15) {
      arguments.run.duration_ns = static_cast<uint64_t>(std::llround(duration_us * 1000));
    }
    times_.Add(arguments.run);
    return simdjson::SUCCESS;
  }

  static simdjson::error_code TakeArguments(ondemand::object object, Arguments* out) {
    return ForEachField(object, [out](std::string_view key, ondemand::value value) {
      if (key == "graph id") {
        out->graph = Natural(value);
      } else if (key == "graph node id") {
        out->node = Natural(value);
        out->has_node = true;
      } else if (key == "stream") {
        out->run.stream = Natural(value);
      } else if (key == "device") {
        out->run.device = Saturate<uint32_t>(Natural(value));
      } else if (key == "grid") {
        ReadDimensions(value, out->run.shape.grid);
      } else if (key == "block") {
        ReadDimensions(value, out->run.shape.block);
      } else if (key == "shared memory") {
        out->run.shape.shared_bytes = Saturate<uint32_t>(Natural(value));
      }
      return simdjson::SUCCESS;
    });
  }

  Result<Imported> Finish() {
    TraceMaker make;
    times_.MakeGraphs(make);
    make.trace.process.unknown_memory = "a profile has no memory";
    const ProfileCounts counts{.work = work_, .graph_launches = launches_.count()};
    make.Note(ProfileNote(times_, counts, "PyTorch's profiler names them with CUDA 12 and later"));
    Imported imported =
        make.Finish(Counted(events_, "event") + ", " + ProfileSummary(times_, counts));
    imported.times = times_.Times();
    return imported;
  }

  NodeTimes times_;
  size_t events_ = 0;
  size_t work_ = 0;  // kernels, copies and sets
  GraphLaunchCalls launches_;
};

}  // namespace

bool IsKineto(std::string_view head) {
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const bool json = head[begin] == '{' || head[begin] == '[';
  const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  return json && (has("\"traceEvents\"") || has("\"deviceProperties\"") || has("\"ph\""));
}

Result<Imported> ReadKineto(std::string_view bytes) { return ProfileReader().Run(bytes); }

}  // namespace graphkit
