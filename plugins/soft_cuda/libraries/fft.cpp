// cuFFT: plans and transforms. Names, orders of arguments and layouts are those of its
// documentation; the library's own workspace isn't modelled: a plan needs none.
#include <cuda.h>

#include <map>
#include <mutex>
#include <vector>

#include "plugins/soft_cuda/libraries/refuse.h"
#include "plugins/soft_cuda/libraries/work.h"

namespace {

using graphkit::soft::Work;

constexpr int kVersion = 12200;  // as CUFFT_VERSION counts

enum Status { kSuccess = 0, kInvalidPlan = 1, kInvalidValue = 4, kExecFailed = 6 };

// How one side of a transform lies in memory, in elements.
struct Side {
  uint64_t bytes = 0;          // of an element
  bool halved = false;         // only half of the last dimension is there, and one
  std::vector<int64_t> embed;  // sizes that the strides of dimensions follow from; empty: dense
  int64_t stride = 1;
  int64_t distance = 0;  // of transforms of a batch
};

struct Plan {
  CUstream stream = nullptr;
  void* workspace = nullptr;  // the user's: nothing is touched there
  std::vector<int64_t> sizes;
  Side in, out;
  int64_t batch = 1;
};

std::mutex mutex;
std::map<int, Plan> plans;
int last_plan = 0;

// Runs on the plan of a number, if there is one.
template <typename Function>
Status WithPlan(int number, Function function) {
  const std::lock_guard lock(mutex);
  const auto found = plans.find(number);
  return found != plans.end() ? function(found->second) : kInvalidPlan;
}

// Bytes from the first element of a side to the last.
uint64_t Bytes(const Plan& plan, const Side& side) {
  if (plan.sizes.empty() || plan.batch < 1) return 0;
  int64_t last = 0, all = 1;
  for (size_t i = 0; i < plan.sizes.size(); ++i) {
    const bool halved = side.halved && i + 1 == plan.sizes.size();
    const int64_t size = halved ? plan.sizes[i] / 2 + 1 : plan.sizes[i];
    last = last * (side.embed.empty() ? size : side.embed[i]) + size - 1;
    all *= size;
  }
  const int64_t distance = side.embed.empty() ? all : side.distance;
  const int64_t stride = side.embed.empty() ? 1 : side.stride;
  return static_cast<uint64_t>((plan.batch - 1) * distance + last * stride + 1) * side.bytes;
}

Status Transform(const char* name, int number, const void* in, void* out) {
  return WithPlan(number, [&](const Plan& plan) {
    Work work(name, plan.stream);
    const uint64_t read = Bytes(plan, plan.in), written = Bytes(plan, plan.out);
    if (in == out) {
      work.Updates(out, read > written ? read : written);
    } else {
      work.Reads(in, read).Writes(out, written);
    }
    return work.Launch() == CUDA_SUCCESS ? kSuccess : kExecFailed;
  });
}

// Bytes of an element of a cudaDataType that a transform takes, and whether it is complex.
bool ReadType(int type, uint64_t* bytes, bool* complex) {
  switch (type) {
    case 2:   // CUDA_R_16F
    case 14:  // CUDA_R_16BF
      *bytes = 2, *complex = false;
      return true;
    case 0:  // CUDA_R_32F
      *bytes = 4, *complex = false;
      return true;
    case 1:  // CUDA_R_64F
      *bytes = 8, *complex = false;
      return true;
    case 6:   // CUDA_C_16F
    case 15:  // CUDA_C_16BF
      *bytes = 4, *complex = true;
      return true;
    case 4:  // CUDA_C_32F
      *bytes = 8, *complex = true;
      return true;
    case 5:  // CUDA_C_64F
      *bytes = 16, *complex = true;
      return true;
    default:
      return false;
  }
}

template <typename Int>
std::vector<int64_t> Copy(const Int* values, int rank) {
  return values != nullptr ? std::vector<int64_t>(values, values + rank) : std::vector<int64_t>();
}

template <typename Int>
Status MakePlan(int number, int rank, const Int* sizes, const Int* in_embed, int64_t in_stride,
                int64_t in_distance, int in_type, const Int* out_embed, int64_t out_stride,
                int64_t out_distance, int out_type, int64_t batch, size_t* workspace) {
  if (rank < 1 || rank > 3 || sizes == nullptr || batch < 1) return kInvalidValue;
  return WithPlan(number, [&](Plan& plan) {
    bool complex_in = false, complex_out = false;
    if (!ReadType(in_type, &plan.in.bytes, &complex_in)) return kInvalidValue;
    if (!ReadType(out_type, &plan.out.bytes, &complex_out)) return kInvalidValue;
    plan.sizes = Copy(sizes, rank);
    plan.batch = batch;
    const bool dense = in_embed == nullptr || out_embed == nullptr;
    plan.in = {plan.in.bytes, complex_in && !complex_out,
               dense ? std::vector<int64_t>() : Copy(in_embed, rank), in_stride, in_distance};
    plan.out = {plan.out.bytes, complex_out && !complex_in,
                dense ? std::vector<int64_t>() : Copy(out_embed, rank), out_stride, out_distance};
    if (workspace != nullptr) *workspace = 0;
    return kSuccess;
  });
}

// The types of a cufftType: CUFFT_R2C and so on.
bool TypesOf(int kind, int* in, int* out) {
  switch (kind) {
    case 0x2a:  // CUFFT_R2C
      *in = 0, *out = 4;
      return true;
    case 0x2c:  // CUFFT_C2R
      *in = 4, *out = 0;
      return true;
    case 0x29:  // CUFFT_C2C
      *in = 4, *out = 4;
      return true;
    case 0x6a:  // CUFFT_D2Z
      *in = 1, *out = 5;
      return true;
    case 0x6c:  // CUFFT_Z2D
      *in = 5, *out = 1;
      return true;
    case 0x69:  // CUFFT_Z2Z
      *in = 5, *out = 5;
      return true;
    default:
      return false;
  }
}

// `Int`: of sizes, strides and distances.
template <typename Int>
Status MakePlanOfKind(int number, int rank, const Int* sizes, const Int* in_embed, Int in_stride,
                      Int in_distance, const Int* out_embed, Int out_stride, Int out_distance,
                      int kind, Int batch, size_t* workspace) {
  int in = 0, out = 0;
  if (!TypesOf(kind, &in, &out)) return kInvalidValue;
  return MakePlan(number, rank, sizes, in_embed, in_stride, in_distance, in, out_embed, out_stride,
                  out_distance, out, batch, workspace);
}

}  // namespace

extern "C" {

STAND_IN int cufftGetVersion(int* version) {
  *version = kVersion;
  return kSuccess;
}
STAND_IN int cufftGetProperty(int property, int* value) {
  if (value == nullptr || property < 0 || property > 2) return kInvalidValue;
  const int parts[] = {kVersion / 1000, kVersion / 100 % 10, kVersion % 100};
  return *value = parts[property], kSuccess;
}
STAND_IN int cufftCreate(int* number) {
  if (number == nullptr) return kInvalidValue;
  const std::lock_guard lock(mutex);
  *number = ++last_plan;
  plans[*number] = {};
  return kSuccess;
}
STAND_IN int cufftDestroy(int number) {
  const std::lock_guard lock(mutex);
  return plans.erase(number) == 1 ? kSuccess : kInvalidPlan;
}
STAND_IN int cufftSetStream(int number, CUstream stream) {
  return WithPlan(number, [&](Plan& plan) { return plan.stream = stream, kSuccess; });
}
STAND_IN int cufftSetAutoAllocation(int number, int) {
  return WithPlan(number, [](Plan&) { return kSuccess; });
}
STAND_IN int cufftSetWorkArea(int number, void* workspace) {
  return WithPlan(number, [&](Plan& plan) { return plan.workspace = workspace, kSuccess; });
}
STAND_IN int cufftGetSize(int number, size_t* bytes) {
  return WithPlan(number, [&](Plan&) { return *bytes = 0, kSuccess; });
}

STAND_IN int cufftXtMakePlanMany(int number, int rank, const long long* sizes,
                                 const long long* in_embed, long long in_stride,
                                 long long in_distance, int in_type, const long long* out_embed,
                                 long long out_stride, long long out_distance, int out_type,
                                 long long batch, size_t* workspace, int) {
  return MakePlan(number, rank, sizes, in_embed, in_stride, in_distance, in_type, out_embed,
                  out_stride, out_distance, out_type, batch, workspace);
}
STAND_IN int cufftMakePlanMany(int number, int rank, const int* sizes, const int* in_embed,
                               int in_stride, int in_distance, const int* out_embed, int out_stride,
                               int out_distance, int kind, int batch, size_t* workspace) {
  return MakePlanOfKind(number, rank, sizes, in_embed, in_stride, in_distance, out_embed,
                        out_stride, out_distance, kind, batch, workspace);
}
STAND_IN int cufftMakePlanMany64(int number, int rank, const long long* sizes,
                                 const long long* in_embed, long long in_stride,
                                 long long in_distance, const long long* out_embed,
                                 long long out_stride, long long out_distance, int kind,
                                 long long batch, size_t* workspace) {
  return MakePlanOfKind(number, rank, sizes, in_embed, in_stride, in_distance, out_embed,
                        out_stride, out_distance, kind, batch, workspace);
}
STAND_IN int cufftPlanMany(int* number, int rank, const int* sizes, const int* in_embed,
                           int in_stride, int in_distance, const int* out_embed, int out_stride,
                           int out_distance, int kind, int batch) {
  if (const int status = cufftCreate(number)) return status;
  return cufftMakePlanMany(*number, rank, sizes, in_embed, in_stride, in_distance, out_embed,
                           out_stride, out_distance, kind, batch, nullptr);
}
STAND_IN int cufftMakePlan1d(int number, int n, int kind, int batch, size_t* workspace) {
  return cufftMakePlanMany(number, 1, &n, nullptr, 1, 0, nullptr, 1, 0, kind, batch, workspace);
}
STAND_IN int cufftMakePlan2d(int number, int x, int y, int kind, size_t* workspace) {
  const int sizes[] = {x, y};
  return cufftMakePlanMany(number, 2, sizes, nullptr, 1, 0, nullptr, 1, 0, kind, 1, workspace);
}
STAND_IN int cufftMakePlan3d(int number, int x, int y, int z, int kind, size_t* workspace) {
  const int sizes[] = {x, y, z};
  return cufftMakePlanMany(number, 3, sizes, nullptr, 1, 0, nullptr, 1, 0, kind, 1, workspace);
}
STAND_IN int cufftPlan1d(int* number, int n, int kind, int batch) {
  if (const int status = cufftCreate(number)) return status;
  return cufftMakePlan1d(*number, n, kind, batch, nullptr);
}
STAND_IN int cufftPlan2d(int* number, int x, int y, int kind) {
  if (const int status = cufftCreate(number)) return status;
  return cufftMakePlan2d(*number, x, y, kind, nullptr);
}
STAND_IN int cufftPlan3d(int* number, int x, int y, int z, int kind) {
  if (const int status = cufftCreate(number)) return status;
  return cufftMakePlan3d(*number, x, y, z, kind, nullptr);
}

STAND_IN int cufftXtExec(int number, void* in, void* out, int) {
  return Transform("cufftXtExec", number, in, out);
}
STAND_IN int cufftExecC2C(int number, void* in, void* out, int) {
  return Transform("cufftExecC2C", number, in, out);
}
STAND_IN int cufftExecZ2Z(int number, void* in, void* out, int) {
  return Transform("cufftExecZ2Z", number, in, out);
}
STAND_IN int cufftExecR2C(int number, void* in, void* out) {
  return Transform("cufftExecR2C", number, in, out);
}
STAND_IN int cufftExecC2R(int number, void* in, void* out) {
  return Transform("cufftExecC2R", number, in, out);
}
STAND_IN int cufftExecD2Z(int number, void* in, void* out) {
  return Transform("cufftExecD2Z", number, in, out);
}
STAND_IN int cufftExecZ2D(int number, void* in, void* out) {
  return Transform("cufftExecZ2D", number, in, out);
}
}
