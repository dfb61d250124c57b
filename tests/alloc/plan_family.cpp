#include "tests/alloc/plan_family.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "libgraphkit/random.h"

namespace graphkit {
namespace {

constexpr Bytes kGranule = 512;

// A program that allocates and frees; an operation takes one unit of time.
class Program {
 public:
  explicit Program(Random* random) : random_(*random) {}

  uint32_t Alloc(Bytes size) {
    problem_.blocks.push_back({.size = RoundUp(std::max<Bytes>(size, 1), kGranule)});
    problem_.lifetimes.push_back({now_, kAlive});
    return static_cast<uint32_t>(problem_.blocks.size() - 1);
  }
  void Free(uint32_t block) {
    if (problem_.lifetimes[block].end == kAlive) problem_.lifetimes[block].end = now_;
  }
  // An operation that reads and writes what is alive; it may need a workspace.
  void Run(Bytes workspace = 0) {
    const bool needs = workspace > 0 && random_.Chance(0.5);
    const uint32_t space = needs ? Alloc(workspace) : 0;
    ++now_;
    if (needs) Free(space);
  }
  // An operation with an output.
  uint32_t Compute(Bytes size, Bytes workspace = 0) {
    const uint32_t block = Alloc(size);
    Run(workspace);
    return block;
  }
  LifetimeProblem End() {
    for (uint32_t block = 0; block < problem_.blocks.size(); ++block) Free(block);
    return std::move(problem_);
  }

 private:
  static constexpr int64_t kAlive = INT64_MAX;
  Random& random_;
  LifetimeProblem problem_;
  int64_t now_ = 0;
};

// Between the two, every doubling equally often.
Bytes LogSize(Random* random, Bytes least, Bytes most) {
  const double share = static_cast<double>(random->Below(1u << 20)) / (1u << 20);
  const double ratio = static_cast<double>(most) / static_cast<double>(least);
  return static_cast<Bytes>(static_cast<double>(least) * std::pow(ratio, share));
}

using Saved = std::vector<uint32_t>;

void FreeAll(Program* program, const Saved& blocks) {
  for (const uint32_t block : blocks) program->Free(block);
}

// Layers of various widths, forward and backward: most outputs stay until their gradient is made.
LifetimeProblem Training(Random* random, uint64_t blocks) {
  Program program(random);
  std::vector<std::pair<Bytes, Saved>> layers;
  uint32_t last = program.Compute(LogSize(random, 1 << 16, 1 << 22));
  for (uint64_t made = 0; made < blocks / 2; made += 3) {
    const Bytes width = LogSize(random, 1 << 14, 1 << 22);
    const uint32_t norm = program.Compute(width / 4);
    const uint32_t out = program.Compute(width, width / 8);
    layers.push_back({width, {last, out}});
    if (random->Chance(0.6)) layers.back().second.push_back(norm);
    if (random->Chance(0.4)) program.Free(norm);
    last = program.Compute(width);
  }
  uint32_t gradient = program.Compute(layers.back().first);
  for (; !layers.empty(); layers.pop_back()) {
    const auto& [width, saved] = layers.back();
    const uint32_t weights = program.Compute(width / 2, width / 3);
    const uint32_t next = program.Compute(width, width / 8);
    FreeAll(&program, saved);
    program.Free(gradient);
    if (random->Chance(0.7)) program.Free(weights);
    gradient = next;
  }
  return program.End();
}

// Attention: scores grow with the square of the sequence's length, which differs by micro batch.
LifetimeProblem Transformer(Random* random, uint64_t blocks) {
  Program program(random);
  const Bytes hidden = 256 * (1 + random->Below(8));
  for (uint64_t made = 0; made < blocks;) {
    const Bytes length = 64 * (1 + random->Below(24));
    const Bytes tokens = length * hidden;
    std::vector<Saved> layers;
    uint32_t residual = program.Compute(tokens);
    for (uint64_t layer = 2 + random->Below(6); layer > 0; --layer, made += 11) {
      const Saved qkv = {program.Compute(tokens), program.Compute(tokens), program.Compute(tokens)};
      const uint32_t scores = program.Compute(length * length * 8);
      const uint32_t weights = program.Compute(length * length * 8);
      program.Free(scores);
      const uint32_t context = program.Compute(tokens, tokens / 2);
      FreeAll(&program, qkv);
      const uint32_t inner = program.Compute(4 * tokens);
      const uint32_t active = program.Compute(4 * tokens);
      program.Free(random->Chance(0.5) ? inner : weights);
      const uint32_t out = program.Compute(tokens, tokens);
      layers.push_back({residual, weights, context, inner, active});
      residual = out;
    }
    for (; !layers.empty(); layers.pop_back()) {
      const uint32_t gradient = program.Compute(4 * tokens, tokens);
      FreeAll(&program, layers.back());
      const uint32_t next = program.Compute(tokens);
      program.Free(gradient);
      program.Free(residual);
      residual = next;
    }
    program.Free(residual);
  }
  return program.End();
}

// Down and up again: what a level leaves on its way down is read on the way up.
LifetimeProblem UNet(Random* random, uint64_t blocks) {
  Program program(random);
  for (uint64_t made = 0; made < blocks;) {
    std::vector<std::pair<Bytes, uint32_t>> skips;
    Bytes size = LogSize(random, 1 << 18, 1 << 23);
    uint32_t last = program.Compute(size);
    for (uint64_t level = 3 + random->Below(4); level > 0;
         --level, size = size * 5 / 8, made += 6) {
      for (uint64_t i = 1 + random->Below(3); i > 0; --i) {
        const uint32_t next = program.Compute(size, size / 3);
        program.Free(last);
        last = next;
      }
      skips.push_back({size, last});
      last = program.Compute(size / 2);
    }
    for (; !skips.empty(); skips.pop_back()) {
      const Bytes width = skips.back().first;
      const uint32_t joined = program.Compute(2 * width);
      program.Free(last);
      program.Free(skips.back().second);
      last = program.Compute(width, width);
      program.Free(joined);
    }
    program.Free(last);
  }
  return program.End();
}

// Tokens go to experts unevenly: buffers of all sizes at once.
LifetimeProblem Experts(Random* random, uint64_t blocks) {
  Program program(random);
  const uint64_t experts = 4 + random->Below(12);
  std::vector<Saved> saved;
  for (uint64_t made = 0; made < blocks; made += 3 * experts + 2) {
    const uint32_t sent = program.Compute(LogSize(random, 1 << 18, 1 << 22));
    Saved inputs, outputs, kept;
    for (uint64_t e = 0; e < experts; ++e) {
      inputs.push_back(program.Alloc(LogSize(random, 1 << 12, 1 << 20)));
    }
    program.Run();
    program.Free(sent);
    for (uint64_t e = 0; e < experts; ++e) {
      const uint32_t inner = program.Compute(LogSize(random, 1 << 13, 1 << 21));
      outputs.push_back(program.Compute(LogSize(random, 1 << 12, 1 << 20)));
      program.Free(random->Chance(0.8) ? inputs[e] : inner);
      if (random->Chance(0.5)) program.Free(inner);
      kept.push_back(inner);
      kept.push_back(inputs[e]);
    }
    kept.push_back(program.Compute(LogSize(random, 1 << 18, 1 << 22)));
    FreeAll(&program, outputs);
    saved.push_back(std::move(kept));
    if (saved.size() > 3) FreeAll(&program, saved[random->Below(saved.size())]);
  }
  return program.End();
}

// Graphs captured one after the other into a private pool: what a graph returns stays for some of
// the next ones, what other streams used stays until its streams join.
LifetimeProblem Captures(Random* random, uint64_t blocks) {
  Program program(random);
  std::vector<uint32_t> outputs;
  for (uint64_t made = 0; made < blocks;) {
    Saved deferred;
    for (uint64_t op = 10 + random->Below(30); op > 0; --op, ++made) {
      const uint32_t block = program.Compute(LogSize(random, 1 << 12, 1 << 24));
      deferred.push_back(block);
      if (random->Chance(0.5)) program.Free(deferred[random->Below(deferred.size())]);
      if (random->Chance(0.1)) FreeAll(&program, std::exchange(deferred, {}));
    }
    FreeAll(&program, deferred);
    for (uint64_t i = random->Below(4); i > 0; --i) {
      outputs.push_back(program.Compute(LogSize(random, 1 << 16, 1 << 22)));
    }
    if (outputs.size() > 6) program.Free(outputs[random->Below(outputs.size())]);
  }
  return program.End();
}

// Gradients go into buckets, each of which is reduced some time after its last gradient.
LifetimeProblem Buckets(Random* random, uint64_t blocks) {
  Program program(random);
  Saved activations, gradients, reducing;
  for (uint64_t i = 0; i < blocks / 3; ++i) {
    activations.push_back(program.Compute(LogSize(random, 1 << 14, 1 << 22)));
  }
  Bytes filled = 0;
  uint32_t bucket = program.Alloc(Bytes{1} << 23);
  for (; !activations.empty(); activations.pop_back()) {
    const Bytes size = LogSize(random, 1 << 13, 1 << 21);
    gradients.push_back(program.Compute(size, size));
    program.Free(activations.back());
    if (random->Chance(0.3)) program.Free(gradients[random->Below(gradients.size())]);
    filled += size;
    if (filled < Bytes{1} << 22) continue;
    filled = 0;
    FreeAll(&program, std::exchange(gradients, {}));
    reducing.push_back(std::exchange(bucket, program.Alloc(LogSize(random, 1 << 21, 1 << 23))));
    if (reducing.size() > 2) program.Free(reducing[reducing.size() - 3]);
  }
  return program.End();
}

// Requests come and go; each takes memory as it gets longer.
LifetimeProblem Serving(Random* random, uint64_t blocks) {
  Program program(random);
  std::vector<Saved> requests(4 + random->Below(12));
  for (uint64_t made = 0; made < blocks; ++made) {
    Saved& request = requests[random->Below(requests.size())];
    request.push_back(program.Compute(LogSize(random, 1 << 12, 1 << 21), 1 << 20));
    if (random->Chance(0.25)) FreeAll(&program, std::exchange(request, {}));
  }
  return program.End();
}

struct Rectangle {
  int64_t begin, end;  // time
  Bytes bottom, top;
};

// Cuts large rectangles until there are enough: in two, or into five around a middle one,
// which no cut from side to side takes apart.
LifetimeProblem Cut(Random* random, uint64_t blocks, double around) {
  const auto area = [](const Rectangle& r) {
    return static_cast<double>(r.end - r.begin) * static_cast<double>(r.top - r.bottom);
  };
  const auto between = [&](auto from, auto to) {
    const auto length = static_cast<uint64_t>(to - from);
    return from +
           static_cast<decltype(from)>(length / 5 + random->Below(length - 2 * (length / 5)));
  };
  std::vector<Rectangle> pieces = {{0, int64_t{1} << 20, 0, Bytes{1} << 20}};
  while (pieces.size() < blocks) {
    // Now and then another than the largest, so that sizes differ.
    const auto chosen = random->Chance(0.3)
                            ? pieces.begin() + static_cast<int64_t>(random->Below(pieces.size()))
                            : std::ranges::max_element(pieces, {}, area);
    const Rectangle r = std::exchange(*chosen, pieces.back());
    pieces.pop_back();
    if (std::min<Bytes>(static_cast<Bytes>(r.end - r.begin), r.top - r.bottom) < 8) {
      pieces.push_back(r);
      continue;
    }
    if (random->Chance(around)) {
      const int64_t left = between(r.begin, (r.begin + r.end) / 2);
      const int64_t right = between((r.begin + r.end) / 2, r.end);
      const Bytes low = between(r.bottom, (r.bottom + r.top) / 2);
      const Bytes high = between((r.bottom + r.top) / 2, r.top);
      pieces.insert(pieces.end(), {{r.begin, left, r.bottom, high},
                                   {left, r.end, r.bottom, low},
                                   {right, r.end, low, r.top},
                                   {r.begin, right, high, r.top},
                                   {left, right, low, high}});
    } else if (random->Chance(0.5)) {
      const int64_t time = between(r.begin, r.end);
      pieces.insert(pieces.end(),
                    {{r.begin, time, r.bottom, r.top}, {time, r.end, r.bottom, r.top}});
    } else {
      const Bytes offset = between(r.bottom, r.top);
      pieces.insert(pieces.end(),
                    {{r.begin, r.end, r.bottom, offset}, {r.begin, r.end, offset, r.top}});
    }
  }
  LifetimeProblem problem;
  for (const Rectangle& r : pieces) {
    problem.blocks.push_back({.size = r.top - r.bottom});
    problem.lifetimes.push_back({r.begin, r.end});
  }
  return problem;
}

LifetimeProblem CutInTwo(Random* random, uint64_t blocks) { return Cut(random, blocks, 0); }
LifetimeProblem CutAround(Random* random, uint64_t blocks) { return Cut(random, blocks, 0.6); }

// Nearly without slack: some blocks of a cut are gone or smaller.
LifetimeProblem CutLoosely(Random* random, uint64_t blocks) {
  const LifetimeProblem cut = Cut(random, blocks, 0.3);
  LifetimeProblem problem;
  for (size_t i = 0; i < cut.blocks.size(); ++i) {
    if (random->Chance(0.02)) continue;
    problem.blocks.push_back(cut.blocks[i]);
    problem.lifetimes.push_back(cut.lifetimes[i]);
    if (random->Chance(0.2)) problem.blocks.back().size -= cut.blocks[i].size / 16;
  }
  return problem;
}

struct TableShape {
  const char* name;
  LifetimeProblem (*make)(Random*, uint64_t blocks);
  bool cut = false;
};

constexpr std::array<TableShape, 10> kShapes = {{
    {"training", Training},
    {"transformer", Transformer},
    {"u-net", UNet},
    {"experts", Experts},
    {"captures", Captures},
    {"buckets", Buckets},
    {"serving", Serving},
    {"cut in two", CutInTwo, true},
    {"cut around", CutAround, true},
    {"cut loosely", CutLoosely, true},
}};

// Blocks of a problem, about, by turn; cuts are hard: fewer.
constexpr std::array<uint64_t, 10> kBlocks = {40, 70, 110, 160, 240, 360, 600, 1000, 1800, 3200};
constexpr uint64_t kCutPart = 4;

Bytes LargestLoad(const LifetimeProblem& problem) {
  std::map<int64_t, int64_t> changes;
  for (size_t i = 0; i < problem.blocks.size(); ++i) {
    const auto size = static_cast<int64_t>(problem.blocks[i].size);
    changes[problem.lifetimes[i].begin] += size;
    changes[problem.lifetimes[i].end] -= size;
  }
  int64_t load = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, load += change);
  return static_cast<Bytes>(most);
}

}  // namespace

FamilyProblem MakeFamilyProblem(uint64_t seed) {
  const uint64_t turn = (seed - 1) / 2;
  const TableShape& shape = kShapes[turn % kShapes.size()];
  Random random(seed * 0x9e3779b97f4a7c15u);
  uint64_t blocks = kBlocks[turn / kShapes.size() % kBlocks.size()];
  if (shape.cut) blocks = std::max<uint64_t>(30, blocks / kCutPart);
  FamilyProblem made{.shape = shape.name, .problem = shape.make(&random, blocks)};
  if (shape.cut) {
    made.capacity = Bytes{1} << 20;
    made.fits = true;
  } else {
    constexpr std::array<Bytes, 4> kSlack = {0, 0, 5, 20};  // thousandths
    const Bytes load = LargestLoad(made.problem);
    made.capacity = load + load * kSlack[random.Below(kSlack.size())] / 1000;
  }
  for (size_t i = made.problem.blocks.size(); i > 1; --i) {
    const size_t other = random.Below(i);
    std::swap(made.problem.blocks[i - 1], made.problem.blocks[other]);
    std::swap(made.problem.lifetimes[i - 1], made.problem.lifetimes[other]);
  }
  return made;
}

}  // namespace graphkit
