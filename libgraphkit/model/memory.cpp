#include "libgraphkit/model/memory.h"

#include <numeric>

namespace graphkit {
namespace {

constexpr size_t kMostRows = 1 << 16;  // of both that are looked at

Bytes EndOf(const Access& access) {
  return access.length == kLengthUnknown ? kLengthUnknown : access.offset + access.length;
}

// From one layer to the next; 0: there is one.
Bytes LayerPitch(const Access& access) {
  const AccessRows& rows = access.rows;
  const Bytes layer = Bytes{rows.layer} * rows.pitch;
  return rows.height != 0 && layer < access.length ? layer : 0;
}

// The first byte at `at` or behind it that is touched, if the access goes on for ever.
Bytes NextTouched(const Access& access, Bytes at) {
  const AccessRows& rows = access.rows;
  if (rows.width == 0 || at <= access.offset) return std::max(at, access.offset);
  const Bytes layer = LayerPitch(access);
  const Bytes inside = layer != 0 ? (at - access.offset) % layer : at - access.offset;
  const Bytes begin = at - inside;  // of the layer
  const bool between = inside % rows.pitch >= rows.width;
  const Bytes row = inside / rows.pitch + (between ? 1 : 0);
  if (layer != 0 && row >= rows.height) return begin + layer;
  return between ? begin + row * rows.pitch : at;
}

// Rows begin at multiples of a common divisor of all steps from the first one: whether that alone
// keeps them apart.
bool InOtherColumns(const Access& a, const Access& b) {
  if (a.rows.width == 0 || b.rows.width == 0) return false;
  const Bytes steps = std::gcd(std::gcd(Bytes{a.rows.pitch}, Bytes{b.rows.pitch}),
                               std::gcd(LayerPitch(a), LayerPitch(b)));
  const Bytes shift = (b.offset % steps + steps - a.offset % steps) % steps;
  return shift >= a.rows.width && shift + b.rows.width <= steps;
}

}  // namespace

Ternary Overlap(const Access& a, const Access& b) {
  const Bytes end = std::min(EndOf(a), EndOf(b));
  Bytes at = std::max(a.offset, b.offset);
  if (at >= end) return Ternary::kNo;
  if (a.length == kLengthUnknown || b.length == kLengthUnknown) return Ternary::kUnknown;
  if (InOtherColumns(a, b)) return Ternary::kNo;
  for (size_t i = 0; i < kMostRows; ++i) {
    const Bytes of_a = NextTouched(a, at);
    at = NextTouched(b, of_a);
    if (at >= end) return Ternary::kNo;
    if (at == of_a) return Ternary::kYes;
  }
  return Ternary::kUnknown;
}

Access At(Access access, Address block) {
  access.offset += block;
  return access;
}

}  // namespace graphkit
