// A CUDA program that does with descriptors as it likes, for descriptors.py: it captures, closes
// what isn't its own, opens files under the numbers that it gets, writes them, and captures more.
//
//     descriptors HOW FOLDER [TRACE]
//
// HOW: twice      closes a number that it has closed already
//      from       closefrom(3), before and after CUDA is initialised
//      range      close_range(3, ~0)
//      all        close_range(0, ~0)
//      over       dup2 of its own file over every number to 63
//      reuse      closes and opens all numbers below 40, again and again
//      folder     chdir to FOLDER/elsewhere
//      forks      the child does all of it as well, in FOLDER/child
//      none       nothing of the kind: prints which descriptors there are that aren't its own
// and what is done to TRACE between the captures:
//      moved, deleted, replaced, cut (to nothing), locked out (no descriptor is left), jailed
//      (chroot)
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr int kFiles = 4;
constexpr size_t kFileBytes = size_t{3} << 20;
constexpr int kNodes = 20000;  // several MiB of records

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "descriptors: %s failed\n", what);
  _exit(3);
}

void Check(cudaError_t error) {
  if (error != cudaSuccess) Fail(cudaGetErrorName(error));
}

void Nothing(void*) {}

void Capture(int nodes) {
  cudaStream_t stream;
  cudaGraph_t graph;
  Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < nodes; ++i) Check(cudaLaunchHostFunc(stream, Nothing, nullptr));
  Check(cudaStreamEndCapture(stream, &graph));
}

template <typename... Params>
void Driver(const char* name, Params... params) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* symbol = driver != nullptr ? dlsym(driver, name) : nullptr;
  if (symbol == nullptr || reinterpret_cast<CUresult (*)(Params...)>(symbol)(params...) != 0)
    Fail(name);
}

// Memory of the device that is filled, copied and mapped, before descriptors are closed and after.
class DeviceMemory {
 public:
  DeviceMemory() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    Driver("cuMemCreate", &handle_, kBytes, &properties, 0ull);
    Driver("cuMemAddressReserve", &mapped_, 2 * kBytes, size_t{0}, CUdeviceptr{0}, 0ull);
    Map(0);
    Check(cudaMalloc(&plain_, kBytes));
    Use(1);
  }
  // Filled by words, copied to memory that is mapped twice, and read by the host.
  void Use(uint32_t word) {
    std::vector<uint32_t> host(kBytes / sizeof word);
    Driver("cuMemsetD32_v2", reinterpret_cast<CUdeviceptr>(plain_), word, host.size());
    Driver("cuMemcpyDtoD_v2", mapped_, reinterpret_cast<CUdeviceptr>(plain_), kBytes);
    Driver("cuMemsetD32_v2", reinterpret_cast<CUdeviceptr>(plain_), ~word, host.size());
    Driver("cuMemcpyDtoH_v2", static_cast<void*>(host.data()), mapped_, kBytes);
    for (const uint32_t got : host) {
      if (got != word) Fail("a fill");
    }
  }
  void UseAgain() {
    Use(2);
    Map(kBytes);
    std::vector<uint32_t> host(kBytes / sizeof(uint32_t));
    Driver("cuMemcpyDtoH_v2", static_cast<void*>(host.data()), mapped_ + kBytes, kBytes);
    for (const uint32_t got : host) {
      if (got != 2) Fail("a second mapping");
    }
  }

 private:
  static constexpr size_t kBytes = size_t{4} << 20;

  void Map(size_t offset) {
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    Driver("cuMemMap", mapped_ + offset, kBytes, size_t{0}, handle_, 0ull);
    Driver("cuMemSetAccess", mapped_ + offset, kBytes, &access, size_t{1});
  }

  CUmemGenericAllocationHandle handle_ = 0;
  CUdeviceptr mapped_ = 0;
  void* plain_ = nullptr;
};

std::set<std::string> OpenNumbers() {
  std::set<std::string> names;
  DIR* folder = opendir("/proc/self/fd");
  const std::string own = std::to_string(dirfd(folder));
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.' && own != entry->d_name) names.insert(entry->d_name);
  }
  closedir(folder);
  return names;
}

// A file of the program's own: byte i of file n is (i + 7 n) % 251.
class OwnFiles {
 public:
  explicit OwnFiles(std::string folder) : folder_(std::move(folder)) {}
  void Open() {
    for (int i = 0; i < kFiles; ++i) {
      const std::string path = folder_ + "/out" + std::to_string(i);
      files_.push_back(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600));
      if (files_.back() < 0) Fail("open");
    }
  }
  const std::vector<int>& numbers() const { return files_; }
  // Half of each: called twice.
  void Write() {
    std::vector<char> bytes(kFileBytes / 2);
    for (size_t n = 0; n < files_.size(); ++n) {
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>((written_ + i + 7 * n) % 251);
      if (write(files_[n], bytes.data(), bytes.size()) != ssize_t(bytes.size())) Fail("write");
    }
    written_ += bytes.size();
  }

 private:
  std::string folder_;
  std::vector<int> files_;
  size_t written_ = 0;
};

void CloseAs(const std::string& how, int closed) {
  if (how == "twice") close(closed);
  if (how == "from") closefrom(3);
  if (how == "range") close_range(3, ~0u, 0);
  if (how == "all") close_range(0, ~0u, 0);
  if (how == "reuse") {
    for (int number = 3; number < 40; ++number) close(number);
  }
}

void DoTo(const std::string& how, const std::string& trace, const std::string& folder) {
  bool done = true;
  if (how == "moved") done = rename(trace.c_str(), (folder + "/moved.json").c_str()) == 0;
  if (how == "deleted" || how == "replaced") done = unlink(trace.c_str()) == 0;
  if (how == "replaced") done = close(open(trace.c_str(), O_WRONLY | O_CREAT, 0600)) == 0;
  if (how == "cut") done = truncate(trace.c_str(), 0) == 0;
  if (how == "locked") {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    done = setrlimit(RLIMIT_NOFILE, &none) == 0;
  }
  if (how == "jailed" && (chroot(folder.c_str()) != 0 || chdir("/") != 0)) _exit(77);
  if (how == "folder") done = chdir((folder + "/elsewhere").c_str()) == 0;
  if (!done) Fail("what is done to the trace");
}

// Numbers are the program's, whatever was opened under them before.
void Run(const std::string& how, const std::string& folder, const char* trace) {
  const int closed = open("/dev/null", O_RDONLY);
  if (how == "from") closefrom(3);
  Check(cudaFree(nullptr));
  close(closed);
  DeviceMemory memory;
  Capture(1);
  CloseAs(how, closed);
  OwnFiles files(folder);
  files.Open();
  if (how == "over") {
    for (int number = 10; number < 64; ++number) dup2(files.numbers()[0], number);
  }
  if (trace != nullptr || how == "folder") DoTo(how, trace != nullptr ? trace : "", folder);
  files.Write();
  Capture(kNodes);
  memory.UseAgain();
  if (how == "reuse") {
    OwnFiles more(folder);
    CloseAs(how, closed);
    more.Open();
    more.Write();
    files = more;
    Capture(1);
  }
  files.Write();
  Capture(1);
}

}  // namespace

int main(int, char** argv) {
  const std::string how = argv[1], folder = argv[2];
  if (how == "none") {
    const std::set<std::string> before = OpenNumbers();
    Check(cudaFree(nullptr));
    DeviceMemory memory;
    Capture(kNodes);
    memory.UseAgain();
    for (const std::string& number : OpenNumbers()) {
      if (before.count(number) == 0) std::printf("%s\n", number.c_str());
    }
    return 0;
  }
  if (how != "forks") {
    Run(how, folder, argv[3]);
    return 0;
  }
  Check(cudaFree(nullptr));
  Capture(1);
  const pid_t child = fork();
  Run("range", child == 0 ? folder + "/child" : folder, nullptr);
  if (child == 0) return 0;
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 4;
}
