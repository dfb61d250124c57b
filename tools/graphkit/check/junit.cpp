#include <algorithm>
#include <map>
#include <vector>

#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/check/check.h"

namespace graphkit {

namespace {

enum class CaseOutcome : uint8_t { kPassed, kFailed, kError };

struct TestCase {
  std::string name;
  CaseOutcome outcome = CaseOutcome::kPassed;
  std::vector<std::string> lines = {};  // what failed; the first is the message
  std::vector<std::string> notes = {};  // shown, and no failure
};

struct Suite {
  std::string name;
  std::vector<TestCase> cases;

  uint64_t Count(CaseOutcome outcome) const {
    uint64_t count = 0;
    for (const TestCase& test : cases) count += test.outcome == outcome;
    return count;
  }
};

TestCase Blind(const GateRun& run, std::optional<uint32_t> trace) {
  TestCase test{.name = "complete"};
  for (const GateReason& reason : run.verdict.reasons) {
    if (reason.kind != GateReason::Kind::kBlind || reason.trace != trace) continue;
    test.outcome = CaseOutcome::kError;
    test.lines.push_back(reason.text);
  }
  return test;
}

using Cases = std::map<std::string, TestCase>;  // by name

Cases CheckCases(const GateRun& run, uint32_t trace) {
  using enum FindingStatus;
  Cases by_id;
  for (const CheckRow& row : RowsOf(run, {kFails, kReported, kKnown, kSuppressed})) {
    const auto here = [&](uint32_t i) { return run.verdict.findings[i].trace == trace; };
    if (std::ranges::none_of(row.row.findings, here)) continue;
    TestCase& test = by_id[row.finding.check];
    test.name = row.finding.check;
    const std::string line =
        WhereText(run, row) + ": " + SeverityName(row.finding.severity) + ": " + Said(run, row);
    if (row.judged.status == kFails) {
      test.outcome = CaseOutcome::kFailed;
      test.lines.push_back(line);
    } else {
      test.notes.push_back(std::string(NameOf(row.judged.status)) + ": " + line);
    }
  }
  return by_id;
}

// Budgets and the baseline, by rule.
Cases FigureCases(const GateRun& run, uint32_t trace) {
  Cases by_rule;
  for (const GateMeasure& measure : run.verdict.measures) {
    if (measure.trace == trace) by_rule[measure.rule].name = measure.rule;
  }
  for (const GateReason& reason : run.verdict.reasons) {
    if (!IsFigure(reason) || reason.trace != trace) continue;
    TestCase& test = by_rule[RuleOf(reason)];
    test.name = RuleOf(reason);
    test.outcome = CaseOutcome::kFailed;
    test.lines.push_back(reason.text);
  }
  return by_rule;
}

std::vector<Suite> Suites(const GateRun& run) {
  std::vector<Suite> suites;
  for (uint32_t trace = 0; trace < run.subjects.size(); ++trace) {
    Suite suite{.name = run.subjects[trace].trace, .cases = {Blind(run, trace)}};
    for (const auto& [name, test] : CheckCases(run, trace)) suite.cases.push_back(test);
    for (const auto& [name, test] : FigureCases(run, trace)) suite.cases.push_back(test);
    suites.push_back(std::move(suite));
  }
  TestCase whole = Blind(run, std::nullopt);
  if (whole.outcome != CaseOutcome::kPassed) suites.push_back({"graphkit check", {whole}});
  return suites;
}

void WriteLines(const std::vector<std::string>& lines, std::ostream& out) {
  for (const std::string& line : lines) out << XmlText(line) << "\n";
}

void WriteCase(const Suite& suite, const TestCase& test, std::ostream& out) {
  out << "    <testcase classname=\"" << XmlText(suite.name) << "\" name=\"" << XmlText(test.name)
      << "\" time=\"0\"";
  if (test.outcome == CaseOutcome::kPassed && test.notes.empty()) {
    out << "/>\n";
    return;
  }
  out << ">\n";
  if (test.outcome != CaseOutcome::kPassed) {
    const char* element = test.outcome == CaseOutcome::kFailed ? "failure" : "error";
    out << "      <" << element << " message=\"" << XmlText(test.lines[0]) << "\" type=\""
        << XmlText(test.name) << "\">\n";
    WriteLines(test.lines, out);
    out << "</" << element << ">\n";
  }
  if (!test.notes.empty()) {
    out << "      <system-out>\n";
    WriteLines(test.notes, out);
    out << "</system-out>\n";
  }
  out << "    </testcase>\n";
}

void WriteCounts(uint64_t tests, uint64_t failures, uint64_t errors, std::ostream& out) {
  out << " tests=\"" << tests << "\" failures=\"" << failures << "\" errors=\"" << errors
      << "\" time=\"0\">\n";
}

}  // namespace

void RenderJunit(const GateRun& run, std::ostream& out) {
  const std::vector<Suite> suites = Suites(run);
  uint64_t tests = 0, failures = 0, errors = 0;
  for (const Suite& suite : suites) {
    tests += suite.cases.size();
    failures += suite.Count(CaseOutcome::kFailed);
    errors += suite.Count(CaseOutcome::kError);
  }
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"graphkit check\"";
  WriteCounts(tests, failures, errors, out);
  for (const Suite& suite : suites) {
    out << "  <testsuite name=\"" << XmlText(suite.name) << "\"";
    WriteCounts(suite.cases.size(), suite.Count(CaseOutcome::kFailed),
                suite.Count(CaseOutcome::kError), out);
    for (const TestCase& test : suite.cases) WriteCase(suite, test, out);
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
}

}  // namespace graphkit
