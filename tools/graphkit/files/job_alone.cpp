#include "tools/graphkit/files/job.h"

namespace graphkit {

Job::Job() = default;
Job::~Job() = default;
void Job::Send(const std::string&, int) const {}
std::string Job::Receive(int) const { return ""; }

}  // namespace graphkit
