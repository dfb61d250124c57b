"""A report that isn't as its story tells is told apart, line by line."""

import copy
import types
import unittest

from expect import report_differences

REPORT = {
    "schema": "graphkit-analyze", "device": "soft", "complete": True,
    "graphs": [
        {"origin": "clone", "nodes": 2, "edges": 1, "nodes_by_type": {"kernel": 2}},
        {"origin": "capture", "nodes": 2, "edges": 1, "nodes_by_type": {"kernel": 2}},
    ],
    "findings": [{"check": "leaked-exec", "bytes": 0, "message": "exec 0 is never destroyed"}],
    "totals": {"nodes": 4},
}
STORY = types.SimpleNamespace(
    GRAPHS=[{"nodes": 2, "nodes_by_type": {"kernel": 2}}], FINDINGS=[{"check": "leaked-exec"}], TOTALS={"nodes": 4})


def changed(**keys):
    report = copy.deepcopy(REPORT)
    report.update(keys)
    return report_differences(STORY, report)


class ExpectTest(unittest.TestCase):
    def test_a_report_as_told_has_no_differences_and_clones_don_t_count(self):
        self.assertEqual(report_differences(STORY, REPORT), [])

    def test_an_incomplete_report_differs(self):
        self.assertEqual(changed(complete=False), ["report.complete: expected True, got False"])

    def test_a_graph_too_few_differs(self):
        self.assertEqual(changed(graphs=[]), ["graphs: expected 1, got 0: [] nodes"])

    def test_a_wrong_number_names_its_place(self):
        graph = {"origin": "capture", "nodes": 3, "nodes_by_type": {"kernel": 1}}
        self.assertEqual(changed(graphs=[graph]), ["graphs[0].nodes: expected 2, got 3",
                                                   "graphs[0].nodes_by_type.kernel: expected 2, got 1"])

    def test_a_kind_of_node_that_the_story_doesn_t_know_differs(self):
        graph = {"origin": "capture", "nodes": 2, "nodes_by_type": {"kernel": 2, "empty": 1}}
        self.assertEqual(changed(graphs=[graph]), ["graphs[0].nodes_by_type.empty: expected nothing, got 1"])

    def test_a_missing_finding_differs(self):
        self.assertEqual(changed(findings=[]), ["findings: none is {'check': 'leaked-exec'}; there are []"])

    def test_another_finding_of_a_check_that_must_find_no_other_differs(self):
        story = types.SimpleNamespace(**vars(STORY), NO_OTHER=["leaked-exec"])
        report = copy.deepcopy(REPORT)
        report["findings"] *= 2
        self.assertEqual(report_differences(story, report),
                         ["findings: unexpected leaked-exec: exec 0 is never destroyed"])


if __name__ == "__main__":
    unittest.main()
