#include "plugins/soft_cuda/device/capability.h"

namespace graphkit::soft {
namespace {

constexpr int kKiB = 1024;

constexpr Capability kCapabilities[] = {
    {70, 2048, 32, 96 * kKiB, 96 * kKiB},    {75, 1024, 16, 64 * kKiB, 64 * kKiB},
    {80, 2048, 32, 164 * kKiB, 163 * kKiB},  {86, 1536, 16, 100 * kKiB, 99 * kKiB},
    {87, 1536, 16, 164 * kKiB, 163 * kKiB},  {89, 1536, 24, 100 * kKiB, 99 * kKiB},
    {90, 2048, 32, 228 * kKiB, 227 * kKiB},  {100, 2048, 32, 228 * kKiB, 227 * kKiB},
    {110, 1536, 24, 228 * kKiB, 227 * kKiB}, {120, 1536, 24, 100 * kKiB, 99 * kKiB},
};

}  // namespace

const Capability& CapabilityOf(unsigned architecture) {
  const Capability* best = kCapabilities;
  for (const Capability& row : kCapabilities) {
    if (row.architecture <= architecture) best = &row;
  }
  return *best;
}

}  // namespace graphkit::soft
