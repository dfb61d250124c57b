// A library to be preloaded that needs as much static thread-local storage as a sanitizer's runtime
// does; jemalloc needs less.
namespace {

[[gnu::tls_model("initial-exec")]] thread_local volatile char storage[256 * 1024];

__attribute__((constructor)) void Use() { storage[0] = 1; }

}  // namespace
