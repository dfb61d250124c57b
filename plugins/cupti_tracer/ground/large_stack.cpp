#include "plugins/cupti_tracer/ground/large_stack.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <exception>
#include <new>
#include <utility>

namespace graphkit {
namespace {

constexpr size_t kLargeStack = size_t{1} << 19;

// Lies at the bottom of the stack that it is run on.
struct Errand {
  const std::function<void()>* work = nullptr;
  std::exception_ptr error;
  ucontext_t there{};
  ucontext_t back{};
};

// makecontext passes numbers only.
void RunErrand(unsigned high, unsigned low) {
  auto* errand = reinterpret_cast<Errand*>(uint64_t{high} << 32 | low);
  try {
    (*errand->work)();
  } catch (...) {
    errand->error = std::current_exception();
  }
}

}  // namespace

void OnLargeStack(const std::function<void()>& work) {
  void* const memory = mmap(nullptr, kLargeStack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return work();
  auto* errand = new (memory) Errand{.work = &work};
  const auto place = reinterpret_cast<uint64_t>(errand);
  constexpr size_t kTaken = (sizeof(Errand) + 63) / 64 * 64;
  getcontext(&errand->there);
  errand->there.uc_stack.ss_sp = static_cast<char*>(memory) + kTaken;
  errand->there.uc_stack.ss_size = kLargeStack - kTaken;
  errand->there.uc_link = &errand->back;
  makecontext(&errand->there, reinterpret_cast<void (*)()>(RunErrand), 2,
              static_cast<unsigned>(place >> 32), static_cast<unsigned>(place));
  swapcontext(&errand->back, &errand->there);
  const std::exception_ptr error = std::move(errand->error);
  errand->~Errand();
  munmap(memory, kLargeStack);
  if (error) std::rethrow_exception(error);
}

}  // namespace graphkit
