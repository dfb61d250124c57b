#include "libgraphkit/analysis/memory/exec_model.h"

#include <algorithm>
#include <cmath>

#include "libgraphkit/checked_number.h"

namespace graphkit {
namespace {

constexpr Bytes kKiB = 1024;

// Public figures, of whole programs; NVIDIA publishes none. Kernel nodes, since driver 12.4:
//   2.7 KB a node   800,000 nodes in 2.0 GiB           github.com/JBjoernskov/Twin4Build/issues/134
//  ~10 KB a node    CUDA 12, of large cached graphs    github.com/NVIDIA/cccl/pull/3768
//  ~10 MiB a graph  of a decoding language model       github.com/NVIDIA/TensorRT-LLM/issues/12895
//   39 MiB an exec  6 execs less: 234 MiB less         github.com/sgl-project/sglang/pull/37411
// and before it 64 KB (PyTorch's page on CUDAGraph Trees). What a copy or another node takes, and
// an exec without nodes, is published nowhere: the interval goes from nothing to a kernel's, and to
// a chunk for an exec.
constexpr std::array<ByteRange, kExecParts> kSince124 = {{{0, 64 * kKiB, kDriverChunk},
                                                          {5 * kKiB / 2, 10 * kKiB, 24 * kKiB},
                                                          {0, 8 * kKiB, 24 * kKiB},
                                                          {0, 1 * kKiB, 24 * kKiB}}};
constexpr std::array<ByteRange, kExecParts> kBefore124 = {{{0, 64 * kKiB, kDriverChunk},
                                                           {10 * kKiB, 64 * kKiB, 80 * kKiB},
                                                           {0, 64 * kKiB, 80 * kKiB},
                                                           {0, 1 * kKiB, 80 * kKiB}}};
constexpr int kVersion124 = 12040;

using Vector = std::array<double, kExecParts>;
using Matrix = std::array<Vector, kExecParts>;

Vector AsVector(const ExecPartCounts& counts) {
  Vector v{};
  for (size_t i = 0; i < kExecParts; ++i) v[i] = static_cast<double>(counts[i]);
  return v;
}

double Dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < kExecParts; ++i) sum += a[i] * b[i];
  return sum;
}

// Of a symmetric positive definite matrix: by elimination, which needs no pivots then.
Matrix Inverse(Matrix m) {
  Matrix inverse{};
  for (size_t i = 0; i < kExecParts; ++i) inverse[i][i] = 1;
  for (size_t column = 0; column < kExecParts; ++column) {
    const double pivot = m[column][column];
    for (size_t j = 0; j < kExecParts; ++j) {
      m[column][j] /= pivot;
      inverse[column][j] /= pivot;
    }
    for (size_t row = 0; row < kExecParts; ++row) {
      const double factor = m[row][column];
      if (row == column || factor == 0) continue;
      for (size_t j = 0; j < kExecParts; ++j) {
        m[row][j] -= factor * m[column][j];
        inverse[row][j] -= factor * inverse[column][j];
      }
    }
  }
  return inverse;
}

// The table counts as a measurement that may be off by all of its interval: it holds where nothing
// was measured, and gives way where something was.
double Deviation(const ByteRange& range) {
  return std::max(1.0, static_cast<double>(range.high - range.low));
}

// A reading lies within a chunk around what was taken; half a chunk is a careful deviation.
double Variance(const MeasuredExecs& group) {
  const double chunk = static_cast<double>(kDriverChunk) / 2;
  return chunk * chunk / static_cast<double>(group.execs);
}

double Mean(const MeasuredExecs& group) {
  return static_cast<double>(group.sum) / static_cast<double>(group.execs);
}

// By how much the groups are further off than their errors say: the model isn't linear in its
// parts, or readings were disturbed unseen.
double Misfit(const Vector& fitted, std::span<const MeasuredExecs> groups) {
  double sum = 0;
  for (const MeasuredExecs& group : groups) {
    const double off = Mean(group) - Dot(AsVector(group.counts), fitted);
    sum += off * off / Variance(group);
  }
  return std::max(1.0, std::sqrt(sum / static_cast<double>(groups.size())));
}

}  // namespace

ExecPart PartOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kKernel:
    case NodeKind::kUnknown:
      return ExecPart::kKernel;
    case NodeKind::kMemcpy:
    case NodeKind::kMemset:
      return ExecPart::kCopy;
    default:
      return ExecPart::kOther;
  }
}

ExecModel PublishedExecModel(int driver_version) {
  const bool old = driver_version != 0 && driver_version < kVersion124;
  return {.parts = old ? kBefore124 : kSince124};
}

ByteRange MeasuredExecs::each() const {
  const double count = static_cast<double>(execs);
  const double off = static_cast<double>(kDriverChunk) / std::sqrt(count);
  const double mean = static_cast<double>(sum) / count;
  return {NearestBytes(mean - off), NearestBytes(mean), NearestBytes(mean + off)};
}

ExecModel Calibrate(const ExecModel& table, std::span<const MeasuredExecs> groups) {
  if (groups.empty()) return table;
  Matrix precision{};
  Vector weighted{};
  for (size_t i = 0; i < kExecParts; ++i) {
    const double deviation = Deviation(table.parts[i]);
    precision[i][i] = 1 / (deviation * deviation);
    weighted[i] = static_cast<double>(table.parts[i].bytes) * precision[i][i];
  }
  uint64_t execs = 0;
  for (const MeasuredExecs& group : groups) {
    const Vector counts = AsVector(group.counts);
    const double weight = 1 / Variance(group);
    for (size_t i = 0; i < kExecParts; ++i) {
      for (size_t j = 0; j < kExecParts; ++j) precision[i][j] += weight * counts[i] * counts[j];
      weighted[i] += weight * counts[i] * Mean(group);
    }
    execs += group.execs;
  }
  const Matrix covariance = Inverse(precision);
  Vector fitted{};
  for (size_t i = 0; i < kExecParts; ++i) fitted[i] = Dot(covariance[i], weighted);
  const double misfit = Misfit(fitted, groups);
  ExecModel model{.measured_execs = execs};
  for (size_t i = 0; i < kExecParts; ++i) {
    const double deviation = std::sqrt(covariance[i][i]);
    const double off = 3 * misfit * deviation;
    const ByteRange& known = table.parts[i];
    const ByteRange range = {NearestBytes(fitted[i] - off), NearestBytes(fitted[i]),
                             NearestBytes(fitted[i] + off)};
    // Too little was measured to say more than the table, but it may say that the table is wrong.
    const bool vague = deviation > Deviation(known) / 4;
    const bool agrees = known.low <= range.bytes && range.bytes <= known.high;
    model.parts[i] = vague && agrees ? known : range;
  }
  return model;
}

}  // namespace graphkit
