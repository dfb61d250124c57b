#include "tools/graphkit/files/fault_report.h"

#include <algorithm>
#include <cctype>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/files/json_file.h"

namespace graphkit {
namespace {

constexpr std::string_view kDigits = "0123456789abcdefABCDEF_";

// True if what stands before a number calls it the address of a fault.
bool NamesFault(std::string_view before) {
  before = before.substr(before.rfind('\n') + 1);
  if (const size_t space = before.rfind("(@"); space != before.npos && before.ends_with(')'))
    before = before.substr(0, space);
  const size_t last = before.find_last_not_of(" :=");
  std::string word(before.substr(0, last + 1));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word.ends_with("address") || word.ends_with("faulted @");
}

}  // namespace

std::optional<Address> ParseAddress(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::string digits(text);
  std::erase(digits, '_');
  return ParseNumber<Address>(digits, 16);
}

std::vector<Address> FaultsIn(std::string_view text) {
  std::vector<Address> faults;
  for (size_t at = text.find("0x"); at != text.npos; at = text.find("0x", at + 2)) {
    const size_t end = std::min(text.find_first_not_of(kDigits, at + 2), text.size());
    const auto address = ParseAddress(text.substr(at, end - at));
    if (!address || !NamesFault(text.substr(0, at))) continue;
    if (std::ranges::find(faults, *address) == faults.end()) faults.push_back(*address);
  }
  return faults;
}

Result<std::vector<Address>> ReadFaults(const std::string& path) {
  const Result<std::string> text = ReadSmallFile(path);
  if (!text) return text.error();
  std::vector<Address> faults = FaultsIn(*text);
  if (!faults.empty()) return faults;
  const bool kernel_log = text->find("Xid") != text->npos;
  return Error{.message = "no faulting address in it",
               .hint = kernel_log ? "of Xid lines, only 31 (MMU Fault) has one; compute-sanitizer "
                                    "prints it for other faults"
                                  : "compute-sanitizer prints it, and so does the kernel's log: "
                                    "dmesg | grep Xid",
               .file = path};
}

}  // namespace graphkit
