#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "tools/graphkit/files/job.h"

namespace graphkit {

namespace {

constexpr int kTag = 0;
constexpr uint64_t kMostAtOnce = uint64_t{1} << 30;  // MPI counts in int

// Variables that launchers set: Open MPI, PMI (MPICH, Slurm), PMIx.
bool InJob() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

}  // namespace

Job::Job() {
  if (!InJob()) return;
  setenv("NO_COLOR", "1", 1);  // launchers put a pseudoterminal before their own output
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  started_ = true;
}

Job::~Job() {
  if (started_) MPI_Finalize();
}

void Job::Send(const std::string& bytes, int to) const {
  const uint64_t size = bytes.size();
  MPI_Send(&size, 1, MPI_UINT64_T, to, kTag, MPI_COMM_WORLD);
  for (uint64_t at = 0; at < size; at += kMostAtOnce) {
    const int count = static_cast<int>(std::min(kMostAtOnce, size - at));
    MPI_Ssend(bytes.data() + at, count, MPI_BYTE, to, kTag, MPI_COMM_WORLD);
  }
}

std::string Job::Receive(int from) const {
  uint64_t size = 0;
  MPI_Recv(&size, 1, MPI_UINT64_T, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::string bytes(size, '\0');
  for (uint64_t at = 0; at < size; at += kMostAtOnce) {
    const int count = static_cast<int>(std::min(kMostAtOnce, size - at));
    MPI_Recv(bytes.data() + at, count, MPI_BYTE, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return bytes;
}

}  // namespace graphkit
