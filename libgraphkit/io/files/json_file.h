// Small JSON files that people write or keep in their repository: read whole, and strictly. A key
// that isn't known is an error, since a misspelt one would switch something off unseen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "libgraphkit/result.h"
#include "libgraphkit/units.h"

namespace graphkit {

// One object of such a file. Getters remember the first thing that is wrong, and give a default
// value in its place; the reader goes on, and ParseJsonFile tells.
class JsonObject {
 public:
  // The keys that it may have: those that are asked for, or others too.
  enum class Keys { kKnown, kAny };
  // `where` names the object in errors: "check", "suppressions[2]".
  JsonObject(const nlohmann::json& value, std::string where, Keys keys = Keys::kKnown);

  // The value of a key; null when it isn't there.
  const nlohmann::json* Find(const std::string& key);

  // Required ones; an error when they are missing.
  std::string String(const std::string& key) { return Required(key, OptionalString(key)); }
  uint64_t Count(const std::string& key) { return Required(key, OptionalCount(key)); }
  uint32_t Index(const std::string& key) { return Required(key, OptionalIndex(key)); }
  Bytes Memory(const std::string& key);  // at most kLargestMemory

  std::optional<std::string> OptionalString(const std::string& key);
  std::optional<uint64_t> OptionalCount(const std::string& key);
  std::optional<uint32_t> OptionalIndex(const std::string& key);  // below 2^32 - 1
  std::optional<double> OptionalNumber(const std::string& key);   // at least 0
  std::optional<Bytes> OptionalBytes(const std::string& key);     // 1048576 or "1MiB"
  // None when the key is missing, or null.
  template <typename IdType>
  IdType OptionalId(const std::string& key) {
    const nlohmann::json* value = Find(key);
    if (value == nullptr || value->is_null()) return IdType();
    return IdType(OptionalIndex(key).value_or(IdType::kNone));
  }
  // An array; an empty one when the key is missing.
  const nlohmann::json& Array(const std::string& key);

  // The result of `read` for an object in this one. An error there is an error here.
  template <typename Read>
  auto Inner(const nlohmann::json& value, std::string where, Read read) {
    JsonObject inner(value, std::move(where), keys_);
    auto made = read(inner);
    inner.CheckKeys();
    if (inner.error_) Fail(*inner.error_);
    return made;
  }
  // The same of the objects of a list, up to the first that is wrong.
  template <typename Read>
  auto List(const nlohmann::json& values, const std::string& where, Read read) {
    std::vector<decltype(read(*this))> list;
    for (size_t i = 0; i < values.size() && !failed(); ++i) {
      list.push_back(Inner(values[i], where + "[" + std::to_string(i) + "]", read));
    }
    return list;
  }

  const std::string& where() const { return where_; }
  bool failed() const { return error_.has_value(); }
  void Fail(Error error);  // but for the first, errors are left out
  void Fail(const std::string& key, const std::string& what);

  // The first error, with the file's name.
  Result<void> Finish(const std::string& file);

 private:
  template <typename T>
  T Required(const std::string& key, std::optional<T> value) {
    if (Find(key) == nullptr) Fail({.message = where_ + " has no \"" + key + "\""});
    return value.value_or(T());
  }
  template <typename T>
  std::optional<T> Get(const std::string& key, bool (nlohmann::json::*is)() const noexcept,
                       const char* wrong);
  void CheckKeys();

  const nlohmann::json& value_;
  std::string where_;
  Keys keys_;
  std::vector<std::string> asked_;
  std::optional<Error> error_;
};

// The bytes of such a file, and their meaning; errors name the file, and the line.
Result<std::string> ReadSmallFile(const std::string& path);
Result<nlohmann::json> ParseJson(const std::string& text, const std::string& file);

// The result of `read` for the outermost object of a text.
//
//     ParseJsonFile(text, file, [](JsonObject& object) { return object.String("name"); });
template <typename Read>
auto ParseJsonFile(const std::string& text, const std::string& file, Read read,
                   const char* where = "the file", JsonObject::Keys keys = JsonObject::Keys::kKnown)
    -> Result<decltype(read(std::declval<JsonObject&>()))> {
  const Result<nlohmann::json> json = ParseJson(text, file);
  if (!json) return json.error();
  JsonObject object(*json, where, keys);
  auto made = read(object);
  if (const Result<void> ok = object.Finish(file); !ok) return ok.error();
  return made;
}

// The result of `parse` for the text of a file.
template <typename T>
Result<T> ReadWith(Result<T> (*parse)(const std::string& text, const std::string& file),
                   const std::string& path) {
  const Result<std::string> text = ReadSmallFile(path);
  if (!text) return text.error();
  return parse(*text, path);
}

// Checks "schema" and "version" of a file's outermost object: `version`, or from `oldest` on.
void ExpectSchema(JsonObject& object, std::string_view schema, uint64_t version,
                  std::optional<uint64_t> oldest = {});

}  // namespace graphkit
