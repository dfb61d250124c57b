// Memory that is unmapped and mapped again under graphs that keep its address: a case for each word
// (sleep.py).
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "testdata/workloads/cuda_check.h"
#include "tests/plugins/cupti_tracer/mapped_memory.cuh"

namespace {

__global__ void Fill(float* to) { to[threadIdx.x] = 1; }
__global__ void Scale(float* data, float by) { data[threadIdx.x] *= by; }
__global__ void ncclDevKernel_AllReduce_Sum_f32_RING_LL(float* data) { data[threadIdx.x] += 1; }
__global__ void Sum(const float* from, float* to) { to[threadIdx.x] += from[threadIdx.x]; }

cudaStream_t s, side;
float *x, *y, *saved;
Mapped *w, *k;

template <typename Capture>
cudaGraph_t Captured(Capture capture) {
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  capture();
  CHECK(cudaStreamEndCapture(s, &graph));
  return graph;
}

template <typename Capture>
cudaGraphExec_t Make(Capture capture) {
  cudaGraphExec_t exec;
  const cudaGraph_t graph = Captured(capture);
  CHECK(cudaGraphInstantiate(&exec, graph));
  CHECK(cudaGraphDestroy(graph));
  return exec;
}

void Copy(void* to, const void* from, size_t bytes = kBytes) {
  CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s));
}
void Set(void* to) { CHECK(cudaMemsetAsync(to, 1, kBytes, s)); }
void Launch(cudaGraphExec_t exec) { CHECK(cudaGraphLaunch(exec, s)); }

void Read() { Copy(y, w->data()); }
void ReadBoth() { Read(), Copy(x, k->data()); }
void AddTo() { Sum<<<1, 32, 0, s>>>(w->data(), y); }
void Step() {  // reads what it left
  Copy(y, w->data());
  Scale<<<1, 32, 0, s>>>(y, 2);
  Copy(w->data(), y);
}
void Scratch() { Set(w->data()), Read(); }
void KernelScratch() {
  Fill<<<1, 32, 0, s>>>(w->data());
  AddTo();
}
void Save() { CHECK(cudaMemcpyAsync(saved, w->data(), kBytes, cudaMemcpyDeviceToHost, s)); }
void Restore() { CHECK(cudaMemcpyAsync(w->data(), saved, kBytes, cudaMemcpyHostToDevice, s)); }

// Launches, does something, launches again.
cudaGraphExec_t around;
template <typename Capture, typename Between>
void Around(Capture capture, Between between, bool set = true) {
  if (set) Set(w->data());
  around = Make(capture);
  Launch(around);
  between();
  Launch(around);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(around));
}
void Again() { Launch(around); }
void Nap() { w->Sleep(), w->Wake(); }

// The launch may fail at once, or what waits for it.
template <typename Capture, typename Between>
void AroundFailing(Capture capture, Between between) {
  Set(w->data());
  const cudaGraphExec_t exec = Make(capture);
  Launch(exec);
  between();
  cudaGraphLaunch(exec, s);
  cudaDeviceSynchronize();
  std::exit(0);
}

// Memory comes back, and is filled on another stream than the launch's, which waits for it or not.
template <typename Back>
void FilledBeside(Back back, bool waits) {
  Around(Read, [&] {
    CHECK(cudaStreamSynchronize(s));
    float* filled = back();
    CHECK(cudaMemsetAsync(filled, 2, kBytes, side));
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaEventRecord(event, side));
    if (waits) CHECK(cudaStreamWaitEvent(s, event));
    CHECK(cudaEventDestroy(event));
  });
}
float* Woken() { return Nap(), w->data(); }
float* MappedAgain() {
  w->Unmap(), Map(w->address, w->handle);
  return w->data();
}
float* MappedTwice() {
  const CUdeviceptr also = Reserve();
  Map(also, w->handle);
  return reinterpret_cast<float*>(also);
}

template <typename Other>
void UpdatedAsleep(Other other) {
  Set(w->data());
  const cudaGraph_t next = Captured(other);
  const cudaGraphExec_t exec = Make([] { Sum<<<1, 32, 0, s>>>(x, y); });
  cudaGraphExecUpdateResultInfo result;
  Launch(exec);
  w->Sleep();
  CHECK(cudaGraphExecUpdate(exec, next, &result));
  w->Wake();
  Launch(exec);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(next));
}

void Export(const Mapped& memory) {
  int file = -1;
  DRIVER(cuMemExportToShareableHandle(&file, memory.handle,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  close(file);
}

// Memory that isn't the process's own, or is registered; a graph reads it, and it may go between
// two launches.
void* foreign;
bool there;
template <typename Between>
void AroundForeign(Between between, void (*give_back)()) {
  there = true;
  around = Make([] { CHECK(cudaMemcpyAsync(y, foreign, kBytes, cudaMemcpyDefault, s)); });
  Launch(around);
  CHECK(cudaDeviceSynchronize());
  between();
  cudaGraphLaunch(around, s);
  if (cudaDeviceSynchronize() != cudaSuccess || !there) std::exit(0);
  CHECK(cudaGraphExecDestroy(around));
  give_back();
}

void Unregister() { CHECK(cudaHostUnregister(foreign)), there = false; }
template <typename Between>
void Registered(Between between) {
  static std::vector<char> host(kBytes);
  foreign = host.data();
  CHECK(cudaHostRegister(foreign, kBytes, cudaHostRegisterDefault));
  AroundForeign(between, Unregister);
}

void FreeExternal() { CHECK(cudaFree(foreign)), there = false; }
template <typename Between>
void External(Between between) {
  cudaExternalMemoryHandleDesc from = {};
  from.type = cudaExternalMemoryHandleTypeOpaqueFd;
  from.handle.fd = memfd_create("external", 0);
  from.size = kBytes;
  if (ftruncate(from.handle.fd, kBytes) != 0) std::exit(1);
  cudaExternalMemory_t memory;
  CHECK(cudaImportExternalMemory(&memory, &from));
  cudaExternalMemoryBufferDesc buffer = {};
  buffer.size = kBytes;
  CHECK(cudaExternalMemoryGetMappedBuffer(&foreign, memory, &buffer));
  AroundForeign(between, FreeExternal);
  CHECK(cudaDestroyExternalMemory(memory));
}

// Another process, which begins when this one uses CUDA, so that this one has the trace's name. It
// gives its memory to this one, and waits until this one has ended.
int from_other = -1, to_other = -1;
void BeOther(int in, int out) {
  char begin;
  if (read(in, &begin, 1) != 1) std::exit(1);
  void* memory;
  CHECK(cudaMalloc(&memory, kBytes));
  cudaIpcMemHandle_t handle;
  CHECK(cudaIpcGetMemHandle(&handle, memory));
  char end;
  if (write(out, &handle, sizeof handle) != sizeof handle || read(in, &end, 1) != 0) std::exit(1);
  CHECK(cudaFree(memory));
  std::exit(0);
}
void StartOther() {
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) std::exit(1);
  if (fork() == 0) {
    close(to[1]), close(from[0]);
    BeOther(to[0], from[1]);
  }
  close(to[0]), close(from[1]);
  to_other = to[1], from_other = from[0];
}
void CloseOther() { CHECK(cudaIpcCloseMemHandle(foreign)), there = false; }
template <typename Between>
void OtherProcess(Between between) {
  cudaIpcMemHandle_t handle;
  if (write(to_other, "", 1) != 1) std::exit(1);
  if (read(from_other, &handle, sizeof handle) != sizeof handle) std::exit(1);
  for (int i = 0; i < 2; ++i)
    CHECK(cudaIpcOpenMemHandle(&foreign, handle, cudaIpcMemLazyEnablePeerAccess));
  CHECK(cudaIpcCloseMemHandle(foreign));  // it was opened twice
  AroundForeign(between, CloseOther);
}

// Memory that was exported, as libraries of collectives do it, and that one of their kernels
// exchanges.
template <typename Between>
void Exchanged(Between between) {
  Export(*w);
  Around([] { ncclDevKernel_AllReduce_Sum_f32_RING_LL<<<1, 32, 0, s>>>(w->data()); }, between);
}

const std::map<std::string, void (*)()> kCases = {
    // New memory at the address, and what the launch reads of it.
    {"constant", [] { Around(Read, Nap); }},
    {"constant_kernel", [] { Around(AddTo, Nap); }},
    {"state", [] { Around(Step, Nap); }},
    {"half",
     [] {
       Around(Read, [] {
         Nap();
         Copy(w->data(), x, kBytes / 2);
       });
     }},
    {"second_time",
     [] {
       Around(Read, [] {
         Save(), Nap(), Restore();
         CHECK(cudaDeviceSynchronize());
         Nap();
       });
     }},
    {"too_late",
     [] {
       Around(Read, [] {
         Restore();
         Nap();
       });
     }},
    {"updated_asleep", [] { UpdatedAsleep(AddTo); }},
    {"updated_away", [] { UpdatedAsleep([] { Sum<<<1, 32, 0, s>>>(y, x); }); }},
    // What is saved and copied back stays what it was (CONTENT in sleep.py).
    {"restored", [] { Around(Read, [] { Again(), Save(), Nap(), Restore(), Again(); }); }},
    {"restored_from_elsewhere",
     [] { Around(Read, [] { Again(), Save(), Nap(), Set(w->data()), Again(); }); }},
    {"restored_once", [] { Around(Read, [] { Save(), Nap(), Restore(); }); }},
    {"saved_copy_changed", [] { Around(Read, [] { Save(), Nap(), Set(saved), Restore(); }); }},
    {"loaded_again",
     [] {
       Restore();
       Around(
           Read, [] { Nap(), Restore(); }, false);
     }},
    {"fed_again",
     [] {
       Restore(), Around(
                      Read, [] { Restore(); }, false);
     }},
    {"state_restored", [] { Around(Step, [] { Again(), Save(), Nap(), Restore(), Again(); }); }},
    {"scratch_restored",
     [] { Around(Scratch, [] { Again(), Save(), Nap(), Restore(), Again(); }); }},
    {"scratch_read", [] { Around(Scratch, [] { Again(), Save(), Nap(), Again(); }); }},
    {"copied_back", [] { Around(Read, [] { Save(), Nap(), Restore(); }); }},
    {"copied_back_kernel", [] { Around(AddTo, [] { Save(), Nap(), Restore(); }); }},
    {"state_copied_back", [] { Around(Step, [] { Save(), Nap(), Restore(); }); }},
    {"twice",
     [] {
       Around(Read, [] {
         for (int i = 0; i < 2; ++i) {
           Save(), Nap(), Restore();
           CHECK(cudaDeviceSynchronize());
         }
       });
     }},
    {"rewritten", [] { Around(Read, [] { Nap(), Set(w->data()); }); }},
    {"rewritten_by_kernel",
     [] {
       Around(Read, [] {
         Nap();
         Fill<<<1, 32, 0, s>>>(w->data());
       });
     }},
    {"rewritten_by_graph",
     [] {
       static cudaGraphExec_t writes;
       writes = Make([] { Set(w->data()); });
       Around(Read, [] { Nap(), Launch(writes); });
       CHECK(cudaGraphExecDestroy(writes));
     }},
    {"scratch", [] { Around(Scratch, Nap); }},
    {"scratch_kernel", [] { Around(KernelScratch, Nap); }},
    {"same_handle", [] { Around(Read, [] { w->Unmap(), Map(w->address, w->handle); }); }},
    {"retained",
     [] {
       Around(Read, [] {
         Handle again;
         DRIVER(cuMemRetainAllocationHandle(&again, w->data()));
         w->Sleep();
         w->Wake(again);
       });
     }},
    {"filled_elsewhere",
     [] {
       Around(Read, [] {
         w->Sleep();
         Mapped other;
         other.Wake();
         Set(other.data());
         CHECK(cudaDeviceSynchronize());
         other.Unmap();
         w->Wake(other.handle);
       });
     }},
    {"exported", [] { Around(Read, [] { Nap(), Export(*w); }); }},
    {"asleep",  // other graphs run
     [] {
       static cudaGraphExec_t other;
       other = Make([] { Copy(y, x); });
       Around(Read, [] { Save(), w->Sleep(), Launch(other), w->Wake(), Restore(); });
       CHECK(cudaGraphExecDestroy(other));
     }},
    // Memory that is known by its address elsewhere (REGISTERED in sleep.py).
    {"registered", [] { Registered([] {}); }},
    {"registration_gone", [] { Registered(Unregister); }},
    {"external", [] { External([] {}); }},
    {"external_gone", [] { External(FreeExternal); }},
    {"ipc", [] { OtherProcess([] {}); }},
    {"ipc_closed", [] { OtherProcess(CloseOther); }},
    {"exchanged", [] { Exchanged([] { w->Unmap(), Map(w->address, w->handle); }); }},
    {"exchanged_new", [] { Exchanged(Nap); }},
    {"exchanged_new_exported", [] { Exchanged([] { Nap(), Export(*w); }); }},
    {"raced_after_wake", [] { FilledBeside(Woken, false); }},
    {"raced_same_handle", [] { FilledBeside(MappedAgain, false); }},
    {"raced_elsewhere", [] { FilledBeside(MappedTwice, false); }},
    {"ordered_after_wake", [] { FilledBeside(Woken, true); }},
    {"ordered_same_handle", [] { FilledBeside(MappedAgain, true); }},
    {"ordered_elsewhere", [] { FilledBeside(MappedTwice, true); }},
    // Nothing is mapped at the address.
    {"left_unmapped", [] { AroundFailing(Read, [] { w->Sleep(); }); }},
    {"left_unmapped_kernel", [] { Around(AddTo, [] { w->Sleep(); }), w->Wake(); }},
    {"elsewhere",
     [] {
       Around(AddTo, [] {
         w->Unmap();
         Map(Reserve(), w->handle);
       });
       w->Wake();
     }},
    {"new_elsewhere",
     [] {
       Around(AddTo, [] {
         w->Sleep();
         Map(Reserve(), Create());
       });
       w->Wake();
     }},
    {"other_left",  // one of two ranges
     [] {
       AroundFailing(ReadBoth, [] {
         Save(), w->Sleep(), k->Sleep();
         w->Wake(), Restore();
         CHECK(cudaDeviceSynchronize());
       });
     }},
    {"both_back",
     [] {
       Around(ReadBoth, [] {
         Save(), w->Sleep(), k->Sleep();
         w->Wake(), k->Wake(), Restore(), Set(k->data());
       });
     }},
    {"one_call",  // unmaps two mappings
     [] {
       const CUdeviceptr both = Reserve(2 * kBytes);
       const Handle handles[] = {Create(), Create()};
       for (int i = 0; i < 2; ++i) Map(both + i * kBytes, handles[i]);
       const cudaGraphExec_t exec =
           Make([both] { Copy(y, reinterpret_cast<const void*>(both + kBytes)); });
       Launch(exec);
       CHECK(cudaDeviceSynchronize());
       DRIVER(cuMemUnmap(both, 2 * kBytes));
       cudaGraphLaunch(exec, s);
       cudaDeviceSynchronize();
       std::exit(0);
     }},
    {"moved",  // and the exec is led there
     [] {
       static Mapped* other = new Mapped;
       const cudaGraphExec_t exec = Make(AddTo);
       Launch(exec);
       Save(), w->Sleep();
       other->Wake();
       CHECK(cudaMemcpyAsync(other->data(), saved, kBytes, cudaMemcpyHostToDevice, s));
       const cudaGraph_t next = Captured([] { Sum<<<1, 32, 0, s>>>(other->data(), y); });
       cudaGraphExecUpdateResultInfo result;
       CHECK(cudaGraphExecUpdate(exec, next, &result));
       Launch(exec);
       CHECK(cudaDeviceSynchronize());
       CHECK(cudaGraphExecDestroy(exec));
       CHECK(cudaGraphDestroy(next));
       other->Sleep();
       w->Wake();
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = kCases.find(argc > 1 ? argv[1] : "");
  if (found == kCases.end()) {
    for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (found->first.rfind("ipc", 0) == 0) StartOther();
  for (cudaStream_t* stream : {&s, &side})
    CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  for (float** memory : {&x, &y}) CHECK(cudaMalloc(memory, kBytes));
  CHECK(cudaMallocHost(&saved, kBytes));
  w = new Mapped, k = new Mapped;
  w->Wake(), k->Wake();
  Set(k->data());
  std::printf("content %p %zu\n", static_cast<void*>(w->data()), kBytes);
  found->second();
  CHECK(cudaDeviceSynchronize());
  w->Sleep(), k->Sleep();
  for (float* memory : {x, y}) CHECK(cudaFree(memory));
  CHECK(cudaFreeHost(saved));
  for (cudaStream_t stream : {s, side}) CHECK(cudaStreamDestroy(stream));
}
