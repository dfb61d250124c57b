// CUDA_VISIBLE_DEVICES, which the driver reads when it is initialised: "CUDA environment variables"
// of the CUDA programming guide (indices, begins of UUIDs; what is no device ends the list),
// numba-cuda's test_runtime.py (one that is set after the driver was loaded), and PyTorch's
// torch/cuda/__init__.py (a repeated device leaves none).
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "conformance.h"

using namespace conformance;

namespace {

struct Seen {
  CUresult error;
  int count;
  CUuuid uuids[8];
};

Seen Look() {
  Seen seen = {};
  seen.error = cuInit(0);
  if (seen.error == CUDA_SUCCESS) EXPECT_OK(cuDeviceGetCount(&seen.count));
  for (int i = 0; i < seen.count && i < 8; ++i) EXPECT_OK(cuDeviceGetUuid(&seen.uuids[i], i));
  return seen;
}

// Devices seen with this setting. A process of its own: the driver reads the variable once.
Seen With(const char* setting) {
  Seen seen = {CUDA_ERROR_UNKNOWN, 0, {}};
  int ends[2];
  EXPECT(pipe(ends) == 0);
  if (fork() == 0) {
    if (setting != nullptr) setenv("CUDA_VISIBLE_DEVICES", setting, 1);
    seen = Look();
    _exit(write(ends[1], &seen, sizeof seen) == sizeof seen ? failures : 1);
  }
  int status = 0;
  EXPECT(wait(&status) > 0 && status == 0);
  EXPECT(read(ends[0], &seen, sizeof seen) == sizeof seen);
  close(ends[0]);
  close(ends[1]);
  return seen;
}

// With this setting, these of the machine's devices are seen, in this order.
void Shows(const std::string& setting, const Seen& machine, const std::vector<int>& places) {
  const Seen seen = With(setting.c_str());
  EXPECT((seen.error == CUDA_SUCCESS) == !places.empty());
  EXPECT(seen.count == static_cast<int>(places.size()));
  for (int i = 0; i < seen.count; ++i)
    EXPECT(std::memcmp(&seen.uuids[i], &machine.uuids[places[i]], sizeof(CUuuid)) == 0);
}

std::string Text(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += hex;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

}  // namespace

// effect: cuInit
int main() {
  unsetenv("CUDA_VISIBLE_DEVICES");
  const Seen machine = With(nullptr);
  EXPECT(machine.error == CUDA_SUCCESS && machine.count >= 1);
  Shows("0", machine, {0});
  Shows("", machine, {});
  Shows("-1", machine, {});
  Shows("999,0", machine, {});
  Shows("0,0", machine, {});
  Shows(Text(machine.uuids[0]), machine, {0});
  Shows("GPU-ffff", machine, {});
  if (machine.count > 1) {
    Shows("1", machine, {1});
    Shows("1,0", machine, {1, 0});
    Shows("1,-1,0", machine, {1});
    Shows(Text(machine.uuids[1]) + ",0", machine, {1, 0});
  }
  if (machine.count > 1) setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cudaFree(nullptr));
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 64));
  cudaPointerAttributes attributes = {};
  EXPECT_OK(cudaPointerGetAttributes(&attributes, memory));
  EXPECT(attributes.device == 0);
  EXPECT_OK(cudaFree(memory));
  return Finish("visible_devices");
}
