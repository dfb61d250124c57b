# environment: GRAPHKIT_SOFT_DEVICES=memory=2GiB,count=2
"""numba-cuda's own tests of its driver. All pass but those that numba_cudadrv.txt lists, and none of those passes."""
import collections
import pathlib
import sys

import pytest

LIST = pathlib.Path(__file__).with_suffix(".txt")


def listed():
    """Why a test doesn't pass, by its name: lines with names stand below their `# reason`."""
    reasons, reason = {}, ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason = line.lstrip("# ")
        elif line:
            reasons[line] = reason
    return reasons


class Outcomes:
    """The result of each test, and the one fixture of numba-cuda's own configuration, which no wheel has."""

    def __init__(self):
        self.of = {}

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.split("cudadrv/")[-1].replace("::", ".").replace(".py", "")
        if report.when == "call" or report.outcome != "passed":
            self.of[name] = report

    @pytest.fixture(scope="class")
    def initialize_from_pytest_config(self, request):
        request.cls._dump_failed_filechecks = False


def why(report):
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr).splitlines()[-1]


def main():
    outcomes, reasons = Outcomes(), listed()
    pytest.main(["-q", "--tb=short", "--no-header", "-p", "no:cacheprovider",
                 "-o", "consider_namespace_packages=true", "--pyargs", "numba.cuda.tests.cudadrv"],
                plugins=[outcomes])
    passed = {name for name, report in outcomes.of.items() if report.outcome == "passed"}
    wrong = [f"{name} {report.outcome}: {why(report)}" for name, report in sorted(outcomes.of.items())
             if name not in passed and name not in reasons]
    wrong += [f"{name} passes: take it off {LIST.name}" for name in sorted(passed & reasons.keys())]
    wrong += [f"{name} isn't there any more: take it off {LIST.name}" for name in sorted(reasons.keys() - outcomes.of.keys())]
    counts = collections.Counter(reasons.values())
    print(f"tests: {len(passed)} passed; " + "; ".join(f"{count} {reason}" for reason, count in counts.items()))
    sys.exit("\n".join(wrong) if wrong or not passed else 0)


if __name__ == "__main__":  # some tests spawn processes, which import this file
    main()
