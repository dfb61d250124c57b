#include "libgraphkit/parallel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <latch>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
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

TEST_CASE("threads without bodies of their own help with the loops inside of the last ones") {
  for (int round = 0; round < 20; ++round) {
    std::latch all(4);
    ParallelFor(2, 2, [&](size_t outer) {
      if (outer == 0) return;
      ParallelFor(2, 4, [&](size_t) {
        // Each waits for the other: both run at once, though the outer loop has two indices only.
        ParallelFor(1, 4, [&](size_t) { all.count_down(); });
        all.arrive_and_wait();
      });
    });
    CHECK(all.try_wait());
  }
}

TEST_CASE("loops inside of loops run every index once, on no more threads than asked for") {
  for (const size_t threads : std::vector<size_t>{1, 2, 3, 8}) {
    std::vector<std::atomic<int>> runs(20 * 30);
    std::atomic<size_t> running = 0, most = 0;
    ParallelFor(20, threads, [&](size_t i) {
      ParallelFor(5, threads, [&](size_t j) {
        ParallelFor(6, threads, [&](size_t k) {
          const size_t now = ++running;
          size_t before = most;
          while (before < now && !most.compare_exchange_weak(before, now)) {
          }
          ++runs[i * 30 + j * 6 + k];
          --running;
        });
      });
    });
    CHECK(most <= threads);
    for (const auto& run : runs) REQUIRE(run == 1);
  }
}

TEST_CASE("an exception of an inner loop goes through its body to the outer loop") {
  for (const size_t threads : std::vector<size_t>{1, 4}) {
    size_t caught = 0;
    ParallelFor(1, threads, [&](size_t) {
      try {
        ParallelFor(8, threads, [](size_t i) { throw std::runtime_error(std::to_string(i)); });
      } catch (const std::runtime_error&) {
        ++caught;
      }
    });
    CHECK(caught == 1);
    const auto outer = [&](size_t) {
      ParallelFor(8, threads, [](size_t) { throw std::bad_alloc(); });
    };
    CHECK_THROWS_AS(ParallelFor(3, threads, outer), std::bad_alloc);
  }
}

TEST_CASE("a share of the cores holds for its thread, as long as it lives") {
  setenv("GRAPHKIT_THREADS", "6", 1);
  CHECK(Cores() == 6);
  CHECK(CoresFor(false) == 6);
  {
    const CoreShare share(2);
    CHECK(Cores() == 2);
    const CoreShare no_more(4);
    CHECK(Cores() == 2);
    std::thread([] { CHECK(Cores() == 6); }).join();
  }
  CHECK(Cores() == 6);
  for (const char* nothing : {"", "0", "-1", "two", "3x"}) {
    setenv("GRAPHKIT_THREADS", nothing, 1);
    CHECK(Cores() == std::max(1u, std::thread::hardware_concurrency()));
    CHECK(CoresFor(false) == 1);
  }
  unsetenv("GRAPHKIT_THREADS");
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
