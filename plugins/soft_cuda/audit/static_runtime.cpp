#include "plugins/soft_cuda/audit/static_runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/soft_cuda/audit/elf_symbols.h"

namespace graphkit {
namespace {

constexpr size_t kMostFunctions = 4096;  // with namesakes in the program
constexpr size_t kJump = 5;              // e9 and a distance of 32 bits
constexpr uint64_t kReach = uint64_t{1} << 31;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kStep = 16 * kPage;  // between the places that are tried for landings

struct LedFunction {
  const char* name;  // a copy, never freed
  uint64_t address;
};

// As code: entered by a jump with the caller's registers.
struct Landing {
  uint8_t jump_slot[2] = {0xff, 0x25};  // jmp *slot(%rip)
  int32_t slot = 0;
  uint8_t push = 0x68;
  uint32_t index = 0;
  uint8_t jump = 0xe9;
  int32_t first = 0;  // the first landing, which pushes the object and enters the resolver
} __attribute__((packed));
static_assert(sizeof(Landing) == 16);

struct FirstLanding {
  uint8_t push_slot[2] = {0xff, 0x35};  // push object(%rip)
  int32_t object = 0;
  uint8_t jump_slot[2] = {0xff, 0x25};  // jmp *resolver(%rip)
  int32_t resolver = 0;
  uint8_t unused[4] = {0xcc, 0xcc, 0xcc, 0xcc};
} __attribute__((packed));
static_assert(sizeof(FirstLanding) == 16);

// An object whose runtime is led: slots 0 and 1 are this and the resolver, then one a function.
struct LedObject {
  char library[4096];  // that the functions lead to
  char object[4096];   // that they are in
  size_t count = 0;
  LedFunction functions[kMostFunctions];
  uint64_t* slots = nullptr;
};

int ByName(const void* a, const void* b) {
  return strcmp(*static_cast<const char* const*>(a), *static_cast<const char* const*>(b));
}

uint64_t Smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
uint64_t Larger(uint64_t a, uint64_t b) { return a < b ? b : a; }

// Headers of CUDA define functions in the program's own files that have names of the runtime's,
// such as a cudaLaunchKernel that goes on to cudaLaunchKernel_ptsz. The linker lays the runtime's
// side by side: of functions with one name those count that lie among the ones whose name is theirs
// alone.
size_t WithoutNamesakes(LedFunction* functions, size_t count) {
  qsort(functions, count, sizeof *functions, ByName);
  auto same = [functions, count](size_t i, size_t j) {
    return j < count && strcmp(functions[i].name, functions[j].name) == 0;
  };
  auto alone = [same](size_t i) { return !same(i, i + 1) && (i == 0 || !same(i, i - 1)); };
  uint64_t begin = ~uint64_t{0}, end = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!alone(i)) continue;
    begin = Smaller(functions[i].address, begin);
    end = Larger(functions[i].address, end);
  }
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool among = functions[i].address >= begin && functions[i].address <= end;
    if (alone(i) || among) functions[kept++] = functions[i];
  }
  return kept;
}

// The functions of the runtime that the object has inside and the library exports.
size_t SharedFunctions(const MappedElf& object, uint64_t base, const char* library,
                       LedFunction* functions) {
  const MappedElf exports(library);
  static const char* names[kMostFunctions];  // the loader calls from one thread at a time
  size_t exported = 0, count = 0;
  exports.ForEachFunction(SHT_DYNSYM, [&](const char* name, uint64_t, uint64_t) {
    if (exported < kMostFunctions) names[exported++] = name;
  });
  qsort(names, exported, sizeof *names, ByName);
  object.ForEachFunction(SHT_SYMTAB, [&](const char* name, uint64_t value, uint64_t) {
    if (count == kMostFunctions) return;
    if (bsearch(&name, names, exported, sizeof *names, ByName) == nullptr) return;
    functions[count++] = {strdup(name), base + value};
  });
  return WithoutNamesakes(functions, count);
}

// Pages within reach of all of [begin, end): downwards first, as a program's heap follows it.
char* MapNear(uint64_t begin, uint64_t end, size_t bytes) {
  const uint64_t low = end > kReach ? end - kReach : kStep;
  const uint64_t high = begin + kReach - bytes;
  auto attempt = [bytes](uint64_t at) -> char* {
    void* wanted = reinterpret_cast<void*>(at);
    void* got = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wanted) return static_cast<char*>(got);
    if (got != MAP_FAILED) munmap(got, bytes);  // a kernel that takes the address as a hint
    return nullptr;
  };
  for (uint64_t at = (begin - bytes) & ~(kPage - 1); at >= low && at < begin; at -= kStep) {
    if (char* got = attempt(at)) return got;
  }
  for (uint64_t at = (end + kStep) & ~(kPage - 1); at < high; at += kStep) {
    if (char* got = attempt(at)) return got;
  }
  return nullptr;
}

size_t WholePages(size_t bytes) { return (bytes + kPage - 1) & ~(kPage - 1); }

int32_t Distance(const void* from, const void* to) {
  return static_cast<int32_t>(static_cast<const char*>(to) - static_cast<const char*>(from));
}

extern "C" void graphkit_resolve_led();

// Landings, executable, then slots, writable.
bool MakeLandings(LedObject& led, uint64_t begin, uint64_t end, char*& landings) {
  const size_t code = WholePages((led.count + 1) * sizeof(Landing));
  const size_t data = WholePages((led.count + 2) * sizeof(uint64_t));
  landings = MapNear(begin, end, code + data);
  if (landings == nullptr) return false;
  led.slots = reinterpret_cast<uint64_t*>(landings + code);
  led.slots[0] = reinterpret_cast<uint64_t>(&led);
  led.slots[1] = reinterpret_cast<uint64_t>(&graphkit_resolve_led);
  FirstLanding first;
  first.object = Distance(landings + 6, &led.slots[0]);
  first.resolver = Distance(landings + 12, &led.slots[1]);
  memcpy(landings, &first, sizeof first);
  for (size_t i = 0; i < led.count; ++i) {
    char* at = landings + (i + 1) * sizeof(Landing);
    Landing landing;
    landing.slot = Distance(at + 6, &led.slots[i + 2]);
    landing.index = static_cast<uint32_t>(i);
    landing.first = Distance(at + sizeof(Landing), landings);
    memcpy(at, &landing, sizeof landing);
    led.slots[i + 2] = reinterpret_cast<uint64_t>(at + 6);  // the push
  }
  return mprotect(landings, code, PROT_READ | PROT_EXEC) == 0;
}

bool WriteJumps(const LedObject& led, uint64_t begin, uint64_t end, const char* landings) {
  char* first = reinterpret_cast<char*>(begin & ~(kPage - 1));
  const size_t bytes = WholePages(end - reinterpret_cast<uint64_t>(first));
  if (mprotect(first, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  for (size_t i = 0; i < led.count; ++i) {
    char* function = reinterpret_cast<char*>(led.functions[i].address);
    const int32_t distance = Distance(function + kJump, landings + (i + 1) * sizeof(Landing));
    *function = static_cast<char>(0xe9);
    memcpy(function + 1, &distance, sizeof distance);
  }
  return mprotect(first, bytes, PROT_READ | PROT_EXEC) == 0;
}

// The libcudart that a runtime is the static form of. CUDA 13 dropped the calls of before CUDA 4;
// CUDA 12 brought cudaGetDeviceProperties_v2.
const char* SonameOf(const MappedElf& object) {
  if (object.Mentions(SHT_SYMTAB, "cudaGetDeviceProperties_v2")) return "libcudart.so.12";
  if (object.Mentions(SHT_SYMTAB, "cudaThreadExit")) return nullptr;
  return "libcudart.so.13";
}

}  // namespace

// Where the landing of a function leads that is called for the first time: fills all slots.
extern "C" uint64_t graphkit_find_led(LedObject* led, uint64_t index) {
  // The program's own namespace: this library is in one of its own.
  void* library = dlmopen(LM_ID_BASE, led->library, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    dprintf(
        STDERR_FILENO,
        "graphkit: %s has the CUDA runtime inside, and the software device's can't be opened: %s\n",
        led->object, dlerror());
    abort();  // the function's own code is gone
  }
  for (size_t i = 0; i < led->count; ++i) {
    void* function = dlsym(library, led->functions[i].name);
    __atomic_store_n(&led->slots[i + 2], reinterpret_cast<uint64_t>(function), __ATOMIC_RELEASE);
  }
  return led->slots[index + 2];
}

// Entered with the object and the function's index pushed over the return address, and with the
// arguments of the call in place, which it keeps.
asm(R"(
.text
.globl graphkit_resolve_led
.hidden graphkit_resolve_led
.type graphkit_resolve_led, @function
graphkit_resolve_led:
  push %rbp
  mov %rsp, %rbp
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %r10
  sub $128, %rsp
  and $-16, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  mov 8(%rbp), %rdi
  mov 16(%rbp), %rsi
  call graphkit_find_led
  mov %rax, %r11
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  mov -8(%rbp), %rax
  mov -16(%rbp), %rdi
  mov -24(%rbp), %rsi
  mov -32(%rbp), %rdx
  mov -40(%rbp), %rcx
  mov -48(%rbp), %r8
  mov -56(%rbp), %r9
  mov -64(%rbp), %r10
  mov %rbp, %rsp
  pop %rbp
  add $16, %rsp
  jmp *%r11
.size graphkit_resolve_led, .-graphkit_resolve_led
)");

LedRuntime LeadStaticRuntime(const char* path, uint64_t base, const char* folder) {
  const MappedElf object(path);
  if (!object.Mentions(SHT_SYMTAB, "__cudaRegisterFatBinary")) return LedRuntime::kNone;
  auto* led = static_cast<LedObject*>(calloc(1, sizeof(LedObject)));
  if (led == nullptr) return LedRuntime::kRefused;
  const char* soname = SonameOf(object);
  snprintf(led->library, sizeof led->library, "%s/%s", folder, soname ? soname : "libcudart.so.12");
  snprintf(led->object, sizeof led->object, "%s", path);
  led->count = SharedFunctions(object, base, led->library, led->functions);
  uint64_t begin = ~uint64_t{0}, end = 0;
  for (size_t i = 0; i < led->count; ++i) {
    begin = Smaller(led->functions[i].address, begin);
    end = Larger(led->functions[i].address + kJump, end);
  }
  char* landings = nullptr;
  LedRuntime result = LedRuntime::kLed;
  if (end == 0) {
    result = LedRuntime::kNone;  // it calls a shared runtime
  } else if (soname == nullptr) {
    result = LedRuntime::kTooOld;
  } else if (!MakeLandings(*led, begin, end, landings) || !WriteJumps(*led, begin, end, landings)) {
    result = LedRuntime::kRefused;
  }
  if (result != LedRuntime::kLed) free(led);
  return result;
}

}  // namespace graphkit
