#include "tools/graphkit/replay/device_executor.h"

#include <dlfcn.h>

#include <array>
#include <memory>

namespace graphkit {
namespace {

constexpr uint32_t kHeldMicroseconds = 20;

Error Failed(const std::string& message, const char* hint) {
  return {.message = message, .hint = hint};
}

// What must live as long as jobs run, closed in this order.
struct Opened {
  std::shared_ptr<void> library;
  std::shared_ptr<void> executor;
};

}  // namespace

Result<Executor> OpenDevice(const DeviceOptions& options) {
  Opened opened;
  opened.library = std::shared_ptr<void>(dlopen(options.plugin.c_str(), RTLD_NOW | RTLD_LOCAL),
                                         [](void* library) {
                                           if (library != nullptr) dlclose(library);
                                         });
  if (opened.library == nullptr) {
    const char* why = dlerror();
    return Failed(std::string("the plugin can't be loaded: ") + (why != nullptr ? why : ""),
                  "build graphkit with the CUDA headers");
  }
  const auto function = reinterpret_cast<graphkit_executor_function>(
      dlsym(opened.library.get(), GRAPHKIT_EXECUTOR_NAME));
  const graphkit_executor_table* table = function != nullptr ? function() : nullptr;
  if (table == nullptr || table->abi != GRAPHKIT_EXECUTOR_ABI) {
    return Failed(options.plugin + " is of another version of graphkit", "build both together");
  }
  std::array<char, 256> error{};
  void* device =
      table->open(options.driver.c_str(), options.host_nodes ? 1 : 0, error.data(), error.size());
  if (device == nullptr) return Failed(error.data(), "use --execute soft");
  opened.executor = std::shared_ptr<void>(device, table->close);
  const bool partial = table->programmatic(device) != 0;
  return Executor{.name = options.name,
                  .jobs = {.partial = partial ? PartialEdges::kBetweenKernels : PartialEdges::kNone,
                           .whole = !options.host_nodes,
                           .held_us = kHeldMicroseconds},
                  .run = [opened, table](const ExecutionJob& job, uint64_t) {
                    graphkit_job_outcome outcome{};
                    const graphkit_job given = job.Job();
                    table->run(opened.executor.get(), &given, &outcome);
                    return outcome;
                  }};
}

}  // namespace graphkit
