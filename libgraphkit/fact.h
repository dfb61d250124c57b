// A value that is made when it is first asked for, once, by whichever thread asks first; threads
// that ask meanwhile wait for it. Values may be made of others, as long as none is made of itself.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace graphkit {

template <typename T>
class Fact {
 public:
  // `make` is called the first time. Not again after it returned; again if it threw.
  explicit Fact(std::function<T()> make) : make_(std::move(make)) {}
  const T& operator()() const {
    if (const T* made = made_.load(std::memory_order_acquire)) return *made;
    std::call_once(once_,
                   [&] { made_.store(&value_.emplace(make_()), std::memory_order_release); });
    return *made_.load(std::memory_order_acquire);
  }

 private:
  std::function<T()> make_;
  mutable std::once_flag once_;
  mutable std::optional<T> value_;
  mutable std::atomic<const T*> made_ = nullptr;
};

}  // namespace graphkit
