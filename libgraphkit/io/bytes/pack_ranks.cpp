#include "libgraphkit/io/bytes/pack_ranks.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "libgraphkit/fields.h"
#include "libgraphkit/ids.h"

namespace graphkit {

namespace {

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

template <typename T>
std::string Pack(T value) {
  Archive archive;
  archive(value);
  return std::move(archive.bytes);
}

template <typename T>
std::optional<T> Unpack(std::string_view bytes) {
  T value;
  Archive archive(bytes);
  archive(value);
  return archive.done() ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace

std::string PackRank(const RankSummary& rank) { return Pack(rank); }
std::string PackSubject(const GateSubject& subject) { return Pack(subject); }
std::optional<RankSummary> UnpackRank(std::string_view bytes) { return Unpack<RankSummary>(bytes); }
std::optional<GateSubject> UnpackSubject(std::string_view bytes) {
  return Unpack<GateSubject>(bytes);
}

}  // namespace graphkit
