// Functions with names of PyTorch's that call back: one asks for a workspace, the other doesn't.
#define EXPORTED(name) \
  extern "C" __attribute__((visibility("default"), noinline)) void name(void (*probe)())

EXPORTED(_ZN2at4cuda24getCurrentCUDABlasHandleEv) {
  probe();
  asm volatile("" ::: "memory");  // not the last thing that it does: it stays on the stack
}

EXPORTED(_ZN2at4cuda5emptyEv) {
  probe();
  asm volatile("" ::: "memory");
}
