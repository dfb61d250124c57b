// The command line: one table of subcommands, one file each.
#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app("Inspect what CUDA graphs capture, what memory they keep, and what may share it",
               "graphkit");
  app.set_version_flag("--version", "graphkit " GRAPHKIT_VERSION);
  CLI11_PARSE(app, argc, argv);
  return 0;
}
