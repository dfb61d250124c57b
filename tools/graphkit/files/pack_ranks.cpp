#include "tools/graphkit/files/pack_ranks.h"

#include <cstring>
#include <type_traits>
#include <utility>

namespace graphkit {

// Converts to a field of any type, where no value is needed. Nothing defines the conversions, which
// compilers accept of what other files could define.
struct AnyField {
  template <typename T>
  operator T&() const& noexcept;
  template <typename T>
  operator T&&() const&& noexcept;
};

namespace {

constexpr size_t kMostFields = 40;

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

#define GRAPHKIT_FIELDS(count, ...) \
  if constexpr (kCount == count) {  \
    auto& [__VA_ARGS__] = value;    \
    visit(__VA_ARGS__);             \
  }
#define GRAPHKIT_F10 f0, f1, f2, f3, f4, f5, f6, f7, f8, f9
#define GRAPHKIT_F37                                                                            \
  GRAPHKIT_F10, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22, f23, f24, f25, \
      f26, f27, f28, f29, f30, f31, f32, f33, f34, f35, f36

// Calls visit(field, …) with all fields of an aggregate without bases: a struct that gains a field
// is packed as before, unless no struct had so many.
template <typename T>
void VisitFields(T& value, auto&& visit) {
  constexpr size_t kCount = CountFields<T>();
  static_assert((kCount >= 1 && kCount < 10) || (kCount >= 12 && kCount <= 15) || kCount >= 38,
                "needs a line below for that many fields");
  GRAPHKIT_FIELDS(1, f0)
  GRAPHKIT_FIELDS(2, f0, f1)
  GRAPHKIT_FIELDS(3, f0, f1, f2)
  GRAPHKIT_FIELDS(4, f0, f1, f2, f3)
  GRAPHKIT_FIELDS(5, f0, f1, f2, f3, f4)
  GRAPHKIT_FIELDS(6, f0, f1, f2, f3, f4, f5)
  GRAPHKIT_FIELDS(7, f0, f1, f2, f3, f4, f5, f6)
  GRAPHKIT_FIELDS(8, f0, f1, f2, f3, f4, f5, f6, f7)
  GRAPHKIT_FIELDS(9, f0, f1, f2, f3, f4, f5, f6, f7, f8)
  GRAPHKIT_FIELDS(12, GRAPHKIT_F10, f10, f11)
  GRAPHKIT_FIELDS(13, GRAPHKIT_F10, f10, f11, f12)
  GRAPHKIT_FIELDS(14, GRAPHKIT_F10, f10, f11, f12, f13)
  GRAPHKIT_FIELDS(15, GRAPHKIT_F10, f10, f11, f12, f13, f14)
  GRAPHKIT_FIELDS(38, GRAPHKIT_F37, f37)
  GRAPHKIT_FIELDS(39, GRAPHKIT_F37, f37, f38)
  GRAPHKIT_FIELDS(40, GRAPHKIT_F37, f37, f38, f39)
}
#undef GRAPHKIT_FIELDS

// Values to bytes, or back. Bytes that don't fit leave `ok` false, and values that are empty.
class Archive {
 public:
  Archive() = default;  // packs
  explicit Archive(std::string_view bytes) : unpacks_(true), left_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (Take(values), ...);
  }
  std::string bytes;
  bool ok = true;
  bool done() const { return ok && left_.empty(); }

 private:
  void Raw(void* data, size_t size) {
    if (!unpacks_) {
      bytes.append(static_cast<const char*>(data), size);
    } else if (size > left_.size()) {
      ok = false;
    } else if (ok && size > 0) {
      std::memcpy(data, left_.data(), size);
      left_.remove_prefix(size);
    }
  }
  // Makes room for as many elements, each of at least a byte, as there are.
  void Resize(auto& values) {
    uint64_t size = values.size();
    Take(size);
    if (unpacks_ && size > left_.size()) ok = false;
    values.resize(ok ? size : 0);
  }

  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void Take(T& value) {
    Raw(&value, sizeof value);
  }
  void Take(std::string& text) {
    Resize(text);
    Raw(text.data(), text.size());
  }
  template <typename Tag>
  void Take(Id<Tag>& id) {
    Take(id.value);
  }
  template <typename T>
  void Take(std::vector<T>& values) {
    Resize(values);
    for (T& value : values) Take(value);
  }
  template <typename T, size_t kSize>
  void Take(std::array<T, kSize>& values) {
    for (T& value : values) Take(value);
  }
  template <typename T>
  void Take(std::optional<T>& value) {
    bool is = value.has_value();
    Take(is);
    if (!is) return value.reset();
    Take(value ? *value : value.emplace());
  }
  template <typename T>
  requires std::is_aggregate_v<T>
  void Take(T& value) { VisitFields(value, *this); }

  bool unpacks_ = false;
  std::string_view left_;
};

}  // namespace

std::string PackSubject(const GateSubject& subject) {
  Archive archive;
  GateSubject copy = subject;
  archive(copy);
  return std::move(archive.bytes);
}

std::optional<GateSubject> UnpackSubject(std::string_view bytes) {
  GateSubject subject;
  Archive archive(bytes);
  archive(subject);
  return archive.done() ? std::optional(std::move(subject)) : std::nullopt;
}

}  // namespace graphkit
