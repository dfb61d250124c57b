// Memory, events and pools of another process: one exports, the other one imports and answers. Both
// use the first device.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "conformance.h"

namespace {

constexpr size_t kBytes = (1 << 18) + 700;
constexpr size_t kSmall = 600;
constexpr auto kFile = cudaMemHandleTypePosixFileDescriptor;
constexpr unsigned kEvent = cudaEventInterprocess | cudaEventDisableTiming;

int other = -1;  // the socket to the other process
bool exports = false;

template <typename T>
void Send(const T& value) {
  EXPECT(write(other, &value, sizeof value) == ssize_t{sizeof value});
}
template <typename T>
T Get() {
  T value{};
  EXPECT(recv(other, &value, sizeof value, MSG_WAITALL) == ssize_t{sizeof value});
  return value;
}
// Both processes have come here.
void Meet() {
  Send('.');
  EXPECT(Get<char>() == '.');
}

void SendFile(int file) {
  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  EXPECT(sendmsg(other, &message, 0) == 1);
}
int GetFile() {
  char byte = 0;
  int file = -1;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  EXPECT(recvmsg(other, &message, 0) == 1);
  std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  return file;
}

std::vector<char> Read(const void* at, size_t bytes) {
  std::vector<char> host(bytes);
  EXPECT_OK(cudaMemcpy(host.data(), at, bytes, cudaMemcpyDeviceToHost));
  return host;
}
bool Holds(const void* at, size_t bytes, char value) {
  return Read(at, bytes) == std::vector<char>(bytes, value);
}
char* Allocate(size_t bytes, char value) {
  char* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, bytes));
  EXPECT_OK(cudaMemset(memory, value, bytes));
  return memory;
}
char* Open(const cudaIpcMemHandle_t& handle) {
  void* memory = nullptr;
  EXPECT_OK(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess));
  return static_cast<char*>(memory);
}

// Another process sees what the default stream was given only after it is done.
void AwaitDefaultStream() { EXPECT_OK(cudaDeviceSynchronize()); }

// A large block, and two small ones that may lie in one page.
// effect: cudaIpcGetMemHandle cudaIpcOpenMemHandle cudaIpcCloseMemHandle
void ExportMemory() {
  char* large = Allocate(kBytes, 1);
  char* first = Allocate(kSmall, 2);
  char* second = Allocate(kSmall, 3);
  AwaitDefaultStream();
  for (char* memory : {large, first, second}) {
    cudaIpcMemHandle_t handle = {};
    EXPECT_OK(cudaIpcGetMemHandle(&handle, memory));
    Send(handle);
    void* own = nullptr;
    EXPECT_ERROR(cudaErrorDeviceUninitialized,
                 cudaIpcOpenMemHandle(&own, handle, cudaIpcMemLazyEnablePeerAccess));
  }
  Meet();  // the other one has read it
  EXPECT_OK(cudaMemset(large, 4, kBytes));
  EXPECT_OK(cudaMemset(second, 5, kSmall));
  AwaitDefaultStream();
  Meet();
  Meet();  // and has written
  EXPECT(Holds(large, 100, 4) && Holds(large + 100, 70000, 6));
  EXPECT(Holds(large + 70100, kBytes - 70100, 4));
  EXPECT(Holds(first, kSmall, 2) && Holds(second, kSmall, 7));
  for (char* memory : {large, first, second}) EXPECT_OK(cudaFree(memory));

  cudaIpcMemHandle_t handle = {};
  int local = 0;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, &local));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaIpcCloseMemHandle(&local));
}

void ImportMemory() {
  const auto handle = Get<cudaIpcMemHandle_t>();
  char* large = Open(handle);
  char* first = Open(Get<cudaIpcMemHandle_t>());
  char* second = Open(Get<cudaIpcMemHandle_t>());
  EXPECT(Open(handle) == large);  // counted
  EXPECT(Holds(large, kBytes, 1) && Holds(first, kSmall, 2) && Holds(second, kSmall, 3));
  Meet();
  Meet();
  EXPECT(Holds(large, kBytes, 4) && Holds(second, kSmall, 5));
  EXPECT_OK(cudaMemset(large + 100, 6, 70000));
  EXPECT_OK(cudaMemset(second, 7, kSmall));
  AwaitDefaultStream();
  Meet();
  void* memory = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaIpcOpenMemHandle(&memory, handle, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(large));
  EXPECT_OK(cudaIpcCloseMemHandle(large));
  EXPECT_OK(cudaIpcCloseMemHandle(large));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaIpcCloseMemHandle(large));
  EXPECT_OK(cudaIpcCloseMemHandle(first));
  EXPECT_OK(cudaIpcCloseMemHandle(second));
}

// The other process's copy comes after what a stream here, which is held up, does before a record.
// effect: cudaIpcGetEventHandle cudaIpcOpenEventHandle cudaStreamWaitEvent cudaEventQuery
void ExportEvent() {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaEvent_t plain = nullptr;
  unsigned* hold = nullptr;
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  EXPECT_OK(cudaEventCreateWithFlags(&event, kEvent));
  EXPECT_OK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
  EXPECT_OK(cudaMallocHost(&hold, sizeof *hold));
  *hold = 0;
  char* memory = Allocate(kBytes, 1);
  AwaitDefaultStream();
  cudaIpcMemHandle_t handle = {};
  cudaIpcEventHandle_t event_handle = {};
  EXPECT_ERROR(cudaErrorInvalidValue, cudaIpcGetEventHandle(&event_handle, plain));
  EXPECT_OK(cudaIpcGetMemHandle(&handle, memory));
  EXPECT_OK(cudaIpcGetEventHandle(&event_handle, event));
  EXPECT_OK(cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(hold), 1,
                                CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_OK(cudaMemsetAsync(memory, 9, kBytes, stream));
  EXPECT_OK(cudaEventRecord(event, stream));
  EXPECT_ERROR(cudaErrorNotReady, cudaEventQuery(event));
  Send(handle);
  Send(event_handle);
  Meet();  // it waits
  *static_cast<volatile unsigned*>(hold) = 1;
  Meet();  // and has recorded the event itself
  EXPECT_OK(cudaEventSynchronize(event));
  EXPECT(Holds(memory, kBytes, 11));
  EXPECT_OK(cudaEventDestroy(event));
  EXPECT_OK(cudaEventDestroy(plain));
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_OK(cudaFree(memory));
  EXPECT_OK(cudaFreeHost(hold));
  cudaEvent_t own = nullptr;
  EXPECT_ERROR(cudaErrorDeviceUninitialized, cudaIpcOpenEventHandle(&own, event_handle));
}

void ImportEvent() {
  char* memory = Open(Get<cudaIpcMemHandle_t>());
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  char* host = nullptr;
  EXPECT_OK(cudaIpcOpenEventHandle(&event, Get<cudaIpcEventHandle_t>()));
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  EXPECT_OK(cudaMallocHost(&host, kBytes));
  EXPECT_ERROR(cudaErrorNotReady, cudaEventQuery(event));
  EXPECT_OK(cudaStreamWaitEvent(stream, event, 0));
  EXPECT_OK(cudaMemcpyAsync(host, memory, kBytes, cudaMemcpyDeviceToHost, stream));
  EXPECT_ERROR(cudaErrorNotReady, cudaStreamQuery(stream));
  Meet();
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(host[0] == 9 && host[kBytes - 1] == 9);
  EXPECT_OK(cudaEventQuery(event));
  EXPECT_OK(cudaMemsetAsync(memory, 11, kBytes, stream));
  EXPECT_OK(cudaEventRecord(event, stream));
  EXPECT_OK(cudaEventSynchronize(event));
  Meet();
  EXPECT_OK(cudaEventDestroy(event));
  EXPECT_OK(cudaIpcCloseMemHandle(memory));
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_OK(cudaFreeHost(host));
}

// effect: cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle
// effect: cudaMemPoolExportPointer cudaMemPoolImportPointer
void ExportPool() {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = kFile;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  void* memory = nullptr;
  int file = -1;
  cudaMemPoolPtrExportData data = {};
  EXPECT_OK(cudaMemPoolCreate(&pool, &properties));
  EXPECT_OK(cudaMemPoolExportToShareableHandle(&file, pool, kFile, 0));
  EXPECT_OK(cudaMallocFromPoolAsync(&memory, kBytes, pool, nullptr));
  EXPECT_OK(cudaMemset(memory, 12, kBytes));
  AwaitDefaultStream();
  EXPECT_OK(cudaMemPoolExportPointer(&data, memory));
  SendFile(file);
  Send(data);
  close(file);
  Meet();
  EXPECT(Holds(memory, kBytes, 13));
  EXPECT_OK(cudaFreeAsync(memory, nullptr));
  AwaitDefaultStream();
  EXPECT_OK(cudaMemPoolDestroy(pool));
}

void ImportPool() {
  cudaMemPool_t pool = nullptr;
  void* memory = nullptr;
  const int file = GetFile();
  auto data = Get<cudaMemPoolPtrExportData>();
  void* handle = reinterpret_cast<void*>(static_cast<intptr_t>(file));
  EXPECT_OK(cudaMemPoolImportFromShareableHandle(&pool, handle, kFile, 0));
  EXPECT_OK(cudaMemPoolImportPointer(&memory, pool, &data));
  close(file);
  EXPECT(Holds(memory, kBytes, 12));
  EXPECT_OK(cudaMemsetAsync(memory, 13, kBytes, nullptr));
  EXPECT_OK(cudaFreeAsync(memory, nullptr));
  AwaitDefaultStream();
  Meet();
  cudaMemPoolPtrExportData wrong = {};
  EXPECT_FAILS(cudaMemPoolImportPointer(&memory, pool, &wrong));
  ON_SOFT(EXPECT_OK(cudaMemPoolDestroy(pool)));
}

// A piece of memory mapped to addresses.
struct Piece {
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  static constexpr size_t kSize = size_t{2} << 20;

  void Map() {
    CUmemAccessDesc access = {};
    access.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    EXPECT_OK(cuMemAddressReserve(&address, kSize, 0, 0, 0));
    EXPECT_OK(cuMemMap(address, kSize, 0, handle, 0));
    EXPECT_OK(cuMemSetAccess(address, kSize, &access, 1));
  }
  void Unmap() {
    EXPECT_OK(cuMemUnmap(address, kSize));
    EXPECT_OK(cuMemAddressFree(address, kSize));
    EXPECT_OK(cuMemRelease(handle));
  }
  void* data() const { return reinterpret_cast<void*>(address); }
};
constexpr auto kPosix = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

// effect: cuMemExportToShareableHandle cuMemImportFromShareableHandle
void ExportPiece() {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = kPosix;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
  Piece piece;
  EXPECT_OK(cuMemCreate(&piece.handle, Piece::kSize, &properties, 0));
  piece.Map();
  EXPECT_OK(cudaMemset(piece.data(), 14, kBytes));
  AwaitDefaultStream();
  for (int times = 0; times < 2; ++times) {
    int file = -1;
    EXPECT_OK(cuMemExportToShareableHandle(&file, piece.handle, kPosix, 0));
    SendFile(file);
    close(file);
  }
  Meet();
  EXPECT(Holds(piece.data(), kBytes, 15));
  piece.Unmap();
}

void ImportPiece() {
  size_t before = 0, after = 0, total = 0;
  Piece piece, again;
  EXPECT_OK(cudaMemGetInfo(&before, &total));
  for (Piece* imported : {&piece, &again}) {
    const int file = GetFile();
    void* handle = reinterpret_cast<void*>(static_cast<intptr_t>(file));
    EXPECT_OK(cuMemImportFromShareableHandle(&imported->handle, handle, kPosix));
    close(file);
    imported->Map();
  }
  ON_SOFT({
    EXPECT_OK(cudaMemGetInfo(&after, &total));
    EXPECT(after == before);
  });
  EXPECT(Holds(piece.data(), kBytes, 14));
  EXPECT_OK(cudaMemset(piece.data(), 15, kBytes));
  AwaitDefaultStream();
  EXPECT(Holds(again.data(), kBytes, 15));
  piece.Unmap();
  EXPECT(Holds(again.data(), kBytes, 15));
  again.Unmap();
  Meet();
  int ends[2] = {};
  EXPECT(pipe(ends) == 0);
  void* wrong = reinterpret_cast<void*>(static_cast<intptr_t>(ends[0]));
  EXPECT_FAILS(cuMemImportFromShareableHandle(&piece.handle, wrong, kPosix));
}

CASE(Memory) { exports ? ExportMemory() : ImportMemory(); }
CASE(Events) { exports ? ExportEvent() : ImportEvent(); }
CASE(Pools) { exports ? ExportPool() : ImportPool(); }
CASE(Pieces) { exports ? ExportPiece() : ImportPiece(); }

}  // namespace

int main() {
  int ends[2] = {};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 2;
  const pid_t child = fork();
  exports = child != 0;
  other = ends[exports ? 0 : 1];
  close(ends[exports ? 1 : 0]);
  EXPECT_OK(cudaFree(nullptr));
  conformance::RunCases();
  if (!exports) return conformance::Finish("ipc, the importing process");
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  return conformance::Finish("ipc");
}
