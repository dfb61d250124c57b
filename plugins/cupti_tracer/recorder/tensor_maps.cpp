#include "plugins/cupti_tracer/recorder/tensor_maps.h"

#include <cstring>
#include <utility>

namespace graphkit {
namespace {

struct Digest {
  uint64_t key = 1, check = 0;
};

// Two of 64 bits, so that no other 128 bytes have the same.
Digest DigestOf(const void* contents) {
  Digest digest;
  uint64_t words[kTensorMapBytes / sizeof(uint64_t)];
  std::memcpy(words, contents, kTensorMapBytes);
  for (const uint64_t word : words) {
    digest.key = (digest.key ^ word) * 0x9e3779b97f4a7c15u;
    digest.key ^= digest.key >> 29;
    digest.check = (digest.check + word) * 0xd6e8feb86659fd93u;
    digest.check ^= digest.check >> 32;
  }
  if (digest.key == 0) digest.key = 1;  // none of HandleMap's
  return digest;
}

}  // namespace

void TensorMaps::Add(const void* contents, uint64_t address, int64_t bytes) {
  const Digest digest = DigestOf(contents);
  if (maps_.size() >= kFewest) older_ = std::exchange(maps_, {});
  maps_.Insert(digest.key, {address, bytes, digest.check});
}

const TensorMap* TensorMaps::Find(const void* contents) const {
  const Digest digest = DigestOf(contents);
  for (const auto* maps : {&maps_, &older_}) {
    const TensorMap* found = maps->Find(digest.key);
    if (found != nullptr && found->check == digest.check) return found;
  }
  return nullptr;
}

}  // namespace graphkit
