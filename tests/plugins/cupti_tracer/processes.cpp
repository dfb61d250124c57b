// A CUDA program for the tests of the tracer: forks, execs, ends in several ways.
//
//     processes fork      captures, forks; the child allocates; both end
//     processes exec      allocates, then executes itself with "capture"
//     processes capture   captures one empty host function and ends
//     processes query     asks for the number of devices only
//     processes exit      captures, and ends by _exit
//     processes abort     captures, and aborts
//     processes handler   frees memory in an exit handler
//     processes static    frees memory in a static destructor
//     processes exhausted captures until it has made 20 000 nodes
//     processes stderr    captures with stderr closed
//     processes alarms    captures 20 000 nodes while a timer's signal comes every 200 us
//     processes closed F  loads the library F, captures by its Capture(), and closes it, 20 times
//     processes segv      captures, and dies of SIGSEGV
//     processes held [F]  subscribes to CUPTI before the first CUDA call, and captures; F: a
//     library
//                         that it has loaded, or the name that it subscribes by
//     processes letgo     captures and instantiates, asks the tracer for CUPTI, subscribes,
//                         destroys the exec, and captures; ends by a child that does too
//     processes waits     captures, prints a line, and ends when its input does
//     processes handled   captures, and ends by exit() out of the handler of a signal
//     processes modules   loads a kernel of one name with 1 and 3 parameters in turn, puts it in a
//                         graph, and unloads it; says how many handles were given again
//     processes tensors   kernel nodes whose parameters have tensor maps of two blocks in them
//     processes filter [N] captures, then sets a seccomp filter that kills it for opening or
//     renaming
//                         a file or allocating its blocks, and captures N nodes more
//     processes thread    captures in a thread with the smallest stack there may be
//     processes clearenv  clears its environment before it captures
//     processes titled    gives itself another title before it captures, as setproctitle does
//     processes small N   captures N nodes in graphs of 100, each launched and destroyed
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "processes: %s\n", cudaGetErrorString(error));
  std::exit(3);
}

void Nothing(void*) {}

void Capture(int nodes) {
  cudaStream_t stream;
  Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < nodes; ++i) Check(cudaLaunchHostFunc(stream, Nothing, nullptr));
  cudaGraph_t graph;
  Check(cudaStreamEndCapture(stream, &graph));
}

// KiB of the process's own memory; what is mapped of files doesn't count.
long Resident() {
  long kib = 0;
  char line[256];
  std::FILE* status = std::fopen("/proc/self/status", "r");
  while (status != nullptr && std::fgets(line, sizeof line, status) != nullptr) {
    std::sscanf(line, "RssAnon: %ld", &kib);
  }
  if (status != nullptr) std::fclose(status);
  return kib;
}

void* Allocate() {
  void* memory = nullptr;
  Check(cudaMalloc(&memory, 4096));
  return memory;
}

struct Late {
  void* memory = nullptr;
  ~Late() {
    if (memory != nullptr) Check(cudaFree(memory));
  }
} late;

// Whatever a call may be interrupted in is.
void StartAlarms() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, nullptr);
}

// As another tool would, that came first. `as`: its library, or its name.
void HoldCupti(const char* as) {
  struct {  // CUpti_SubscriberParams
    size_t size = 32;
    const char* name = nullptr;
    char* old_name = nullptr;
    size_t old_size = 0;
  } params;
  if (as != nullptr && as[0] != '/') params.name = as;
  if (as != nullptr && as[0] == '/' && dlopen(as, RTLD_NOW) == nullptr) std::exit(4);
  void* cupti = dlopen("libcupti.so.13", RTLD_NOW);
  void* symbol = cupti != nullptr ? dlsym(cupti, "cuptiSubscribe_v2") : nullptr;
  if (symbol == nullptr) std::exit(4);
  void* subscriber = nullptr;
  using Callback = void (*)(void*, int, unsigned, const void*);
  const Callback nothing = [](void*, int, unsigned, const void*) {};
  auto* subscribe = reinterpret_cast<int (*)(void**, Callback, void*, void*)>(symbol);
  if (subscribe(&subscriber, nothing, nullptr, params.name != nullptr ? &params : nullptr) != 0)
    std::exit(4);
}

// False: the tracer isn't there, or has let go already.
bool TakeCupti() {
  void* tracer = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
  void* symbol = tracer != nullptr ? dlsym(tracer, "graphkit_let_go_of_cupti") : nullptr;
  return symbol != nullptr && reinterpret_cast<int (*)(const char*)>(symbol)("a profiler") == 1;
}

int LetGo() {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  Check(cudaGraphCreate(&graph, 0));
  Check(cudaGraphInstantiate(&exec, graph, 0));
  Capture(1);
  if (!TakeCupti() || TakeCupti()) return 4;
  HoldCupti(nullptr);
  Check(cudaGraphExecDestroy(exec));
  Check(cudaGraphDestroy(graph));
  Capture(2);
  const pid_t child = fork();
  if (child == 0) std::exit((Capture(1), 0));
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 5;
}

int Closed(const char* path) {
  for (int i = 0; i < 20; ++i) {
    void* library = dlopen(path, RTLD_NOW);
    if (library == nullptr) return 4;
    reinterpret_cast<void (*)()>(dlsym(library, "Capture"))();
    dlclose(library);
  }
  return dlopen(path, RTLD_NOW | RTLD_NOLOAD) == nullptr ? 0 : 5;
}

// Many small graphs, so that whatever is kept of one that is gone shows in the memory: KiB after a
// tenth and in the end.
int Small(long nodes) {
  constexpr long kNodes = 100;
  cudaStream_t stream;
  Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  long resident[2] = {};
  for (long done = 0; done < nodes; done += kNodes) {
    if (done * 10 / nodes == 1 && resident[0] == 0) resident[0] = Resident();
    Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    void* scratch = nullptr;
    Check(cudaMallocAsync(&scratch, 4096, stream));
    for (long i = 0; i < kNodes - 2; ++i) Check(cudaLaunchHostFunc(stream, Nothing, nullptr));
    Check(cudaFreeAsync(scratch, stream));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    Check(cudaStreamEndCapture(stream, &graph));
    Check(cudaGraphInstantiate(&exec, graph, 0));
    Check(cudaGraphLaunch(exec, stream));
    Check(cudaStreamSynchronize(stream));
    Check(cudaGraphExecDestroy(exec));
    Check(cudaGraphDestroy(graph));
  }
  resident[1] = Resident();
  std::printf("%ld %ld\n", resident[0], resident[1]);
  return 0;
}

template <typename... Params>
void Driver(const char* name, Params... params) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* symbol = driver != nullptr ? dlsym(driver, name) : nullptr;
  if (symbol == nullptr || reinterpret_cast<CUresult (*)(Params...)>(symbol)(params...) != 0) {
    std::fprintf(stderr, "processes: %s\n", name);
    std::exit(3);
  }
}

int Modules() {
  void* memory[3] = {Allocate(), Allocate(), Allocate()};
  void* arguments[3] = {&memory[0], &memory[1], &memory[2]};
  CUgraph graph;
  Driver("cuGraphCreate", &graph, 0u);
  std::set<CUfunction> handles;
  int again = 0;
  for (int i = 0; i < 6; ++i) {
    std::string code = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry work(";
    code += i % 2 == 0 ? ".param .u64 a" : ".param .u64 a, .param .u64 b, .param .u64 c";
    code += ") { ret; }\n";
    CUmodule module;
    CUfunction function;
    Driver("cuModuleLoadData", &module, code.c_str());
    Driver("cuModuleGetFunction", &function, module, "work");
    again += !handles.insert(function).second;
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    CUgraphNode node;
    Driver("cuGraphAddKernelNode_v2", &node, graph, static_cast<CUgraphNode*>(nullptr), size_t{0},
           &params);
    Driver("cuGraphDestroyNode", node);
    Driver("cuModuleUnload", module);
  }
  std::printf("%d\n", again);
  return 0;
}

struct Parameters {
  alignas(64) unsigned char before[64];
  CUtensorMap map;
  void* plain;
};

// A kernel of a tensor map, one of a structure with another in it, and one of a map that is none.
int Tensors() {
  void* memory[3] = {Allocate(), Allocate(), Allocate()};
  CUtensorMap map{};
  auto make = [&](void* address) {
    cuuint64_t sizes[] = {64, 8}, strides[] = {256};
    cuuint32_t box[] = {32, 4}, steps[] = {1, 1};
    Driver("cuTensorMapEncodeTiled", &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2u, address,
           static_cast<cuuint64_t*>(sizes), static_cast<cuuint64_t*>(strides),
           static_cast<cuuint32_t*>(box), static_cast<cuuint32_t*>(steps),
           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  CUgraph graph;
  CUmodule module;
  Driver("cuGraphCreate", &graph, 0u);
  const std::string code =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry copy(.param .align 128 .b8 map[128]) { ret; }\n"
      ".visible .entry work(.param .align 128 .b8 all[" +
      std::to_string(sizeof(Parameters)) + "]) { ret; }\n";
  Driver("cuModuleLoadData", &module, code.c_str());
  auto add = [&](const char* name, void* argument) {
    CUfunction function;
    Driver("cuModuleGetFunction", &function, module, name);
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = &argument;
    CUgraphNode node;
    Driver("cuGraphAddKernelNode_v2", &node, graph, static_cast<CUgraphNode*>(nullptr), size_t{0},
           &params);
  };
  make(memory[0]);
  add("copy", &map);
  make(static_cast<char*>(memory[1]) + 512);
  Parameters parameters{};
  parameters.map = map;
  parameters.plain = memory[2];
  add("work", &parameters);
  Driver("cuTensorMapReplaceAddress", &map, memory[2]);
  add("copy", &map);
  ++map.opaque[5];
  add("copy", &map);
  return 0;
}

void Filter() {
  constexpr unsigned kForbidden[] = {SYS_openat, SYS_fallocate, SYS_renameat, SYS_renameat2,
#ifdef SYS_rename
                                     SYS_rename, SYS_open
#else
                                     SYS_renameat, SYS_openat
#endif
  };
  std::vector<sock_filter> code = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, nr)))};
  for (const unsigned number : kForbidden) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) std::exit(6);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) std::exit(6);
}

int Filtered(const char* nodes) {
  Capture(1);
  Filter();
  Capture(nodes != nullptr ? std::atoi(nodes) : 1);
  return 0;
}

int SmallThread() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  pthread_t thread;
  const auto work = [](void*) -> void* {
    Capture(3);
    return nullptr;
  };
  Capture(1);
  if (pthread_create(&thread, &attributes, work, nullptr) != 0) return 7;
  return pthread_join(thread, nullptr) == 0 ? 0 : 7;
}

int Fork() {
  Capture(1);
  const pid_t child = fork();
  if (child == 0) {
    Allocate();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Capture(2);
  std::printf("%d\n", static_cast<int>(child));
  return status == 0 ? 0 : 4;
}

// Over the words of its command line, where the system reads it.
void SetTitle(char** argv, std::string_view title) {
  char** last = argv;
  while (last[1] != nullptr) ++last;
  std::fill(argv[0], *last + std::strlen(*last), '\0');
  std::copy(title.begin(), title.end(), argv[0]);
}

}  // namespace

int main(int, char** argv) {
  const char* what = argv[1] != nullptr ? argv[1] : "";
  auto is = [what](const char* word) { return std::strcmp(what, word) == 0; };
  if (is("fork")) return Fork();
  if (is("exec")) {
    Allocate();
    char word[] = "capture";
    char* words[] = {argv[0], word, nullptr};
    execv(argv[0], words);
    return 5;
  }
  if (is("query")) {
    int devices = 0;
    Check(cudaGetDeviceCount(&devices));
    return 0;
  }
  if (is("letgo")) return LetGo();
  if (is("filter")) return Filtered(argv[2]);
  if (is("thread")) return SmallThread();
  if (is("clearenv")) clearenv();
  if (is("titled")) SetTitle(argv, "Server::Core");
  if (is("closed")) return Closed(argv[2]);
  if (is("tensors")) return Tensors();
  if (is("modules")) return Modules();
  if (is("small")) return Small(std::atol(argv[2]));
  if (is("held")) HoldCupti(argv[2]);
  if (is("alarms")) StartAlarms();
  if (is("stderr")) close(STDERR_FILENO);
  if (is("static")) late.memory = Allocate();
  if (is("handler")) {
    static void* memory = Allocate();
    std::atexit([] { Check(cudaFree(memory)); });
  }
  Capture(is("exhausted") || is("alarms") || is("crowd") ? 20000 : 1);
  if (is("waits") || is("crowd")) {
    std::puts("captured");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
  }
  if (is("exit")) _exit(6);
  if (is("abort")) std::abort();
  if (is("segv")) std::raise(SIGSEGV);
  if (is("handled")) {
    std::signal(SIGUSR1, [](int) { std::exit(8); });
    std::raise(SIGUSR1);
  }
  return 0;
}
