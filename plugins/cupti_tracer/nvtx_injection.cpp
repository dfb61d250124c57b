// NVTX in the traced program: ranges here, the memory extension in nvtx_memory.cpp, that of
// payloads in nvtx_payload.cpp.
#include "plugins/cupti_tracer/nvtx_injection.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <string>
#include <string_view>

#include "plugins/cupti_tracer/tracer.h"

namespace graphkit {
namespace {

// NvtxCallbackModule and callback ids (nvtxTypes.h).
constexpr int kCore = 1, kCore2 = 5;
constexpr unsigned kRangePushEx = 8, kRangePushA = 9, kRangePop = 11;
constexpr unsigned kDomainPushEx = 4, kDomainPop = 5, kRegisterStringA = 10, kDomainCreateA = 12;
constexpr uint32_t kCallbacksTable = 1;  // NVTX_ETID_CALLBACKS

// Domains and registered strings are never freed: handles stay good whenever they are used.
const std::string* Keep(const char* text) { return new std::string(text != nullptr ? text : ""); }

const char* TextOf(const nvtxEventAttributes_t* event) {
  if (event == nullptr) return "";
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII && event->message.ascii != nullptr) {
    return event->message.ascii;
  }
  bool registered = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  if (!registered || event->message.registered == nullptr) return "";
  return reinterpret_cast<const std::string*>(event->message.registered)->c_str();
}

const char* NameOf(const void* domain) {
  return domain != nullptr ? static_cast<const std::string*>(domain)->c_str() : "";
}

uint32_t ColourOf(const nvtxEventAttributes_t* event) {
  bool given = event != nullptr && event->colorType == NVTX_COLOR_ARGB;
  return given ? event->color : 0;
}

// The extended payloads of an event (nvToolsExtPayload.h): their number stands in a reserved field.
constexpr auto kExtendedPayload = static_cast<int32_t>(0xDFBD0009);

int RangePushEx(const nvtxEventAttributes_t* event) {
  return PushRange(nullptr, TextOf(event), ColourOf(event), nullptr, 0);
}
int RangePushA(const char* name) {
  return PushRange(nullptr, name != nullptr ? name : "", 0, nullptr, 0);
}
int RangePop() { return PopRange(nullptr, nullptr, 0); }
int DomainPushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const bool extended = event != nullptr && event->payloadType == kExtendedPayload;
  const void* payloads =
      extended ? reinterpret_cast<const void*>(event->payload.ullValue) : nullptr;
  const size_t count = extended ? static_cast<size_t>(event->reserved0) : 0;
  return PushRange(domain, TextOf(event), ColourOf(event), payloads, count);
}
int DomainPop(nvtxDomainHandle_t domain) { return PopRange(domain, nullptr, 0); }
nvtxDomainHandle_t DomainCreateA(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(const_cast<std::string*>(Keep(name)));
}
nvtxStringHandle_t RegisterStringA(nvtxDomainHandle_t, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<std::string*>(Keep(text)));
}

class Module {
 public:
  Module(const NvtxCallbackTable& callbacks, int module) {
    if (callbacks.module_table(module, &table_, &size_) == 0) table_ = nullptr;
  }
  template <typename Function>
  void Set(unsigned id, Function* function) const {
    if (table_ != nullptr && id < size_ && table_[id] != nullptr) {
      *table_[id] = reinterpret_cast<NvtxFunction>(function);
    }
  }

 private:
  NvtxFunction** table_ = nullptr;
  unsigned size_ = 0;
};

}  // namespace

bool IsNccl(const void* domain) { return std::string_view(NameOf(domain)) == "NCCL"; }

int PushRange(const void* domain, const char* name, uint32_t colour, const void* payloads,
              size_t count) {
  NcclPayload payload;
  const bool nccl = IsNccl(domain), has_payload = nccl && ReadNcclPayload(payloads, count, payload);
  Tracer::Get().With([&](Recorder& recorder, ThreadState& thread, uint64_t time) {
    recorder.threads().OnRangePushed(thread, NameOf(domain), name, colour, time);
    if (!nccl) return;
    recorder.communicators().OnRangePushed(thread, name, has_payload ? &payload : nullptr);
  });
  return 0;
}

int PopRange(const void* domain, const void* payloads, size_t count) {
  NcclPayload payload;
  const bool nccl = IsNccl(domain), has_payload = nccl && ReadNcclPayload(payloads, count, payload);
  Tracer::Get().With([&](Recorder& recorder, ThreadState& thread, uint64_t time) {
    if (nccl) {
      const std::string name(thread.InnermostRange("NCCL"));
      recorder.communicators().OnRangePopped(thread, name, has_payload ? &payload : nullptr);
    }
    recorder.threads().OnRangePopped(thread, NameOf(domain), time);
  });
  return 0;
}

}  // namespace graphkit

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void* (*get_table)(uint32_t id)) {
  using namespace graphkit;
  if (get_table == nullptr) return 0;
  const auto* callbacks = static_cast<const NvtxCallbackTable*>(get_table(kCallbacksTable));
  if (callbacks == nullptr || callbacks->module_table == nullptr) return 0;
  const Module core(*callbacks, kCore);
  core.Set(kRangePushEx, RangePushEx);
  core.Set(kRangePushA, RangePushA);
  core.Set(kRangePop, RangePop);
  const Module core2(*callbacks, kCore2);
  core2.Set(kDomainPushEx, DomainPushEx);
  core2.Set(kDomainPop, DomainPop);
  core2.Set(kDomainCreateA, DomainCreateA);
  core2.Set(kRegisterStringA, RegisterStringA);
  return 1;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    graphkit::NvtxModuleInfo* module) {
  using namespace graphkit;
  if (module == nullptr) return 0;
  return AttachMemoryExtension(*module) || AttachPayloadExtension(*module) ? 1 : 0;
}
