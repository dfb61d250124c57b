// Texture and surface objects: how kernels would read and write arrays and rows of memory. Kernels
// don't run, so an object is what its maker said, and the number that stands for it. What it names
// may be gone before it is.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <optional>

namespace graphkit::soft {

struct Context;

struct Texture {
  const Context* context = nullptr;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC sampling{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

struct Surface {
  const Context* context = nullptr;
  CUDA_RESOURCE_DESC resource{};
};

// Objects by their numbers, which count from 1 and aren't used twice.
template <typename T>
struct Numbered {
  std::map<unsigned long long, T> objects;
  unsigned long long last = 0;

  unsigned long long Add(T object) {
    objects.emplace(++last, std::move(object));
    return last;
  }
  const T* Find(unsigned long long number) const {
    const auto found = objects.find(number);
    return found != objects.end() ? &found->second : nullptr;
  }
};

}  // namespace graphkit::soft
