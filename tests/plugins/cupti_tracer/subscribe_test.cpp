// Which of CUPTI's subscriptions the tracer takes.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "plugins/cupti_tracer/driver/cupti_library.h"

namespace graphkit {
namespace {

// What was called, and what the call with parameters gives.
std::vector<std::string> subscribe_calls;
int named_result = cupti::kSuccess;

int TakeAlone(void** subscriber, cupti::Callback, void*) {
  subscribe_calls.emplace_back("alone");
  *subscriber = subscriber;
  return cupti::kSuccess;
}

int TakeNamed(void** subscriber, cupti::Callback, void*, void* of) {
  const auto& params = *static_cast<const cupti::SubscriberParams*>(of);
  subscribe_calls.push_back(params.size == 40 && params.allow_others == 1 ? params.name : "wrong");
  if (named_result == cupti::kSuccess) *subscriber = subscriber;
  return named_result;
}

std::vector<std::string> CallsOf(uint32_t version, int result) {
  subscribe_calls.clear();
  named_result = result;
  CuptiLibrary cupti{.version = version, .subscribe = TakeAlone, .subscribe_named = TakeNamed};
  void* subscriber = nullptr;
  const int got = Subscribe(cupti, &subscriber, nullptr, nullptr);
  CHECK((got == cupti::kSuccess) == (subscriber != nullptr));
  return subscribe_calls;
}

using Calls = std::vector<std::string>;

TEST_CASE("from CUPTI 13.3 on others may subscribe, too, where the driver allows it") {
  CHECK(CallsOf(130300, cupti::kSuccess) == Calls{"graphkit"});
  CHECK(CallsOf(130501, cupti::kSuccess) == Calls{"graphkit"});
  CHECK(CallsOf(130300, cupti::kMultipleSubscribers) == Calls{"graphkit", "alone"});
}

TEST_CASE("an older CUPTI has one subscriber") {
  CHECK(CallsOf(130201, cupti::kSuccess) == Calls{"alone"});
  CHECK(CallsOf(12000, cupti::kSuccess) == Calls{"alone"});
}

TEST_CASE("a CUPTI for a later driver isn't asked twice") {
  CHECK(CallsOf(130300, cupti::kNotInitialized) == Calls{"graphkit"});
}

}  // namespace
}  // namespace graphkit
