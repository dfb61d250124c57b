#include "tools/graphkit/doctor/inventory.h"

#include <algorithm>
#include <filesystem>

#include <doctest/doctest.h>

#include "tools/graphkit/plugins.h"

namespace graphkit {

namespace {

// A machine with everything.
MachineFacts GoodMachine() {
  MachineFacts facts;
  facts.cuda.driver = {"libcuda.so.1", "/lib/libcuda.so.1", 13000};
  facts.cuda.devices = {{"NVIDIA H200", 9, 0, uint64_t{141} << 30}};
  facts.cuda.runtimes = {{"libcudart.so.13", "/cuda/libcudart.so.13", 13000}};
  facts.cuda.cuptis = {{"libcupti.so.13", "/cuda/libcupti.so.13", 130001}};
  facts.cuda.subscribe_tried = true;
  facts.plugin_folder = "/opt/graphkit/lib/graphkit";
  facts.has_tracer = facts.has_soft_device = true;
  facts.stand_ins = {"libcublas.so.13", "libcudnn.so.9"};
  facts.has_device_files = true;
  return facts;
}

Item Only(const Inventory& inventory, const std::string& section) {
  const auto item = std::ranges::find(inventory.items, section, &Item::section);
  REQUIRE(item != inventory.items.end());
  return *item;
}

}  // namespace

TEST_CASE("a machine with everything needs nothing done") {
  const Inventory inventory = Judge(GoodMachine());
  CHECK(inventory.device == "cuda");
  for (const Item& item : inventory.items) {
    CAPTURE(item.section);
    CHECK(item.health == Health::kOk);
    CHECK(item.advice == "");
  }
  CHECK(Only(inventory, "driver").found == "/lib/libcuda.so.1, CUDA 13.0");
  CHECK(Only(inventory, "GPU").found == "NVIDIA H200, compute capability 9.0, 141 GiB");
  CHECK(Only(inventory, "CUPTI").found == "/cuda/libcupti.so.13, 13.0.1");
}

TEST_CASE("the stand-ins that are here are named") {
  MachineFacts facts = GoodMachine();
  CHECK(Judge(facts).items.back().found ==
        "for the software device, stand-ins for libcublas.so.13, libcudnn.so.9");
}

TEST_CASE("parts that a build lacks are named, with what brings them") {
  MachineFacts facts = GoodMachine();
  facts.stand_ins = {};
  facts.missing_parts = {"libcudnn.so.9", "libnvidia-ml.so.1"};
  facts.how_to_get_parts = "cmake --build build --target trace_parts";
  CHECK(Judge(facts).items.back() ==
        Item{"plugins", Health::kAbsent,
             "of the software device, libcudnn.so.9 and libnvidia-ml.so.1 aren't in "
             "/opt/graphkit/lib/graphkit",
             "cmake --build build --target trace_parts"});
  facts.has_tracer = false;
  CHECK(Only(Judge(facts), "plugins").advice == "cmake --build build --target trace_parts");
  CHECK(NameSome({"a", "b", "c", "d"}) == "a, b, c and d");
  CHECK(NameSome({"a", "b", "c", "d", "e"}) == "a, b, c and 2 others");
}

TEST_CASE("the parts of a complete software device are those that are built") {
  const std::string folder = std::string(GRAPHKIT_BUILD) + "/lib/graphkit";
  if (!std::filesystem::exists(folder + "/" + kSoftDriver)) return;  // built without it
  std::vector<std::string> built;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/soft_cuda")) {
    if (entry.is_directory()) continue;
    built.push_back(std::filesystem::relative(entry.path(), folder + "/soft_cuda").string());
  }
  std::ranges::sort(built);
  CHECK(built == SoftParts());
  CHECK(MissingSoftParts(folder).empty());
  CHECK(MissingSoftParts("/nowhere").size() == SoftParts().size());
}

TEST_CASE("without a driver the software device is used") {
  MachineFacts facts = GoodMachine();
  facts.cuda = {};
  const Inventory inventory = Judge(facts);
  CHECK(inventory.device == "soft");
  CHECK(Only(inventory, "driver").health == Health::kAbsent);
  CHECK(Only(inventory, "CUPTI").health == Health::kAbsent);
  facts.has_tracer = false;
  CHECK(Judge(facts).device == "none");
}

TEST_CASE("a driver that doesn't start says why, as far as can be seen") {
  MachineFacts facts = GoodMachine();
  facts.cuda.devices.clear();
  facts.cuda.init_error = 100;
  facts.cuda.init_error_name = "CUDA_ERROR_NO_DEVICE";
  facts.cuda.subscribe_tried = false;
  CHECK(Only(Judge(facts), "GPU") == Item{"GPU", Health::kProblem,
                                          "cuInit returns 100 (CUDA_ERROR_NO_DEVICE)",
                                          "check CUDA_VISIBLE_DEVICES, and nvidia-smi"});
  facts.has_device_files = false;
  CHECK(Only(Judge(facts), "GPU").advice.find("docker run --gpus all") != std::string::npos);
  facts.unreadable_devices = {"/dev/nvidia0"};
  CHECK(Only(Judge(facts), "GPU").advice.find("join their group") != std::string::npos);
  CHECK(Only(Judge(facts), "permissions").found == "/dev/nvidia0 can't be opened");
  CHECK(Judge(facts).device == "soft");
}

TEST_CASE("who holds CUPTI is named") {
  MachineFacts facts = GoodMachine();
  facts.cuda.subscribe_error = 39;
  facts.cuda.subscriber = "CUPTI for Kineto";
  CHECK(Only(Judge(facts), "CUPTI subscription").found == "held by CUPTI for Kineto");
  facts.cuda.subscriber = "CUPTI for torch-cuspy";
  CHECK(Only(Judge(facts), "CUPTI subscription").advice.find("record_py_stacks") !=
        std::string::npos);
  facts.cuda.subscribe_error = 15;
  CHECK(Only(Judge(facts), "CUPTI subscription").health == Health::kProblem);
}

TEST_CASE("set variables are listed with what they do") {
  MachineFacts facts = GoodMachine();
  facts.environment = {{"CUDA_VISIBLE_DEVICES", "0"}};
  CHECK(Only(Judge(facts), "environment").found ==
        "CUDA_VISIBLE_DEVICES=0 (the program sees only these devices)");
}

TEST_CASE("versions read as people write them") {
  CHECK(CudaVersionText(12080) == "12.8");
  CHECK(CuptiVersionText(130001) == "13.0.1");
  CHECK(CuptiVersionText(28) == "API version 28");
}

}  // namespace graphkit
