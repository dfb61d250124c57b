// Says on stderr, once for each text, why a program can't go on here as it would on a GPU.
#pragma once

namespace graphkit::soft::driver {

void Explain(const char* text);

}  // namespace graphkit::soft::driver
