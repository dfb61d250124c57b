// `graphkit doctor`: what this machine has, and what to do about what it lacks.
#include <array>
#include <iostream>
#include <memory>
#include <optional>

#include "libgraphkit/render/json.h"
#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/doctor/inventory.h"
#include "tools/graphkit/doctor/soft_inventory.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/plugins.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

Ink InkOf(Health health) {
  static constexpr std::array kInks = {Ink::kGreen, Ink::kYellow, Ink::kRed};
  return kInks[static_cast<size_t>(health)];
}

std::string Verdict(const std::string& device) {
  if (device == "cuda") return "graphkit trace will use the GPU.";
  if (device == "soft") return "graphkit trace will use the software device (simulated).";
  return "graphkit trace can't run here: it needs its plugins.";
}

void RenderItem(const Item& item, const TextOut& out) {
  std::string mark = HealthName(item.health);
  mark.resize(9, ' ');
  std::string line = Wrapped("  " + mark, Printable(item.found), out.style);
  if (out.style.colour) line = "  " + out.Inked(mark, InkOf(item.health)) + line.substr(11);
  out << line;
  if (!item.advice.empty()) out.Wrap("           → ", Printable(item.advice));
}

void RenderText(const Inventory& inventory, const TextOut& out) {
  out << VersionText() << "\n";
  std::string section;
  for (const Item& item : inventory.items) {
    if (item.section != section) out << "\n" << out.Inked(item.section, Ink::kBold) << "\n";
    section = item.section;
    RenderItem(item, out);
  }
  out << "\n" << Verdict(inventory.device) << "\n";
}

void RenderJson(const Inventory& inventory, std::ostream& out) {
  const Json items = ListJson(inventory.items, [](const Item& item) {
    return Json{{"section", item.section},
                {"health", HealthName(item.health)},
                {"found", item.found},
                {"advice", item.advice}};
  });
  WriteDocument("graphkit-doctor", Json{{"device", inventory.device}, {"items", items}}, out);
}

struct DoctorArguments {
  View view;
  bool soft = false;
  std::optional<SoftList> list;
};

int RunSoftDoctor(const DoctorArguments& arguments) {
  const auto libraries = ReadSoftInventory(PluginFolder());
  if (!libraries) return PrintError(libraries.error());
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderSoftJson(*libraries, arguments.list, out); },
      [&](const TextOut& out) { RenderSoftText(*libraries, arguments.list, out); });
  return written ? kExitOk : PrintError(written.error());
}

int RunDoctor(const DoctorArguments& arguments) {
  if (arguments.soft) return RunSoftDoctor(arguments);
  const Inventory inventory = Judge(LookAround());
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderJson(inventory, out); },
      [&](const TextOut& out) { RenderText(inventory, out); });
  return written ? kExitOk : PrintError(written.error());
}

void AddSoft(CLI::App& sub, const std::shared_ptr<DoctorArguments>& arguments) {
  CLI::Option* soft = sub.add_flag("--soft", arguments->soft,
                                   "List the functions that the software device models instead");
  AddChoice<std::optional<SoftList>>(sub, "--list", arguments->list,
                                     {{"modelled", SoftList::kModelled},
                                      {"unchecked", SoftList::kUnchecked},
                                      {"missing", SoftList::kMissing},
                                      {"unseen", SoftList::kUnseen},
                                      {"all", SoftList::kAll}},
                                     "With --soft: also name these functions")
      ->needs(soft);
}

}  // namespace

void AddDoctorCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<DoctorArguments>(
      app, exit_code, RunDoctor, "doctor",
      "Check driver, CUDA, CUPTI and plugins of this machine, with advice",
      {"graphkit doctor", "graphkit doctor --soft --list missing"});
  AddView(*sub, arguments->view);
  AddSoft(*sub, arguments);
}

}  // namespace graphkit
