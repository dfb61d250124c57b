// cuDNN's backend: descriptors that hold attributes, and the execution of a plan. A descriptor that
// is given to another is copied into it. Whatever graph of operations is asked for has one engine,
// which needs no workspace.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "plugins/soft_cuda/libraries/dnn/handle.h"

namespace graphkit::soft::dnn {

struct Attribute;

// A cudnnBackendDescriptor_t.
struct Descriptor {
  int type = 0;
  bool finalized = false;
  std::map<int, Attribute> attributes;
};

struct Attribute {
  int type = 0;
  int64_t count = 0;
  std::string bytes;                               // of the values, but for descriptors
  std::vector<std::shared_ptr<Descriptor>> parts;  // these are here
};

namespace {

// Types of values (cudnnBackendAttributeType_t).
constexpr int kDescriptor = 15;

// Types of descriptors (cudnnBackendDescriptorType_t).
enum Kind {
  kEngine = 2,
  kConfiguration = 3,
  kHeuristics = 4,
  kPlan = 5,
  kTensor = 17,
  kLastKind = 64
};

// Attributes (cudnnBackendAttributeName_t).
enum Name {
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigurationEngine = 300,
  kPlanConfiguration = 401,
  kGraphOperations = 801,
  kTensorType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kTensorVectorCount = 904,
  kTensorId = 906,
  kTensorVirtual = 907,
  kTensorByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineGraph = 1300,
  kEngineIndex = 1301,
  kNormPhase = 2001
};

size_t BytesOfValue(int type) {
  switch (type) {
    case 2:   // CUDNN_TYPE_BOOLEAN
    case 24:  // CUDNN_TYPE_CHAR
      return 1;
    case 0:   // CUDNN_TYPE_HANDLE
    case 3:   // CUDNN_TYPE_INT64
    case 5:   // CUDNN_TYPE_DOUBLE
    case 6:   // CUDNN_TYPE_VOID_PTR
    case 26:  // CUDNN_TYPE_FRACTION: two ints
      return 8;
    default:
      return 4;  // enumerations, int32 and float
  }
}

const Attribute* Find(const Descriptor& d, int name) {
  const auto found = d.attributes.find(name);
  return found != d.attributes.end() ? &found->second : nullptr;
}

const Descriptor* Part(const Descriptor* d, int name) {
  const Attribute* attribute = d != nullptr ? Find(*d, name) : nullptr;
  return attribute != nullptr && !attribute->parts.empty() ? attribute->parts.front().get()
                                                           : nullptr;
}

template <typename T>
std::vector<T> Values(const Descriptor& d, int name) {
  const Attribute* attribute = Find(d, name);
  if (attribute == nullptr) return {};
  std::vector<T> values(attribute->bytes.size() / sizeof(T));
  std::memcpy(values.data(), attribute->bytes.data(), values.size() * sizeof(T));
  return values;
}

template <typename T>
T Value(const Descriptor& d, int name, T otherwise) {
  const std::vector<T> values = Values<T>(d, name);
  return values.empty() ? otherwise : values.front();
}

// The tensors that an operation writes; NORM_FWD's mean and variance when it trains, too.
constexpr int kOutputs[] = {705,  710,  715,  753,  756,  773,  774,  788,  789,  790,  791,  792,
                            793,  1522, 1611, 1626, 1627, 1628, 1629, 1630, 1711, 1712, 1720, 1803,
                            1904, 1951, 2011, 2012, 2013, 2107, 2108, 2109, 2201, 2251, 2271, 2310,
                            2501, 2502, 2602, 2803, 2804, 2817, 2828, 2829, 2859, 2860, 2861, 2864,
                            2905, 2953, 3006, 3101, 3102, 3103, 3104, 3201, 3301, 3401, 3411};

bool IsOutput(const Descriptor& operation, int name) {
  if (name == 2003 || name == 2004) return Value<int32_t>(operation, kNormPhase, 1) == 1;
  return std::binary_search(std::begin(kOutputs), std::end(kOutputs), name);
}

// Convolutions add to what is there when beta isn't 0: {output, beta}.
bool AddsTo(const Descriptor& operation, int output) {
  const int beta = output == 705 ? 701 : output == 710 ? 707 : output == 715 ? 713 : 0;
  const Attribute* attribute = beta != 0 ? Find(operation, beta) : nullptr;
  if (attribute == nullptr) return false;
  return attribute->bytes.find_first_not_of('\0') != std::string::npos;
}

uint64_t Bytes(const Descriptor& tensor) {
  return dnn::Bytes(Value<int32_t>(tensor, kTensorType, 0), Values<int64_t>(tensor, kTensorSizes),
                    Values<int64_t>(tensor, kTensorStrides)) *
         static_cast<uint64_t>(Value<int64_t>(tensor, kTensorVectorCount, 1));
}

const char* NameOf(int operation) {
  switch (operation) {
    case 10:
      return "convolution_forward";
    case 11:
      return "convolution_backward_filter";
    case 12:
      return "convolution_backward_data";
    case 13:
      return "pointwise";
    case 19:
      return "matmul";
    case 22:
      return "reduction";
    case 25:
      return "resample_fwd";
    case 26:
      return "resample_bwd";
    case 27:
      return "concat";
    case 29:
      return "norm_forward";
    case 30:
      return "norm_backward";
    case 31:
      return "reshape";
    case 33:
      return "rng";
    case 41:
      return "sdpa_fwd";
    case 43:
      return "sdpa_bwd";
    case 45:
      return "softmax";
    default:
      return "operation";
  }
}

// Memory that the operations of a graph touch, by the tensor's id.
struct Use {
  uint64_t bytes = 0;
  bool reads = false, writes = false;
};

void AddUses(const Descriptor& operation, std::map<int64_t, Use>* uses) {
  for (const auto& [name, attribute] : operation.attributes) {
    for (const auto& part : attribute.parts) {
      if (part->type != kTensor || Value<char>(*part, kTensorVirtual, 0) != 0 ||
          Value<char>(*part, kTensorByValue, 0) != 0) {
        continue;
      }
      Use& use = (*uses)[Value<int64_t>(*part, kTensorId, 0)];
      use.bytes = std::max(use.bytes, Bytes(*part));
      const bool output = IsOutput(operation, name);
      use.writes |= output;
      use.reads |= !output || AddsTo(operation, name);
    }
  }
}

// "cudnnBackendExecute: matmul, pointwise": each kind once, in order.
std::string Describe(const Attribute& operations) {
  std::string text;
  std::set<int> named;
  for (const auto& operation : operations.parts) {
    if (!named.insert(operation->type).second) continue;
    text += (text.empty() ? "cudnnBackendExecute: " : ", ") + std::string(NameOf(operation->type));
  }
  return text;
}

const Attribute* OperationsOf(const Descriptor& plan) {
  const Descriptor* engine = Part(Part(&plan, kPlanConfiguration), kConfigurationEngine);
  const Descriptor* graph = Part(engine, kEngineGraph);
  return graph != nullptr ? Find(*graph, kGraphOperations) : nullptr;
}

Status Execute(const Handle& handle, const Descriptor& plan, const Descriptor& pack) {
  const Attribute* operations = OperationsOf(plan);
  if (operations == nullptr || operations->parts.empty()) return kBadParam;
  std::map<int64_t, Use> uses;
  for (const auto& operation : operations->parts) AddUses(*operation, &uses);
  const std::string name = Describe(*operations);
  Work work(name.c_str(), handle.stream);
  const std::vector<int64_t> ids = Values<int64_t>(pack, kPackIds);
  const std::vector<void*> pointers = Values<void*>(pack, kPackPointers);
  for (size_t i = 0; i < std::min(ids.size(), pointers.size()); ++i) {
    const auto found = uses.find(ids[i]);
    if (found == uses.end()) continue;  // given by value
    const Use& use = found->second;
    const int how = (use.reads ? GRAPHKIT_SOFT_READS : 0) | (use.writes ? GRAPHKIT_SOFT_WRITES : 0);
    work.Uses(pointers[i], use.bytes, static_cast<graphkit_soft_use>(how));
  }
  return Submit(work);
}

std::shared_ptr<Descriptor> EngineOf(const Descriptor* graph) {
  auto engine = std::make_shared<Descriptor>(Descriptor{kEngine, true, {}});
  if (graph != nullptr) {
    engine->attributes[kEngineGraph] = {kDescriptor, 1, {}, {std::make_shared<Descriptor>(*graph)}};
  }
  const int64_t index = 0;
  engine->attributes[kEngineIndex] = {
      3, 1, std::string(reinterpret_cast<const char*>(&index), sizeof index), {}};
  return engine;
}

// Descriptors are written into those that the caller made for them.
Status GiveParts(const std::vector<std::shared_ptr<Descriptor>>& parts, int64_t room,
                 int64_t* count, void* out) {
  if (count != nullptr) *count = static_cast<int64_t>(parts.size());
  if (room == 0 || out == nullptr) return kSuccess;
  auto* const* given = static_cast<Descriptor* const*>(out);
  for (size_t i = 0; i < std::min(parts.size(), static_cast<size_t>(room)); ++i) {
    if (given[i] == nullptr) return kNullPointer;
    *given[i] = *parts[i];
  }
  if (count != nullptr) *count = std::min(*count, room);
  return kSuccess;
}

Status GiveBytes(const std::string& bytes, size_t each, int64_t room, int64_t* count, void* out) {
  const auto have = static_cast<int64_t>(bytes.size() / each);
  if (count != nullptr) *count = have;
  if (room == 0 || out == nullptr) return kSuccess;
  std::memcpy(out, bytes.data(), static_cast<size_t>(std::min(room, have)) * each);
  return kSuccess;
}

// Attributes that weren't set and that cuDNN still returns: sizes that are 0, lists that are empty.
Status GiveDefault(const Descriptor& d, int name, int type, int64_t room, int64_t* count,
                   void* out) {
  switch (name) {
    case kHeuristicsResults: {
      auto configuration = std::make_shared<Descriptor>(Descriptor{kConfiguration, true, {}});
      configuration->attributes[kConfigurationEngine] = {
          kDescriptor, 1, {}, {EngineOf(Part(&d, kHeuristicsGraph))}};
      return GiveParts({configuration}, room, count, out);
    }
    case 303:  // ENGINECFG_WORKSPACE_SIZE
    case 304:  // ENGINECFG_SHARED_MEMORY_USED
    case 402:  // EXECUTION_PLAN_WORKSPACE_SIZE
      return GiveBytes(std::string(BytesOfValue(type), '\0'), BytesOfValue(type), room, count, out);
    case 405:  // EXECUTION_PLAN_JSON_REPRESENTATION
    case 2402:
    case 2702:
      return GiveBytes(std::string("{}") + '\0', 1, room, count, out);
    case 802: {  // OPERATIONGRAPH_ENGINE_GLOBAL_COUNT
      const int64_t one = 1;
      return GiveBytes(std::string(reinterpret_cast<const char*>(&one), sizeof one), sizeof one,
                       room, count, out);
    }
    default:
      if (count != nullptr) *count = 0;
      return kSuccess;
  }
}

}  // namespace
}  // namespace graphkit::soft::dnn

using namespace graphkit::soft::dnn;

extern "C" {

STAND_IN int cudnnBackendCreateDescriptor(int type, Descriptor** out) {
  if (out == nullptr) return kNullPointer;
  if (type < 0 || type > kLastKind) return kNotSupported;
  *out = new (std::nothrow) Descriptor{type, false, {}};
  return *out != nullptr ? kSuccess : 4003;
}
STAND_IN int cudnnBackendDestroyDescriptor(Descriptor* descriptor) {
  delete descriptor;
  return kSuccess;
}
STAND_IN int cudnnBackendInitialize(Descriptor* descriptor) {
  if (descriptor == nullptr) return kNullPointer;
  *descriptor = {descriptor->type, false, {}};
  return kSuccess;
}
STAND_IN int cudnnBackendFinalize(Descriptor* descriptor) {
  if (descriptor == nullptr) return kNullPointer;
  if (descriptor->type == kEngine && Value<int64_t>(*descriptor, kEngineIndex, 0) != 0) {
    return kNotSupported;  // there is one engine
  }
  descriptor->finalized = true;
  return kSuccess;
}

STAND_IN int cudnnBackendSetAttribute(Descriptor* descriptor, int name, int type, int64_t count,
                                      const void* values) {
  if (descriptor == nullptr || (values == nullptr && count != 0)) return kNullPointer;
  if (descriptor->finalized || count < 0) return kBadParam;
  Attribute attribute{type, count, {}, {}};
  if (type == kDescriptor) {
    const auto* given = static_cast<Descriptor* const*>(values);
    for (int64_t i = 0; i < count; ++i) {
      if (given[i] == nullptr) return kNullPointer;
      if (!given[i]->finalized) return kNotFinalized;
      attribute.parts.push_back(std::make_shared<Descriptor>(*given[i]));
    }
  } else {
    attribute.bytes.assign(static_cast<const char*>(values),
                           static_cast<size_t>(count) * BytesOfValue(type));
  }
  descriptor->attributes[name] = std::move(attribute);
  return kSuccess;
}

STAND_IN int cudnnBackendGetAttribute(const Descriptor* descriptor, int name, int type,
                                      int64_t room, int64_t* count, void* values) {
  if (descriptor == nullptr) return kNullPointer;
  if (!descriptor->finalized) return kNotFinalized;
  const Attribute* attribute = Find(*descriptor, name);
  if (attribute == nullptr) return GiveDefault(*descriptor, name, type, room, count, values);
  if (attribute->type == kDescriptor) return GiveParts(attribute->parts, room, count, values);
  return GiveBytes(attribute->bytes, BytesOfValue(attribute->type), room, count, values);
}

STAND_IN int cudnnGetExecutionPlanWorkspaceSize(Handle*, Descriptor*, Descriptor*, size_t* bytes) {
  if (bytes == nullptr) return kNullPointer;
  *bytes = 0;
  return kSuccess;
}

STAND_IN int cudnnBackendExecute(Handle* handle, Descriptor* plan, Descriptor* pack) {
  if (handle == nullptr || plan == nullptr || pack == nullptr) return kNullPointer;
  if (!plan->finalized || !pack->finalized) return kNotFinalized;
  return Execute(*handle, *plan, *pack);
}
}
