#include "libgraphkit/io/files/json_file.h"

#include <algorithm>
#include <cmath>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/bytes/byte_source.h"

namespace graphkit {

namespace {

constexpr size_t kLargest = size_t{256} << 20;

using Json = nlohmann::json;

uint64_t LineOf(const std::string& text, size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  return 1 + static_cast<uint64_t>(std::count(text.begin(), end, '\n'));
}

// "[…] parse error at line 3, column 5: syntax error …" without what stands before.
std::string ReasonOf(const Json::parse_error& error) {
  const std::string_view what = error.what();
  const size_t column = what.find("column ");
  const size_t start = column == std::string_view::npos ? column : what.find(": ", column);
  return std::string(start == std::string_view::npos ? what : what.substr(start + 2));
}

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : ", ") + word;
  return joined;
}

}  // namespace

Result<std::string> ReadSmallFile(const std::string& path) {
  const Result<FileBytes> file = ReadFile(path);
  if (!file) return file.error();
  if (file->text.size() <= kLargest) return std::string(file->text);
  return Error{.message = "too large to be one", .file = path};
}

Result<Json> ParseJson(const std::string& text, const std::string& file) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    // `byte` counts from 1 and is one past the last byte read.
    return Error{.message = "not JSON: " + ReasonOf(error),
                 .file = file,
                 .line = LineOf(text, error.byte == 0 ? 0 : error.byte - 1)};
  } catch (const Json::out_of_range&) {  // a number like 1e999
    return Error{.message = "not JSON: a number is out of range", .file = file};
  }
}

JsonObject::JsonObject(const Json& value, std::string where, Keys keys)
    : value_(value), where_(std::move(where)), keys_(keys) {
  if (!value_.is_object()) Fail({.message = where_ + " is not an object"});
}

const Json* JsonObject::Find(const std::string& key) {
  if (std::ranges::find(asked_, key) == asked_.end()) asked_.push_back(key);
  if (!value_.is_object()) return nullptr;
  const auto found = value_.find(key);
  return found == value_.end() ? nullptr : &*found;
}

void JsonObject::Fail(Error error) {
  if (!error_) error_ = std::move(error);
}

void JsonObject::Fail(const std::string& key, const std::string& what) {
  Fail({.message = where_ + ": \"" + key + "\" " + what});
}

template <typename T>
std::optional<T> JsonObject::Get(const std::string& key, bool (Json::*is)() const noexcept,
                                 const char* wrong) {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if ((value->*is)()) return value->get<T>();
  Fail(key, wrong);
  return std::nullopt;
}

Bytes JsonObject::Memory(const std::string& key) {
  const uint64_t size = Count(key);
  if (size <= kLargestMemory) return size;
  Fail(key, "is more memory than there can be");
  return 0;
}

std::optional<uint32_t> JsonObject::OptionalIndex(const std::string& key) {
  const std::optional<uint64_t> count = OptionalCount(key);
  if (!count) return std::nullopt;
  const std::optional<GraphId> id = ToId<GraphId>(*count);  // any kind of id has that range
  if (id) return id->value;
  Fail(key, "is not a whole number below 4294967295");
  return std::nullopt;
}

std::optional<std::string> JsonObject::OptionalString(const std::string& key) {
  return Get<std::string>(key, &Json::is_string, "is not a string");
}

std::optional<uint64_t> JsonObject::OptionalCount(const std::string& key) {
  return Get<uint64_t>(key, &Json::is_number_unsigned, "is not a whole number");
}

std::optional<double> JsonObject::OptionalNumber(const std::string& key) {
  constexpr const char* kWrong = "is not a number of at least 0";
  const std::optional<double> number = Get<double>(key, &Json::is_number, kWrong);
  if (!number || (*number >= 0 && std::isfinite(*number))) return number;
  Fail(key, kWrong);
  return std::nullopt;
}

std::optional<Bytes> JsonObject::OptionalBytes(const std::string& key) {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<Bytes>();
  const auto bytes =
      value->is_string() ? ParseBytes(value->get_ref<const std::string&>()) : std::nullopt;
  if (!bytes) Fail(key, "is not a size, as 1048576 or \"1MiB\"");
  return bytes;
}

const Json& JsonObject::Array(const std::string& key) {
  static const Json kNone = Json::array();
  const Json* value = Find(key);
  if (value == nullptr) return kNone;
  if (value->is_array()) return *value;
  Fail(key, "is not an array");
  return kNone;
}

void JsonObject::CheckKeys() {
  if (keys_ == Keys::kAny || !value_.is_object()) return;
  for (const auto& [key, unused] : value_.items()) {
    if (std::ranges::find(asked_, key) != asked_.end()) continue;
    Fail({.message = where_ + " has an unknown key \"" + key + "\"",
          .hint = "known are " + Joined(asked_)});
  }
}

Result<void> JsonObject::Finish(const std::string& file) {
  CheckKeys();
  if (!error_) return {};
  error_->file = file;
  return *error_;
}

void ExpectSchema(JsonObject& object, std::string_view schema, uint64_t version,
                  std::optional<uint64_t> oldest) {
  const auto given_schema = object.OptionalString("schema");
  const auto given_version = object.OptionalCount("version");
  if (given_schema != std::string(schema)) {
    object.Fail("schema", "is not \"" + std::string(schema) + "\"");
  } else if (!given_version || *given_version > version ||
             *given_version < oldest.value_or(version)) {
    const std::string from = oldest ? std::to_string(*oldest) + " to " : "";
    object.Fail("version", "is not " + from + std::to_string(version));
  }
}

}  // namespace graphkit
