// The processes that share the work: those of an MPI job (`mpirun -n 4 graphkit …`) where graphkit
// was built with MPI, otherwise this one alone.
#pragma once

#include <string>

namespace graphkit {

// MPI, from construction to destruction, for the main thread alone. Without a job around it (no
// launcher of MPI started this process) it costs nothing.
class Job {
 public:
  Job();
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int rank() const { return rank_; }  // 0 speaks and writes
  int size() const { return size_; }

  // Waits until it is taken when it is large, so that who reads fast doesn't fill who writes.
  void Send(const std::string& bytes, int to) const;
  std::string Receive(int from) const;

 private:
  int rank_ = 0, size_ = 1;
  [[maybe_unused]] bool started_ = false;  // MPI: and is to be ended
};

}  // namespace graphkit
