// Errors as values. What can fail returns Result<T>; an Error is printed once, by the tool, on one
// line. Result has the names of std::expected (C++23), to become an alias of it one day.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace graphkit {

// An error in one input, or one request.
struct Error {
  enum class Kind : uint8_t {
    kInput,        // the input, or the way it was asked for, is bad: exit code 2
    kIncomplete,   // the input is incomplete: exit code 3
    kUnsupported,  // asked for something that this build or machine doesn't have
    kSystem,       // the system refused: no space, no permission
  };

  std::string message;                  // what is wrong, lower case, no full stop
  std::string hint = {};                // what to do about it; may be empty
  std::string file = {};                // the input, as the user named it; may be empty
  std::optional<uint64_t> line = {};    // 1-based
  std::optional<uint64_t> offset = {};  // bytes from the start of the file
  Kind kind = Kind::kInput;

  bool operator==(const Error&) const = default;
};

// "file:line: message; hint", on one line.
std::string Describe(const Error& error);

// Wraps an error for return from a function whose result is a Result.
struct Unexpected {
  Error error;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit as in expected
  Result(Unexpected e) : state_(std::in_place_index<1>, std::move(e.error)) {}  // NOLINT
  Result(Error e) : state_(std::in_place_index<1>, std::move(e)) {}             // NOLINT

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Unexpected e) : error_(std::move(e.error)) {}  // NOLINT
  Result(Error e) : error_(std::move(e)) {}             // NOLINT

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace graphkit
