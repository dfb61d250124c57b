// Writes the traces of many.h: FOLDER/KIND.SIZE.json for each kind and each size.
//
//     many_traces FOLDER SIZE…
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "libgraphkit/io/trace/trace_writer.h"
#include "libgraphkit/ran/resolve.h"
#include "tests/linear/many.h"

int main(int argc, char** argv) {
  for (const graphkit::ManyKind& kind : graphkit::ManyKinds()) {
    for (int i = 2; i < argc; ++i) {
      const std::string path =
          std::string(argv[1]) + "/" + std::string(kind.name) + "." + argv[i] + ".json";
      graphkit::Ran ran = kind.make(static_cast<uint32_t>(std::atoi(argv[i])));
      const auto written = graphkit::WriteTrace(graphkit::AsRecorded(std::move(ran)), path);
      if (written) continue;
      std::fprintf(stderr, "%s\n", written.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
