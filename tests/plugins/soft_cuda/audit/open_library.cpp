// open_library LIBRARY THREADS: opens the library late, and calls its Capture() in all threads at
// once: their first calls into the runtime inside of it meet.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto capture = reinterpret_cast<int (*)()>(dlsym(library, "Capture"));
  if (capture == nullptr) return 1;
  const int count = std::atoi(argv[2]);
  std::atomic<int> waiting = count, nodes = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      --waiting;
      while (waiting != 0) std::this_thread::yield();
      nodes += capture();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("nodes %d\n", nodes.load());
}
