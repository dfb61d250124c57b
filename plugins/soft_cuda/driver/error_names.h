// Names and short texts of errors.
#pragma once

#include <cuda.h>

namespace graphkit::soft::driver {

struct ErrorName {
  int code;
  const char* name;
  const char* text;
};

const ErrorName* FindError(CUresult error);  // null: no such error

}  // namespace graphkit::soft::driver
