// Writes the problems of tests/alloc/plan_family.h as tables, for planners that are programs:
//
//   plan_family_tables FOLDER odd|even
//
// A table's name says its seed, shape and capacity: FOLDER/007-experts.1048576.csv.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/alloc/plan_family.h"

int main(int argc, char** argv) {
  using namespace graphkit;
  const std::string_view half = argc == 3 ? argv[2] : "";
  if (half != "odd" && half != "even") {
    std::fprintf(stderr, "usage: plan_family_tables FOLDER odd|even\n");
    return 2;
  }
  for (uint64_t seed = half == "odd" ? 1 : 2; seed <= kFamilySize; seed += 2) {
    const FamilyProblem made = MakeFamilyProblem(seed);
    std::string name = std::to_string(1000 + seed).substr(1) + "-" + made.shape;
    std::ranges::replace(name, ' ', '-');
    std::ofstream out(std::string(argv[1]) + "/" + name + "." + std::to_string(made.capacity) +
                      ".csv");
    out << "id,lower,upper,size\n";
    for (size_t i = 0; i < made.problem.blocks.size(); ++i) {
      const Lifetime& life = made.problem.lifetimes[i];
      if (life.empty()) continue;
      out << i << ',' << life.begin << ',' << life.end << ',' << made.problem.blocks[i].size
          << '\n';
    }
    if (!out.flush()) {
      std::fprintf(stderr, "plan_family_tables: can't write into %s\n", argv[1]);
      return 1;
    }
  }
  return 0;
}
