// The arguments of a function of the runtime as those of the driver's function that it is
// (runtime_forwards.cpp, generated): the types differ in their names only.
#pragma once

#include <bit>
#include <cstddef>
#include <type_traits>

#include "plugins/soft_cuda/runtime/start.h"

namespace graphkit::soft::runtime {

// Of what a pointer points to; 0: unknown.
template <typename T>
constexpr size_t PointeeBytes() {
  using Pointee = std::remove_pointer_t<T>;
  if constexpr (std::is_object_v<Pointee> && requires { sizeof(Pointee); }) return sizeof(Pointee);
  return 0;
}

template <typename From>
struct Argument {
  From given;

  template <typename To>
  operator To() const {  // NOLINT
    if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
      return static_cast<To>(given);
    } else {
      constexpr size_t kFrom = PointeeBytes<From>();
      constexpr size_t kTo = PointeeBytes<To>();
      static_assert(!std::is_pointer_v<From> || !std::is_pointer_v<To> || kFrom == 0 || kTo == 0 ||
                    kFrom == kTo);
      return std::bit_cast<To>(given);
    }
  }
};

template <typename From>
Argument<From> As(From given) {
  return {given};
}

}  // namespace graphkit::soft::runtime
