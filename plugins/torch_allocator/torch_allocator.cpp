#include "plugins/torch_allocator/torch_allocator.h"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>

#include "libgraphkit/io/bytes/byte_sink.h"
#include "libgraphkit/printable.h"

namespace graphkit::torch {
namespace {

using Json = nlohmann::ordered_json;

Json FiguresJson(int device, const graphkit_allocator_figures& f) {
  return {{"device", device},
          {"mallocs", f.mallocs},
          {"frees", f.frees},
          {"record_streams", f.record_streams},
          {"out_of_memory", f.out_of_memory},
          {"allocated_bytes", f.allocated},
          {"peak_allocated_bytes", f.peak_allocated},
          {"reserved_bytes", f.reserved},
          {"peak_reserved_bytes", f.peak_reserved},
          {"captures", f.captures},
          {"captured_mallocs", f.captured_mallocs},
          {"proved_frees", f.proved_frees},
          {"deferred_frees", f.deferred_frees},
          {"deferred_bytes", f.deferred_bytes},
          {"planned", f.planned},
          {"plan_departures", f.plan_departures},
          {"plan_refusals", f.plan_refusals},
          {"plan_unused", f.plan_unused},
          {"borrowed", f.borrowed},
          {"peak_borrowed_bytes", f.peak_borrowed}};
}

void WriteAtExit() {
  TorchAllocator* all = TorchAllocator::Get();
  const std::string& path = all->settings().report;
  if (!all->WriteReport(path)) Say("can't write " + path);
}

}  // namespace

void Say(std::string_view line) noexcept try {
  std::fprintf(stderr, "graphkit allocator: %s\n", Printable(line).c_str());
} catch (const std::bad_alloc&) {
}

TorchAllocator* TorchAllocator::Get() {
  static TorchAllocator* const all = [] {
    CudaDriver* driver = CudaDriver::Get();
    if (driver == nullptr) {
      Say("no CUDA driver (libcuda.so.1), or one before CUDA 11.3: nothing can be allocated");
      return static_cast<TorchAllocator*>(nullptr);
    }
    return new TorchAllocator(
        driver);  // lives as long as the process: frees come from exit handlers
  }();
  return all;
}

TorchAllocator::TorchAllocator(CudaDriver* driver)
    : settings_(SettingsFromEnvironment()), driver_(driver) {
  if (!settings_.report.empty()) std::atexit(WriteAtExit);
  if (settings_.plan.empty()) return;
  Result<PlannedGraphs> planned = ReadPlannedGraphs(settings_.plan);
  if (!planned) {
    Say(Describe(planned.error()) + "; going on without a plan");
    return;
  }
  plan_ = std::make_unique<PlanGuide>();
  plan_->planned = std::move(*planned);
}

DeviceAllocator* TorchAllocator::Device(int device) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<DeviceAllocator>& made = devices_[device];
  if (!made) made = std::make_unique<DeviceAllocator>(device, settings_, driver_, plan_.get());
  return made.get();
}

std::vector<DeviceAllocator*> TorchAllocator::Devices() {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceAllocator*> devices;
  for (const auto& [number, device] : devices_) devices.push_back(device.get());
  return devices;
}

bool TorchAllocator::WriteReport(const std::string& path) {
  Json devices = Json::array();
  for (DeviceAllocator* device : Devices()) {
    devices.push_back(FiguresJson(device->number(), device->figures()));
  }
  const Json report = {{"schema", "graphkit-allocator-report"},
                       {"version", 1},
                       {"plan", settings_.plan.empty() ? Json() : Json(settings_.plan)},
                       {"plan_read", plan_ != nullptr},
                       {"devices", devices}};
  const Result<std::unique_ptr<ByteSink>> file = CreateFile(path);
  return file && (*file)->Write(report.dump(1) + "\n") && (*file)->Finish();
}

}  // namespace graphkit::torch
