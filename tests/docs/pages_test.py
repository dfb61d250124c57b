"""The blocks of a page, and rules for shown output: pages.py."""

import textwrap
import unittest

from pages import PageError, Step, difference, steps


def page(text: str) -> list[Step]:
    return steps(textwrap.dedent(text))


class Steps(unittest.TestCase):
    def test_commands_have_the_output_that_follows_their_prompt(self):
        self.assertEqual(page("""
            Words.

                $ graphkit a.json | sort
                one

                two
                $ build/bin/graphkit b.json

            More words.
            """), [Step(4, "bash", "graphkit a.json | sort", ("one", "", "two")), Step(8, "bash", "build/bin/graphkit b.json")])

    def test_a_block_without_a_prompt_shows_commands_alone(self):
        self.assertEqual(steps("""
    # first
    A=1 B=2 ./tools/demo.sh   # builds
    pip install \\
      x
"""), [Step(3, "bash", "A=1 B=2 ./tools/demo.sh   # builds"), Step(4, "bash", "pip install \\\n  x")])
        with self.assertRaisesRegex(PageError, "line 3 .*: 3 graphs"):
            steps("\n    graphkit a.json\n    3 graphs\n")

    def test_blocks_in_lists_and_fences(self):
        self.assertEqual(page("""
            1. do

                    graphkit a.json

               ```python
               if x:
                   y()
               ```

            ```json
            graphkit
            ```
            ```groovy
            sh 'graphkit trace ./step'
            echo 'graphkit'
            ```
            """), [Step(4, "bash", "graphkit a.json"), Step(7, "python", "if x:\n    y()"), Step(15, "bash", "graphkit trace ./step")])

    def test_drawings_and_data_are_no_commands(self):
        self.assertEqual(steps('\n    source ──► Trace\n\nand\n\n    {"schema": 1}\n\nand\n\n    warning: graphkit\n'), [])


class Shown(unittest.TestCase):
    PRINTED = ["a 1 s", "", "b", "c", "d", "b", "e"]

    def assert_same(self, *shown: str):
        self.assertEqual("", difference(shown, self.PRINTED))

    def assert_differs(self, *shown: str):
        self.assertNotEqual("", difference(shown, self.PRINTED))

    def test_every_line_is_shown_in_order(self):
        self.assert_same(*self.PRINTED)
        self.assert_same("", *self.PRINTED, "")
        self.assert_differs(*self.PRINTED, "f")
        self.assert_differs(*self.PRINTED[:-1])
        self.assert_differs(*self.PRINTED[1:])
        self.assert_differs("a 1 s", "", "c", "b", "d", "b", "e")
        self.assert_differs("a 2 s", *self.PRINTED[1:])

    def test_an_ellipsis_stands_for_lines(self):
        self.assert_same("a 1 s", "  …")
        self.assert_same("…", "e")
        self.assert_same("a 1 s", "…", "c", "d", "…", "e")
        self.assert_same("a 1 s", "…", "b", "e")  # the first b stands elsewhere
        self.assert_same("…", "b", "c", "…")
        self.assert_differs("b", "…")
        self.assert_differs("…", "d")
        self.assert_differs("a 1 s", "…", "d", "…", "c", "…")
        self.assert_differs("a 1 s", "…", "b", "d", "…")

    def test_an_ellipsis_inside_a_line_stands_for_text_of_it(self):
        self.assert_same("a … s", "…", "e")
        self.assert_differs("a … ms", "…", "e")
        self.assert_differs("… s", "…", "x…")


if __name__ == "__main__":
    unittest.main()
