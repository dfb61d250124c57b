#include "libgraphkit/generate/synth_program.h"

namespace graphkit {
namespace {

void RunBranch(SynthProgram& program, uint32_t stream) {
  const BlockId first = program.Produce(stream, {});
  const BlockId second = program.Produce(stream, {first});
  program.Free(first);
  program.Free(second);
}

}  // namespace

void SynthesizeForkJoin(SynthProgram& program) {
  const uint32_t streams = program.stream_count();
  while (!program.done()) {
    program.Kernel(0, {});
    for (uint32_t i = 1; i < streams; ++i) program.Wait(i, 0);
    for (uint32_t i = 1; i < streams && !program.done(); ++i) RunBranch(program, i);
    for (uint32_t i = 1; i < streams; ++i) program.Wait(0, i);
  }
  program.Kernel(0, {});
}

void SynthesizeOneByOne(SynthProgram& program) {
  for (uint32_t next = 0; !program.done(); ++next) {
    const uint32_t stream =
        program.stream_count() == 1 ? 0 : 1 + next % (program.stream_count() - 1);
    program.Kernel(0, {});
    program.Wait(stream, 0);
    RunBranch(program, stream);
    program.Wait(0, stream);
  }
  program.Kernel(0, {});
}

void SynthesizeRelay(SynthProgram& program) {
  for (uint32_t next = 0; !program.done(); ++next) {
    const uint32_t stream = next % program.stream_count();
    if (next > 0) program.Wait(stream, (next - 1) % program.stream_count());
    RunBranch(program, stream);
  }
}

}  // namespace graphkit
