// Writes the traces of many.h: FOLDER/KIND.SIZE.json for each kind and each size.
//
//     many_traces FOLDER SIZE…
#include <cstdio>
#include <cstdlib>
#include <string>

#include "libgraphkit/io/trace/trace_file.h"
#include "tests/linear/many.h"

int main(int argc, char** argv) {
  for (const graphkit::ManyKind& kind : graphkit::ManyKinds()) {
    for (int i = 2; i < argc; ++i) {
      const std::string path =
          std::string(argv[1]) + "/" + std::string(kind.name) + "." + argv[i] + ".json";
      const auto written =
          graphkit::WriteTrace(kind.make(static_cast<uint32_t>(std::atoi(argv[i]))), path);
      if (written) continue;
      std::fprintf(stderr, "%s\n", written.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
