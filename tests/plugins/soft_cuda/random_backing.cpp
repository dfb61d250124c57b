// Random fills, copies and writes of device memory against an array of bytes that is simply
// written. Argument: a seed; without one, seeds 1 to 4.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "plugins/soft_cuda/ground/backing.h"

namespace {

using graphkit::soft::Backing;
using graphkit::soft::kPageBytes;

constexpr uint64_t kSize = uint64_t{6} << 20;
constexpr int kSteps = 1500;

class Player {
 public:
  explicit Player(uint64_t seed) : random_(seed), want_(kSize), host_(kSize) {
    void* place = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    device_ = static_cast<unsigned char*>(place);
    backing_.Own(Address(0), kSize, true);
    backing_.Open(Address(0), kSize);
  }
  ~Player() { munmap(device_, kSize); }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  // The step after which the bytes differ; -1: none.
  int Play() {
    for (int step = 0; step < kSteps; ++step) {
      Step();
      if (step % 50 == 0 && std::memcmp(device_, want_.data(), kSize) != 0) return step;
    }
    return std::memcmp(device_, want_.data(), kSize) != 0 ? kSteps : -1;
  }

 private:
  uint64_t Pick(uint64_t below) { return random_() % below; }
  uint64_t Address(uint64_t offset) const { return reinterpret_cast<uint64_t>(device_) + offset; }
  uint64_t HostAddress(uint64_t offset) const {
    return reinterpret_cast<uint64_t>(host_.data()) + offset;
  }
  uint64_t Size() {
    switch (Pick(4)) {
      case 0:
        return 1 + Pick(200);
      case 1:
        return (1 + Pick(300)) * kPageBytes;
      default:
        return 1 + Pick(1 << 20);
    }
  }
  uint64_t Offset(uint64_t size) {
    const uint64_t at = Pick(kSize - size + 1);
    return Pick(2) == 0 ? at : at / kPageBytes * kPageBytes;
  }

  void Step() {
    const uint64_t size = Size();
    const uint64_t at = Offset(size);
    switch (Pick(6)) {
      case 0:
        return Fill(at, size);
      case 1:
        return CopyInside(at, Offset(size), size);
      case 2:
        return CopyIn(at, Offset(size), size);
      case 3:
        return CopyOut(at, Offset(size), size);
      case 4:
        return Clear(at, size);
      default:  // as the host writes managed memory
        device_[at] = want_[at] = static_cast<unsigned char>(size);
    }
  }

  void Fill(uint64_t at, uint64_t size) {
    const auto value = static_cast<uint32_t>(Pick(4) * 0x01010101u + Pick(2) * 0x1234u);
    backing_.Fill(Address(at), size, value);
    for (uint64_t i = at; i < at + size; ++i)
      want_[i] = static_cast<unsigned char>(value >> (Address(i) % 4 * 8));
  }
  void CopyInside(uint64_t to, uint64_t from, uint64_t size) {
    backing_.Copy(Address(to), Address(from), size);
    std::memmove(want_.data() + to, want_.data() + from, size);
  }
  void CopyIn(uint64_t to, uint64_t from, uint64_t size) {
    std::memset(host_.data() + from, 0, size);
    if (Pick(2) == 0) {
      for (uint64_t i = 0; i < size; i += 1 + Pick(5000))
        host_[from + i] = static_cast<unsigned char>(random_());
    }
    backing_.Copy(Address(to), HostAddress(from), size);
    std::memcpy(want_.data() + to, host_.data() + from, size);
  }
  void CopyOut(uint64_t from, uint64_t to, uint64_t size) {
    backing_.Copy(HostAddress(to), Address(from), size);
    // The bytes that came out go in again, so that a wrong byte is seen.
    backing_.Copy(Address(from), HostAddress(to), size);
  }
  void Clear(uint64_t at, uint64_t size) {
    backing_.Clear(Address(at), size);
    const uint64_t first = (at + kPageBytes - 1) / kPageBytes * kPageBytes;
    const uint64_t last = (at + size) / kPageBytes * kPageBytes;
    if (first < last) std::memset(want_.data() + first, 0, last - first);
  }

  std::mt19937_64 random_;
  Backing backing_;
  unsigned char* device_ = nullptr;
  std::vector<unsigned char> want_;
  std::vector<unsigned char> host_;
};

bool IsRight(uint64_t seed) {
  const int step = Player(seed).Play();
  if (step >= 0)
    std::printf("seed %llu: bytes differ after step %d\n", static_cast<unsigned long long>(seed),
                step);
  return step < 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) return IsRight(std::strtoull(arguments[1], nullptr, 10)) ? 0 : 1;
  bool right = true;
  for (uint64_t seed = 1; seed <= 4; ++seed) right = IsRight(seed) && right;
  return right ? 0 : 1;
}
