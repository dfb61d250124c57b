#include "tools/graphkit/files/fault_report.h"

#include <doctest/doctest.h>

namespace graphkit {
namespace {

TEST_CASE("faulting addresses of a compute-sanitizer report, each once") {
  CHECK(FaultsIn("========= Invalid __global__ read of size 4 bytes\n"
                 "=========     at Embed(const float *, float *)+0x160 in embed.cu:6\n"
                 "=========     by thread (32,0,0) in block (1,0,0)\n"
                 "=========     Address 0x7f1c2a000480 is out of bounds\n"
                 "=========     and is 129 bytes after the nearest allocation at 0x7f1c2a000000 of "
                 "size 1,024 bytes\n"
                 "=========     Address 0x7f1c2a000480 is out of bounds\n"
                 "=========     Address 0x7f1c2a000484 is misaligned\n") ==
        std::vector<Address>{0x7f1c2a000480, 0x7f1c2a000484});
}

TEST_CASE("the address of an Xid line, whose halves are apart") {
  CHECK(FaultsIn("NVRM: Xid (PCI:0000:3b:00): 31, pid=4242, name=python, Ch 00000008, intr "
                 "10000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_1 faulted @ 0x7f1c_2a000400. "
                 "Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\n") ==
        std::vector<Address>{0x7f1c2a000400});
  CHECK(FaultsIn("faulted @ 0x0_00000000.") == std::vector<Address>{0});
}

TEST_CASE("addresses of a debugger, and none of code") {
  CHECK(FaultsIn("Illegal access to address (@global)0x7f1c2a000400 detected.") ==
        std::vector<Address>{0x7f1c2a000400});
  CHECK(FaultsIn("The exception was triggered at PC 0x4bff660 (kernel.cuh:129)").empty());
  CHECK(FaultsIn("an illegal memory access was encountered").empty());
}

TEST_CASE("addresses as people write them") {
  CHECK(ParseAddress("0x7f1c_2a000400") == Address{0x7f1c2a000400});
  CHECK(ParseAddress("7f1c2a000400") == Address{0x7f1c2a000400});
  CHECK(!ParseAddress("trace.json"));
  CHECK(!ParseAddress("0x10000000000000000"));
  CHECK(!ParseAddress("0x"));
}

}  // namespace
}  // namespace graphkit
