// Small JSON files that people write or keep in their repository: read whole, and strictly. A key
// that isn't known is an error, since a misspelt one would switch something off unseen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "libgraphkit/result.h"
#include "libgraphkit/units.h"

namespace graphkit {

// The bytes of such a file, and their meaning; errors name the file, and the line.
Result<std::string> ReadSmallFile(const std::string& path);
Result<nlohmann::json> ParseJson(const std::string& text, const std::string& file);

// One object of such a file. Getters remember the first thing that is wrong, and give a default
// value in its place; Finish tells.
//
//     JsonObject object(json, "check");
//     const std::string name = object.String("name");
//     if (Result<void> ok = object.Finish(path); !ok) return ok.error();
class JsonObject {
 public:
  // `where` names the object in errors: "check", "suppressions[2]".
  JsonObject(const nlohmann::json& value, std::string where);

  // The value of a key; null when it isn't there.
  const nlohmann::json* Find(const std::string& key);

  // Required ones; an error when they are missing.
  std::string String(const std::string& key);
  uint64_t Count(const std::string& key);
  uint32_t Index(const std::string& key);  // below 2^32 - 1
  Bytes Memory(const std::string& key);    // at most kLargestMemory

  std::optional<std::string> OptionalString(const std::string& key);
  std::optional<uint64_t> OptionalCount(const std::string& key);
  std::optional<uint32_t> OptionalIndex(const std::string& key);
  std::optional<double> OptionalNumber(const std::string& key);  // at least 0
  std::optional<Bytes> OptionalBytes(const std::string& key);    // 1048576 or "1MiB"
  // None when the key is missing, or null.
  template <typename IdType>
  IdType OptionalId(const std::string& key) {
    const nlohmann::json* value = Find(key);
    if (value == nullptr || value->is_null()) return IdType();
    return IdType(OptionalIndex(key).value_or(IdType::kNone));
  }
  // An array; an empty one when the key is missing.
  const nlohmann::json& Array(const std::string& key);

  void Fail(const std::string& key, std::string what);

  // What is wrong with what was asked for.
  Result<void> Checked(const std::string& file) const;
  // The same, and an error as well for a key that wasn't asked for.
  Result<void> Finish(const std::string& file) const;

 private:
  const nlohmann::json* Required(const std::string& key);

  const nlohmann::json& value_;
  std::string where_;
  std::vector<std::string> asked_;
  std::optional<Error> error_;
};

// Checks "schema" and "version" of a file's outermost object: `version`, or from `oldest` on.
void ExpectSchema(JsonObject& object, std::string_view schema, uint64_t version,
                  std::optional<uint64_t> oldest = {});

}  // namespace graphkit
