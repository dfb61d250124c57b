// A driver with a fault that some of NVIDIA's have: all edges of one call get the first one's data.
// With faulty_forgets also one that forgets all data. faulty_edges counts what got other data.
#include <cuda.h>
#include <dlfcn.h>

#include <vector>

#define EXPORTED __attribute__((visibility("default")))

extern "C" {

EXPORTED int faulty_forgets = 0;
EXPORTED int faulty_edges = 0;

EXPORTED CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from,
                                         const CUgraphNode* to, const CUgraphEdgeData* data,
                                         size_t count) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto real = reinterpret_cast<decltype(&cuGraphAddDependencies)>(
      dlsym(driver, "cuGraphAddDependencies_v2"));
  CUgraphEdgeData first{};
  if (count != 0 && data != nullptr && faulty_forgets == 0) first = data[0];
  const std::vector<CUgraphEdgeData> all(count, first);
  for (size_t i = 0; data != nullptr && i < count; ++i) {
    faulty_edges += data[i].from_port != first.from_port || data[i].type != first.type ? 1 : 0;
  }
  return real(graph, from, to, all.data(), count);
}

}  // extern "C"
