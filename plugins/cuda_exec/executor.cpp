#include "plugins/cuda_exec/executor.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "plugins/cuda_exec/canary_ptx.h"
#include "plugins/cuda_exec/rebuilt_graph.h"

namespace graphkit::exec {
namespace {

constexpr int kProgrammaticMajor = 9;

void Tell(const std::string& text, char* error, size_t size) {
  if (size == 0) return;
  const size_t count = std::min(text.size(), size - 1);
  std::memcpy(error, text.data(), count);
  error[count] = '\0';
}

}  // namespace

Executor* Executor::Open(const char* driver, bool host_nodes, std::string* error) {
  auto* executor = new Executor;
  executor->host_nodes_ = host_nodes;
  *error = executor->Start(driver);
  if (error->empty()) return executor;
  delete executor;
  return nullptr;
}

Executor::~Executor() {
  if (module_ != nullptr) driver_.cuModuleUnload(module_);
  if (stream_ != nullptr) driver_.cuStreamDestroy(stream_);
  if (context_ != nullptr) driver_.cuDevicePrimaryCtxRelease(device_);
}

std::string Executor::Start(const char* path) {
  std::string error;
  if (!driver_.Open(path, &error)) return error;
  CUresult result = driver_.cuInit(0);
  int count = 0;
  if (result == CUDA_SUCCESS) result = driver_.cuDeviceGetCount(&count);
  if (result == CUDA_SUCCESS && count == 0) result = CUDA_ERROR_NO_DEVICE;
  if (result != CUDA_SUCCESS) return driver_.Problem(result, "there is no GPU here");
  int major = 0;
  result = driver_.cuDeviceGet(&device_, 0);
  if (result == CUDA_SUCCESS) {
    result =
        driver_.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_);
  }
  if (result == CUDA_SUCCESS) result = driver_.cuDevicePrimaryCtxRetain(&context_, device_);
  if (result == CUDA_SUCCESS) result = driver_.cuCtxSetCurrent(context_);
  if (result == CUDA_SUCCESS) result = driver_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING);
  if (result != CUDA_SUCCESS) return driver_.Problem(result, "the GPU can't be used");
  return host_nodes_ ? "" : LoadKernels(major);
}

std::string Executor::LoadKernels(int major) {
  programmatic_ = major >= kProgrammaticMajor;
  const char* ptx = programmatic_ ? kCanaryPtxProgrammatic : kCanaryPtx;
  if (ptx[0] == '\0') return "this build has no kernels: it was made without nvcc";
  CUresult result = driver_.cuModuleLoadData(&module_, ptx);
  if (result == CUDA_SUCCESS) {
    result = driver_.cuModuleGetFunction(&canary_, module_, "graphkit_canary");
  }
  early_ = waits_ = canary_;
  if (result == CUDA_SUCCESS && programmatic_) {
    result = driver_.cuModuleGetFunction(&early_, module_, "graphkit_canary_early");
    if (result == CUDA_SUCCESS) {
      result = driver_.cuModuleGetFunction(&waits_, module_, "graphkit_canary_waits");
    }
  }
  return driver_.Problem(result, "loading the kernels");
}

std::string Executor::Run(const graphkit_job& job, graphkit_job_outcome* outcome) {
  if (const CUresult result = driver_.cuCtxSetCurrent(context_); result != CUDA_SUCCESS) {
    return driver_.Problem(result, "using the GPU");
  }
  RebuiltGraph graph(*this, job);
  std::string problem = graph.Build();
  return problem.empty() ? graph.Launch(outcome) : problem;
}

namespace {

// Nothing is thrown across the C interface.
void* OpenExecutor(const char* driver, int host_nodes, char* error, size_t size) {
  try {
    std::string why;
    Executor* executor = Executor::Open(driver, host_nodes != 0, &why);
    Tell(why, error, size);
    return executor;
  } catch (const std::exception& thrown) {
    Tell(thrown.what(), error, size);
    return nullptr;
  }
}

int IsProgrammatic(void* executor) {
  return static_cast<Executor*>(executor)->programmatic() ? 1 : 0;
}

void RunJob(void* executor, const graphkit_job* job, graphkit_job_outcome* outcome) {
  *outcome = graphkit_job_outcome{};
  try {
    Tell(static_cast<Executor*>(executor)->Run(*job, outcome), outcome->error,
         sizeof outcome->error);
  } catch (const std::exception& thrown) {
    Tell(thrown.what(), outcome->error, sizeof outcome->error);
  }
}

void CloseExecutor(void* executor) { delete static_cast<Executor*>(executor); }

constexpr graphkit_executor_table kTable = {GRAPHKIT_EXECUTOR_ABI, OpenExecutor, IsProgrammatic,
                                            RunJob, CloseExecutor};

}  // namespace
}  // namespace graphkit::exec

extern "C" __attribute__((visibility("default"))) const graphkit_executor_table*
graphkit_executor_v1() {
  return &graphkit::exec::kTable;
}
