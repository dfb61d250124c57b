// The fields of a plain struct, without a list of them: a struct that gains a field is handled as
// before.
#pragma once

#include <cstddef>
#include <utility>

namespace graphkit {

// Converts to a field of any type, where no value is needed.
struct AnyField {
  template <typename T>
  operator T&() const& noexcept;
  template <typename T>
  operator T&&() const&& noexcept;
};

inline constexpr size_t kMostFields = 49;

template <typename T, size_t... kIndex>
constexpr bool HasFields(std::index_sequence<kIndex...>) {
  return requires { T{(void(kIndex), AnyField())...}; };
}
template <typename T, size_t kMost = kMostFields>
constexpr size_t CountFields() {
  if constexpr (kMost == 0 || HasFields<T>(std::make_index_sequence<kMost>())) {
    return kMost;
  } else {
    return CountFields<T, kMost - 1>();
  }
}

#define GRAPHKIT_F10 f0, f1, f2, f3, f4, f5, f6, f7, f8, f9
#define GRAPHKIT_F20 GRAPHKIT_F10, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19
#define GRAPHKIT_F30 GRAPHKIT_F20, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29
#define GRAPHKIT_F40 GRAPHKIT_F30, f30, f31, f32, f33, f34, f35, f36, f37, f38, f39
#define GRAPHKIT_FIELDS(count, ...) \
  if constexpr (kCount == count) {  \
    auto& [__VA_ARGS__] = value;    \
    visit(__VA_ARGS__);             \
  }

// Calls visit(field, …) with all fields of an aggregate without bases.
template <typename T>
void VisitFields(T& value, auto&& visit) {
  constexpr size_t kCount = CountFields<T>();
  static_assert(kCount > 0);
  GRAPHKIT_FIELDS(1, f0)
  GRAPHKIT_FIELDS(2, f0, f1)
  GRAPHKIT_FIELDS(3, f0, f1, f2)
  GRAPHKIT_FIELDS(4, f0, f1, f2, f3)
  GRAPHKIT_FIELDS(5, f0, f1, f2, f3, f4)
  GRAPHKIT_FIELDS(6, f0, f1, f2, f3, f4, f5)
  GRAPHKIT_FIELDS(7, f0, f1, f2, f3, f4, f5, f6)
  GRAPHKIT_FIELDS(8, f0, f1, f2, f3, f4, f5, f6, f7)
  GRAPHKIT_FIELDS(9, f0, f1, f2, f3, f4, f5, f6, f7, f8)
  GRAPHKIT_FIELDS(10, GRAPHKIT_F10)
  GRAPHKIT_FIELDS(11, GRAPHKIT_F10, f10)
  GRAPHKIT_FIELDS(12, GRAPHKIT_F10, f10, f11)
  GRAPHKIT_FIELDS(13, GRAPHKIT_F10, f10, f11, f12)
  GRAPHKIT_FIELDS(14, GRAPHKIT_F10, f10, f11, f12, f13)
  GRAPHKIT_FIELDS(15, GRAPHKIT_F10, f10, f11, f12, f13, f14)
  GRAPHKIT_FIELDS(16, GRAPHKIT_F10, f10, f11, f12, f13, f14, f15)
  GRAPHKIT_FIELDS(17, GRAPHKIT_F10, f10, f11, f12, f13, f14, f15, f16)
  GRAPHKIT_FIELDS(18, GRAPHKIT_F10, f10, f11, f12, f13, f14, f15, f16, f17)
  GRAPHKIT_FIELDS(19, GRAPHKIT_F10, f10, f11, f12, f13, f14, f15, f16, f17, f18)
  GRAPHKIT_FIELDS(20, GRAPHKIT_F20)
  GRAPHKIT_FIELDS(21, GRAPHKIT_F20, f20)
  GRAPHKIT_FIELDS(22, GRAPHKIT_F20, f20, f21)
  GRAPHKIT_FIELDS(23, GRAPHKIT_F20, f20, f21, f22)
  GRAPHKIT_FIELDS(24, GRAPHKIT_F20, f20, f21, f22, f23)
  GRAPHKIT_FIELDS(25, GRAPHKIT_F20, f20, f21, f22, f23, f24)
  GRAPHKIT_FIELDS(26, GRAPHKIT_F20, f20, f21, f22, f23, f24, f25)
  GRAPHKIT_FIELDS(27, GRAPHKIT_F20, f20, f21, f22, f23, f24, f25, f26)
  GRAPHKIT_FIELDS(28, GRAPHKIT_F20, f20, f21, f22, f23, f24, f25, f26, f27)
  GRAPHKIT_FIELDS(29, GRAPHKIT_F20, f20, f21, f22, f23, f24, f25, f26, f27, f28)
  GRAPHKIT_FIELDS(30, GRAPHKIT_F30)
  GRAPHKIT_FIELDS(31, GRAPHKIT_F30, f30)
  GRAPHKIT_FIELDS(32, GRAPHKIT_F30, f30, f31)
  GRAPHKIT_FIELDS(33, GRAPHKIT_F30, f30, f31, f32)
  GRAPHKIT_FIELDS(34, GRAPHKIT_F30, f30, f31, f32, f33)
  GRAPHKIT_FIELDS(35, GRAPHKIT_F30, f30, f31, f32, f33, f34)
  GRAPHKIT_FIELDS(36, GRAPHKIT_F30, f30, f31, f32, f33, f34, f35)
  GRAPHKIT_FIELDS(37, GRAPHKIT_F30, f30, f31, f32, f33, f34, f35, f36)
  GRAPHKIT_FIELDS(38, GRAPHKIT_F30, f30, f31, f32, f33, f34, f35, f36, f37)
  GRAPHKIT_FIELDS(39, GRAPHKIT_F30, f30, f31, f32, f33, f34, f35, f36, f37, f38)
  GRAPHKIT_FIELDS(40, GRAPHKIT_F40)
  GRAPHKIT_FIELDS(41, GRAPHKIT_F40, f40)
  GRAPHKIT_FIELDS(42, GRAPHKIT_F40, f40, f41)
  GRAPHKIT_FIELDS(43, GRAPHKIT_F40, f40, f41, f42)
  GRAPHKIT_FIELDS(44, GRAPHKIT_F40, f40, f41, f42, f43)
  GRAPHKIT_FIELDS(45, GRAPHKIT_F40, f40, f41, f42, f43, f44)
  GRAPHKIT_FIELDS(46, GRAPHKIT_F40, f40, f41, f42, f43, f44, f45)
  GRAPHKIT_FIELDS(47, GRAPHKIT_F40, f40, f41, f42, f43, f44, f45, f46)
  GRAPHKIT_FIELDS(48, GRAPHKIT_F40, f40, f41, f42, f43, f44, f45, f46, f47)
  GRAPHKIT_FIELDS(49, GRAPHKIT_F40, f40, f41, f42, f43, f44, f45, f46, f47, f48)
}

#undef GRAPHKIT_FIELDS
#undef GRAPHKIT_F40
#undef GRAPHKIT_F30
#undef GRAPHKIT_F20
#undef GRAPHKIT_F10

}  // namespace graphkit
