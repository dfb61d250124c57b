#include "libgraphkit/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace graphkit {
namespace {

TEST_CASE("every index runs once, on any number of threads") {
  for (const size_t threads : std::vector<size_t>{0, 1, 2, 3, 16}) {
    for (const size_t count : std::vector<size_t>{0, 1, 2, 100}) {
      std::vector<std::atomic<int>> runs(count);
      ParallelFor(count, threads, [&](size_t i) { ++runs[i]; });
      for (const auto& run : runs) CHECK(run == 1);
    }
  }
}

TEST_CASE("results lie where their index says, whoever made them") {
  std::vector<size_t> squares(1000);
  ParallelFor(squares.size(), 4, [&](size_t i) { squares[i] = i * i; });
  for (size_t i = 0; i < squares.size(); ++i) REQUIRE(squares[i] == i * i);
}

TEST_CASE("the threads run side by side") {
  std::latch all(3);
  ParallelFor(3, 3, [&](size_t) { all.arrive_and_wait(); });
  CHECK(all.try_wait());
}

TEST_CASE("an exception of any thread is thrown to the caller, when the others are over") {
  for (const size_t threads : std::vector<size_t>{1, 2, 4}) {
    std::atomic<int> running = 0;
    const auto body = [&](size_t i) {
      ++running;
      if (i == 3) {
        --running;
        throw std::bad_alloc();
      }
      --running;
    };
    CHECK_THROWS_AS(ParallelFor(100, threads, body), std::bad_alloc);
    CHECK(running == 0);
  }
}

TEST_CASE("nothing is begun after an exception") {
  std::atomic<size_t> begun = 0;
  const auto body = [&](size_t) {
    ++begun;
    throw std::runtime_error("no");
  };
  CHECK_THROWS(ParallelFor(1'000'000, 1, body));
  CHECK(begun == 1);
}

TEST_CASE("of several exceptions the one of the smallest index is thrown") {
  for (int round = 0; round < 50; ++round) {
    std::latch all(4);
    const auto body = [&](size_t i) {
      all.arrive_and_wait();
      throw std::runtime_error(std::to_string(i));
    };
    CHECK_THROWS_WITH(ParallelFor(4, 4, body), "0");
  }
}

TEST_CASE("a team runs its work on each thread, and is joined") {
  std::atomic<int> runs = 0;
  {
    const ThreadTeam team(3, [&] { ++runs; });
  }
  CHECK(runs == 3);
}

}  // namespace
}  // namespace graphkit
