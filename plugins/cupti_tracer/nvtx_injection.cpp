// NVTX in the traced program: ranges here, the memory extension in nvtx_memory.cpp.
#include "plugins/cupti_tracer/nvtx_injection.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <string>

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

const char* NameOf(nvtxDomainHandle_t domain) {
  return domain != nullptr ? reinterpret_cast<const std::string*>(domain)->c_str() : "";
}

uint32_t ColourOf(const nvtxEventAttributes_t* event) {
  bool given = event != nullptr && event->colorType == NVTX_COLOR_ARGB;
  return given ? event->color : 0;
}

int Push(const char* domain, const char* name, uint32_t colour) {
  Tracer::Get().With([&](Recorder& recorder, ThreadState& thread, uint64_t time) {
    recorder.threads().OnRangePushed(thread, domain, name, colour, time);
  });
  return 0;
}

int Pop(const char* domain) {
  Tracer::Get().With([&](Recorder& recorder, ThreadState& thread, uint64_t time) {
    recorder.threads().OnRangePopped(thread, domain, time);
  });
  return 0;
}

int RangePushEx(const nvtxEventAttributes_t* event) {
  return Push("", TextOf(event), ColourOf(event));
}
int RangePushA(const char* name) { return Push("", name != nullptr ? name : "", 0); }
int RangePop() { return Pop(""); }
int DomainPushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return Push(NameOf(domain), TextOf(event), ColourOf(event));
}
int DomainPop(nvtxDomainHandle_t domain) { return Pop(NameOf(domain)); }
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
  return module != nullptr && graphkit::AttachMemoryExtension(*module) ? 1 : 0;
}
