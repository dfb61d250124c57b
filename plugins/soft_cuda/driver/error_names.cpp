#include "plugins/soft_cuda/driver/error_names.h"

namespace graphkit::soft::driver {
namespace {

constexpr ErrorName kErrors[] = {
#include "driver_errors.inc"
};

}  // namespace

const ErrorName* FindError(CUresult error) {
  for (const ErrorName& row : kErrors) {
    if (row.code == static_cast<int>(error)) return &row;
  }
  return nullptr;
}

}  // namespace graphkit::soft::driver
