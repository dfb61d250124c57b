// A library to be preloaded that needs as much static thread-local storage as a sanitizer's runtime
// does, or, the small one, more than jemalloc.
namespace {

[[gnu::tls_model("initial-exec")]] thread_local volatile char storage[STORAGE];

__attribute__((constructor)) void Use() { storage[0] = 1; }

}  // namespace
