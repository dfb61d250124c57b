// Code that is put together from parts before it is loaded.
#pragma once

#include <cuda.h>

#include <string>
#include <vector>

#include "plugins/soft_cuda/model/handle.h"
#include "plugins/soft_cuda/model/module.h"

namespace graphkit::soft {

struct Linker {
  static constexpr Tag kTag = Tag::kLinker;
  Tag tag = kTag;
  std::vector<Image> parts{};
  std::string linked{};

  CUlinkState handle() { return reinterpret_cast<CUlinkState>(this); }
};

}  // namespace graphkit::soft
