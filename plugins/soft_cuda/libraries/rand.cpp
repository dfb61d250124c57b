// cuRAND's host interface: generators on the device, and the numbers they give, of which only the
// places are known. Names, orders of arguments and statuses are those of its documentation.
#include <cuda.h>

#include <new>

#include "plugins/soft_cuda/libraries/refuse.h"
#include "plugins/soft_cuda/libraries/work.h"

namespace {

using graphkit::soft::Work;

enum Status {
  kSuccess = 0,
  kNotInitialized = 101,
  kAllocationFailed = 102,
  kTypeError = 103,
  kOutOfRange = 104,
  kLengthNotMultiple = 105,
  kLaunchFailure = 201
};
constexpr int kFirstPseudo = 100, kFirstQuasi = 200;  // curandRngType_t

struct Generator {
  int type = 0;
  CUstream stream = nullptr;
  unsigned dimensions = 1;
};

int Generate(const char* name, const Generator* generator, const void* out, size_t count,
             uint64_t element) {
  if (generator == nullptr) return kNotInitialized;
  if (generator->type >= kFirstQuasi && count % generator->dimensions != 0) {
    return kLengthNotMultiple;
  }
  if (count == 0) return kSuccess;
  const CUresult launched = Work(name, generator->stream).Writes(out, count * element).Launch();
  return launched == CUDA_SUCCESS ? kSuccess : kLaunchFailure;
}

// Normally distributed numbers of a pseudorandom generator come in pairs.
int GeneratePairs(const char* name, const Generator* generator, const void* out, size_t count,
                  uint64_t element) {
  const bool pseudo = generator != nullptr && generator->type < kFirstQuasi;
  if (pseudo && count % 2 != 0) return kLengthNotMultiple;
  return Generate(name, generator, out, count, element);
}

int Set(const Generator* generator) { return generator != nullptr ? kSuccess : kNotInitialized; }

}  // namespace

extern "C" {

STAND_IN int curandGetVersion(int* version) { return *version = 10300, kSuccess; }
STAND_IN int curandGetProperty(int property, int* value) {
  if (property < 0 || property > 2) return kOutOfRange;
  static constexpr int kVersion[] = {10, 3, 0};
  return *value = kVersion[property], kSuccess;
}
STAND_IN int curandCreateGenerator(Generator** out, int type) {
  const bool pseudo = type == kFirstPseudo || type == 101 || type == 121 || type == 141 ||
                      type == 142 || type == 161;
  if (!pseudo && (type < kFirstQuasi || type > 204)) return kTypeError;
  *out = new (std::nothrow) Generator{.type = type};
  return *out != nullptr ? kSuccess : kAllocationFailed;
}
STAND_IN int curandDestroyGenerator(Generator* generator) { return delete generator, kSuccess; }
STAND_IN int curandSetStream(Generator* generator, CUstream stream) {
  if (generator == nullptr) return kNotInitialized;
  return generator->stream = stream, kSuccess;
}
STAND_IN int curandSetQuasiRandomGeneratorDimensions(Generator* generator, unsigned dimensions) {
  if (generator == nullptr) return kNotInitialized;
  if (generator->type < kFirstQuasi) return kTypeError;
  if (dimensions < 1 || dimensions > 20000) return kOutOfRange;
  return generator->dimensions = dimensions, kSuccess;
}
STAND_IN int curandSetPseudoRandomGeneratorSeed(Generator* generator, unsigned long long) {
  return generator != nullptr && generator->type >= kFirstQuasi ? kTypeError : Set(generator);
}
STAND_IN int curandSetGeneratorOffset(Generator* generator, unsigned long long) {
  return Set(generator);
}
STAND_IN int curandSetGeneratorOrdering(Generator* generator, int) { return Set(generator); }
STAND_IN int curandGenerateSeeds(Generator* generator) { return Set(generator); }

STAND_IN int curandGenerate(Generator* g, unsigned* out, size_t n) {
  return Generate("curandGenerate", g, out, n, 4);
}
STAND_IN int curandGenerateLongLong(Generator* g, unsigned long long* out, size_t n) {
  return Generate("curandGenerateLongLong", g, out, n, 8);
}
STAND_IN int curandGenerateUniform(Generator* g, float* out, size_t n) {
  return Generate("curandGenerateUniform", g, out, n, 4);
}
STAND_IN int curandGenerateUniformDouble(Generator* g, double* out, size_t n) {
  return Generate("curandGenerateUniformDouble", g, out, n, 8);
}
STAND_IN int curandGenerateNormal(Generator* g, float* out, size_t n, float, float) {
  return GeneratePairs("curandGenerateNormal", g, out, n, 4);
}
STAND_IN int curandGenerateNormalDouble(Generator* g, double* out, size_t n, double, double) {
  return GeneratePairs("curandGenerateNormalDouble", g, out, n, 8);
}
STAND_IN int curandGenerateLogNormal(Generator* g, float* out, size_t n, float, float) {
  return GeneratePairs("curandGenerateLogNormal", g, out, n, 4);
}
STAND_IN int curandGenerateLogNormalDouble(Generator* g, double* out, size_t n, double, double) {
  return GeneratePairs("curandGenerateLogNormalDouble", g, out, n, 8);
}
STAND_IN int curandGeneratePoisson(Generator* g, unsigned* out, size_t n, double) {
  return Generate("curandGeneratePoisson", g, out, n, 4);
}
}
