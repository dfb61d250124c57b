// A device larger than the machine: what costs the host memory, and what happens when there is
// none. Software device only.
//
//   large_memory            70 GiB in blocks, filled and copied: every byte read back is right
//   large_memory limit      under GRAPHKIT_SOFT_MEMORY=64MiB: what doesn't fit says so
//   large_memory none       under GRAPHKIT_SOFT_DATA=none: nothing is kept, everything reads as 0
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "conformance.h"
#include "graphs.h"

using namespace conformance;

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kBlock = 1024 * kMiB;

// Bytes that are the process's own: not those of files, which others share.
size_t OwnBytes() {
  std::ifstream status("/proc/self/status");
  size_t kib = 0;
  for (std::string word; status >> word;) {
    if (word == "RssAnon:") status >> kib;
  }
  return kib << 10;
}

std::vector<int> Read(const void* at, size_t words) {
  std::vector<int> host(words, -1);
  EXPECT_OK(cudaMemcpy(host.data(), at, words * sizeof(int), cudaMemcpyDeviceToHost));
  return host;
}

bool AreAll(const std::vector<int>& words, int value) {
  for (int word : words) {
    if (word != value) return false;
  }
  return true;
}

char* Allocate(size_t bytes) {
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, bytes));
  return static_cast<char*>(memory);
}

void FillsAndCopiesOfThemCostNothing() {
  const size_t before = OwnBytes();
  std::vector<char*> blocks;
  for (int i = 0; i < 70; ++i) {
    blocks.push_back(Allocate(kBlock));
    EXPECT_OK(cudaMemset(blocks.back(), i % 3, kBlock));
  }
  for (int i = 0; i < 35; ++i)
    EXPECT_OK(cudaMemcpy(blocks[i], blocks[69 - i], kBlock, cudaMemcpyDeviceToDevice));
  for (int i = 0; i < 70; ++i) {
    const int value = (i < 35 ? 69 - i : i) % 3 * 0x01010101;
    EXPECT(AreAll(Read(blocks[i], 1024), value));
    EXPECT(AreAll(Read(blocks[i] + kBlock / 2 + 12, 1024), value));
    EXPECT(AreAll(Read(blocks[i] + kBlock - 4096, 1024), value));
  }
  EXPECT(OwnBytes() < before + 256 * kMiB);
  for (char* block : blocks) EXPECT_OK(cudaFree(block));
}

// From the host, at any place in a page.
void CopiesOfZerosCostNothing() {
  const size_t before = OwnBytes();
  auto* zeros = static_cast<char*>(std::calloc(kBlock + 4096, 1));
  char* block = Allocate(kBlock);
  EXPECT_OK(cudaMemcpy(block, zeros + 16, kBlock, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(zeros + 16, block, kBlock, cudaMemcpyDeviceToHost));
  EXPECT(OwnBytes() < before + 256 * kMiB);
  std::free(zeros);
  EXPECT_OK(cudaFree(block));
}

// Bytes, zeros, fills of one, two and four bytes, at odd places and over each other.
void EveryByteIsRight() {
  constexpr size_t kBytes = 4 * kMiB;
  char* first = Allocate(kBytes);
  char* second = Allocate(kBytes);
  std::vector<char> want(kBytes);
  std::iota(want.begin(), want.end(), 0);
  EXPECT_OK(cudaMemcpy(first, want.data(), kBytes, cudaMemcpyHostToDevice));
  const auto set = [&](size_t at, unsigned value, size_t element, size_t count) {
    const auto to = reinterpret_cast<CUdeviceptr>(first) + at;
    if (element == 1) EXPECT_OK(cuMemsetD8(to, static_cast<unsigned char>(value), count));
    if (element == 2) EXPECT_OK(cuMemsetD16(to, static_cast<unsigned short>(value), count));
    if (element == 4) EXPECT_OK(cuMemsetD32(to, value, count));
    for (size_t i = 0; i < count * element; ++i)
      want[at + i] = static_cast<char>(value >> (i % element * 8));
  };
  set(4098, 0x1234, 2, 200000);
  set(1 * kMiB + 4, 0x89abcdef, 4, 300001);
  set(2 * kMiB + 4097, 7, 1, kMiB);
  set(2 * kMiB + 65536, 0, 1, kMiB / 2 + 3);
  set(kMiB + 8192, 0, 4, 100000);
  const auto same = [&](const char* device, const char* host, size_t bytes) {
    std::vector<char> got(bytes);
    EXPECT_OK(cudaMemcpy(got.data(), device, bytes, cudaMemcpyDeviceToHost));
    return std::memcmp(got.data(), host, bytes) == 0;
  };
  EXPECT(same(first, want.data(), kBytes));
  EXPECT_OK(cudaMemset(second, 0x55, kBytes));
  EXPECT_OK(cudaMemcpy(second, first, kBytes, cudaMemcpyDeviceToDevice));
  EXPECT(same(second, want.data(), kBytes));
  EXPECT_OK(cudaMemset(second, 0x55, kBytes));
  EXPECT_OK(cudaMemcpy(second + 4, first + 12, kBytes - 12, cudaMemcpyDeviceToDevice));
  EXPECT(same(second + 4, want.data() + 12, kBytes - 12));
  EXPECT_OK(cudaMemcpy2D(second, 8192, first, 16384, 4096, 200, cudaMemcpyDeviceToDevice));
  EXPECT(same(second + 8192 * 199, want.data() + 16384 * 199, 4096));
  EXPECT_OK(cudaFree(first));
  first = Allocate(kBytes);  // the same place
  EXPECT(AreAll(Read(first, kBytes / 4), 0));
  EXPECT_OK(cudaFree(first));
  EXPECT_OK(cudaFree(second));
}

// Under a limit of 64 MiB.
void WhatDoesNotFitIsRefused() {
  constexpr size_t kBytes = 48 * kMiB;
  std::vector<int> numbers(kBytes / sizeof(int));
  std::iota(numbers.begin(), numbers.end(), 1);
  char* first = Allocate(kBytes);
  char* second = Allocate(kBytes);
  const auto give = [&](char* to) {
    return cudaMemcpy(to, numbers.data(), kBytes, cudaMemcpyHostToDevice);
  };
  EXPECT_OK(give(first));
  EXPECT_OK(give(first));
  void* third = nullptr;  // 48 of 64 MiB are in use
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&third, kBytes));
  EXPECT_OK(cudaMalloc(&third, kMiB));
  EXPECT_OK(cudaFree(third));
  EXPECT_ERROR(cudaErrorMemoryAllocation, give(second));
  EXPECT_OK(cudaMemset(first, 1, kBytes));
  EXPECT_OK(give(second));
  EXPECT_OK(cudaFree(second));
  EXPECT_OK(give(first));
  EXPECT_OK(cudaFree(first));
}

// 140 GiB, and nothing of it kept.
void NothingIsKept() {
  const size_t before = OwnBytes();
  std::vector<int> numbers(64 * kMiB / sizeof(int));
  std::iota(numbers.begin(), numbers.end(), 1);
  std::vector<char*> blocks;
  for (int i = 0; i < 140; ++i) {
    blocks.push_back(Allocate(kBlock));
    for (size_t at = 0; at < kBlock; at += 64 * kMiB) {
      EXPECT_OK(cudaMemcpyAsync(blocks.back() + at, numbers.data(), 64 * kMiB,
                                cudaMemcpyHostToDevice, cudaStreamPerThread));
    }
  }
  EXPECT(AreAll(Read(blocks[7], 4096), 0));
  EXPECT(OwnBytes() < before + 256 * kMiB);
}

}  // namespace

int main(int count, char** arguments) {
  EXPECT_OK(cudaFree(nullptr));
  const std::string part = count > 1 ? arguments[1] : "";
  if (part == "limit") {
    WhatDoesNotFitIsRefused();
  } else if (part == "none") {
    NothingIsKept();
  } else {
    FillsAndCopiesOfThemCostNothing();
    CopiesOfZerosCostNothing();
    EveryByteIsRight();
  }
  return Finish("large_memory");
}
