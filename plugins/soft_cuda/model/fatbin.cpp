// The container that nvcc puts into a program. Layout seen with nvcc 12 and 13; not documented by
// NVIDIA.
//
//   wrapper  0x466243b1, version, → data
//   data     0xba55ed50, u16 version, u16 header bytes, u64 bytes of all entries
//   entry    u16 kind (1 PTX, 2 ELF), …, u32 header bytes, u64 payload bytes, u32 compressed bytes,
//   …, u32 arch,
//            …, u64 flags (0x2000 LZ4, 0x8000 zstd), u64 0, u64 uncompressed bytes
#include <algorithm>
#include <cstring>

#include "plugins/soft_cuda/model/module.h"

namespace graphkit::soft {
namespace {

constexpr uint32_t kWrapperMagic = 0x466243b1;
constexpr uint32_t kDataMagic = 0xba55ed50;
constexpr uint64_t kLz4 = 0x2000;
constexpr uint64_t kZstd = 0x8000;
constexpr size_t kEntryHeader = 64;

template <typename T>
T Read(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

struct Entry {
  uint16_t kind;
  uint32_t header_bytes;
  uint64_t payload_bytes;
  uint32_t compressed_bytes;
  uint32_t architecture;
  uint64_t flags;
  uint64_t uncompressed_bytes;
};

Entry ReadEntry(const char* at) {
  return {Read<uint16_t>(at),      Read<uint32_t>(at + 4),  Read<uint64_t>(at + 8),
          Read<uint32_t>(at + 16), Read<uint32_t>(at + 28), Read<uint64_t>(at + 40),
          Read<uint64_t>(at + 56)};
}

std::optional<std::string> Payload(const Entry& entry, const char* at) {
  if ((entry.flags & (kLz4 | kZstd)) == 0) return std::string(at, entry.payload_bytes);
  const std::string_view data(at, entry.compressed_bytes);
  return entry.flags & kZstd ? DecompressZstd(data, entry.uncompressed_bytes)
                             : DecompressLz4(data, entry.uncompressed_bytes);
}

std::vector<Image> ReadFatBinary(const char* data) {
  std::vector<Image> images;
  const char* at = data + Read<uint16_t>(data + 6);
  const char* end = at + Read<uint64_t>(data + 8);
  while (at + kEntryHeader <= end) {
    const Entry entry = ReadEntry(at);
    if (entry.header_bytes < kEntryHeader) break;
    if (auto bytes = Payload(entry, at + entry.header_bytes);
        bytes && (entry.kind == 1 || entry.kind == 2)) {
      images.push_back({entry.kind == 1, entry.architecture, std::move(*bytes)});
    }
    at += entry.header_bytes + entry.payload_bytes;
  }
  return images;
}

// The size of a 64-bit ELF: the end of its section headers or of its program headers.
size_t ElfSize(const char* elf) {
  const uint64_t sections =
      Read<uint64_t>(elf + 40) + uint64_t{Read<uint16_t>(elf + 58)} * Read<uint16_t>(elf + 60);
  const uint64_t programs =
      Read<uint64_t>(elf + 32) + uint64_t{Read<uint16_t>(elf + 54)} * Read<uint16_t>(elf + 56);
  return std::max(sections, programs);
}

}  // namespace

std::vector<Image> ReadImages(const void* data) {
  const auto* at = static_cast<const char*>(data);
  const auto magic = Read<uint32_t>(at);
  if (magic == kWrapperMagic) return ReadImages(Read<const void*>(at + 8));
  if (magic == kDataMagic) return ReadFatBinary(at);
  if (std::memcmp(at, "\177ELF", 4) == 0) {
    std::string elf(at, ElfSize(at));
    const unsigned architecture = CubinArchitecture(elf);
    return {{false, architecture, std::move(elf)}};
  }
  if (std::strstr(at, ".version") != nullptr) return {{true, PtxArchitecture(at), at}};
  return {};
}

const Image* ChooseImage(const std::vector<Image>& images, unsigned architecture) {
  const Image* best = nullptr;
  for (const Image& image : images) {
    const bool fits = image.ptx ? image.architecture <= architecture
                                : image.architecture / 10 == architecture / 10 &&
                                      image.architecture <= architecture;
    if (!fits) continue;
    const bool better = best == nullptr || (best->ptx && !image.ptx) ||
                        (best->ptx == image.ptx && image.architecture > best->architecture);
    if (better) best = &image;
  }
  return best;
}

}  // namespace graphkit::soft
