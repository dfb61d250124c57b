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
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

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
  if (is("stderr")) close(STDERR_FILENO);
  if (is("static")) late.memory = Allocate();
  if (is("handler")) {
    static void* memory = Allocate();
    std::atexit([] { Check(cudaFree(memory)); });
  }
  Capture(is("exhausted") ? 20000 : 1);
  if (is("exit")) _exit(6);
  if (is("abort")) std::abort();
  return 0;
}
