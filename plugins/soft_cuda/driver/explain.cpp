#include "plugins/soft_cuda/driver/explain.h"

#include <cstdio>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

void Explain(const char* text) {
  Device& device = Device::Get();
  const Lock lock(device.mutex);
  if (device.explained.insert(text).second)
    std::fprintf(stderr, "graphkit soft device: %s\n", text);
}

}  // namespace graphkit::soft::driver
