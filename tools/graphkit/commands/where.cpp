// `graphkit where`: the memory that held an address, and the graphs that point there.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/explain/where.h"
#include "libgraphkit/render/explain/where.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/fault_report.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

struct WhereArguments {
  std::string file;
  std::string address;
  std::string from;
  std::string at = "end";
  View view;
};

std::string CheckAddress(const std::string& text) {
  return ParseAddress(text) ? "" : "invalid address '" + text + "'; write 0x7f1c2a000400";
}

// The address that was named, or those of the report.
Result<std::vector<Address>> AddressesOf(const WhereArguments& arguments) {
  if (!arguments.address.empty()) return std::vector<Address>{*ParseAddress(arguments.address)};
  if (!arguments.from.empty()) return ReadFaults(arguments.from);
  return Error{.message = "where needs an address, or --from FILE",
               .hint = "for example: graphkit where trace.json 0x7f1c2a000400"};
}

Whereabouts Find(const Ran& trace, const std::string& file, Address address, const Moment& moment) {
  const Progress progress("analyzing " + file);
  return FindWhere(Facts(trace), address, moment);
}

int RunWhere(const WhereArguments& arguments) {
  const Result<std::vector<Address>> addresses = AddressesOf(arguments);
  if (!addresses) return PrintError(addresses.error());
  const Result<Ran> trace = ReadInput(arguments.file);
  if (!trace) return PrintError(trace.error());
  const Result<Moment> moment = FindMoment(arguments.at, *trace);
  if (!moment) return PrintError(moment.error());
  const Whereabouts where = Find(*trace, arguments.file, addresses->front(), *moment);
  const std::vector<Address> others(addresses->begin() + 1, addresses->end());
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderWhereJson(where, others, *trace, out); },
      [&](const TextOut& out) { RenderWhere(where, others, *trace, out); });
  return written ? WarnIncomplete(*trace, arguments.file) : PrintError(written.error());
}

}  // namespace

void AddWhereCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<WhereArguments>(
      app, exit_code, RunWhere, "where",
      "Find the memory that held an address, and the graphs that point there",
      {"graphkit where trace.json 0x7f1c2a000400", "graphkit where trace.json --from sanitizer.log",
       "graphkit where trace.json 0x7f1c2a000400 --at launch:17"});
  AddTrace(*sub, arguments->file);
  sub->add_option("ADDRESS", arguments->address, "Address of a fault, as 0x7f1c2a000400")
      ->check(CheckAddress);
  sub->add_option("--from", arguments->from,
                  "Read the address from a compute-sanitizer report, an Xid line or another error "
                  "text (-: stdin)")
      ->option_text("FILE");
  sub->add_option(
         "--at", arguments->at,
         "Moment of the question: launch:N, peak, end (default), or an event of a snapshot "
         "(record of a trace)")
      ->option_text("MOMENT")
      ->check(CheckLaunchOrMoment);
  AddView(*sub, arguments->view);
  AddTop(*sub, arguments->view.top);
}

}  // namespace graphkit
