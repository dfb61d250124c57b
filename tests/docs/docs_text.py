"""The running text of the documentation: options and files are there, links lead to pages, headings and pictures, prose is wrapped,
and banned words are neither in it nor in the transcripts and the sources. What code blocks do: run_docs.py.

usage: docs_text.py GRAPHKIT SOURCE
"""

import pathlib
import re
import sys
import unittest

import run_docs

GRAPHKIT, SOURCE = pathlib.Path(), pathlib.Path()
FILES: list[pathlib.Path] = []


class Options(unittest.TestCase):
    def test_options_in_running_text_are_there(self):
        words = run_docs.Words(GRAPHKIT)
        for file in FILES:
            plain = "\n".join(line for line in file.read_text().split("\n") if not line.startswith("    "))
            for span in re.findall(r"`(graphkit [^`]+)`", plain):
                with self.subTest(file=file.name, span=span):
                    self.assertEqual("", words.missing(span))


class Links(unittest.TestCase):
    """Links from page to page, to their headings, and to pictures."""

    def test_links_lead_somewhere(self):
        for file in FILES:
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", prose(file))):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, heading = target.partition("#")
                with self.subTest(file=file.name, link=target):
                    page = (file.parent / path).resolve() if path else file
                    self.assertTrue(page.exists())
                    if heading:
                        self.assertIn(heading, anchors(page.read_text()))

    def test_paths_of_the_repository_exist(self):
        for file in FILES:
            for pattern in re.findall(r"`((?:docs|libgraphkit|plugins|tests|testdata|tools)/[\w./*-]+)`", prose(file)):
                with self.subTest(file=file.name, path=pattern):
                    self.assertTrue(any(SOURCE.glob(pattern)))


# Words for a component or a person in particular, and words that are none of the field's.
BANNED = re.compile(r"\b(nobody|somebody|whoever|everybody|anybody|how manieth|gravest|asks? memory ahead|can(?:'t|not) be had)\b", re.IGNORECASE)


class Words(unittest.TestCase):
    """Subject, verb, object; the field's word."""

    def test_no_banned_turn(self):
        code = [path for folder in ("libgraphkit", "plugins", "tools") for path in (SOURCE / folder).rglob("*")
                if path.suffix in (".cpp", ".h", ".py", ".sh", ".js")]
        found = [f"{file.relative_to(SOURCE)}:{number}: {line.strip()}"
                 for file in [*FILES, *code, *(SOURCE / "tests/tools/transcripts").glob("*.txt")]
                 for number, line in enumerate(file.read_text().split("\n"), 1) if BANNED.search(line)]
        self.assertEqual([], found)


class Width(unittest.TestCase):
    """Prose is wrapped, so that a diff shows the words that changed. Tables, code and what holds no space can't be."""

    def test_prose_is_wrapped_at_100_columns(self):
        wide = []
        for file in FILES:
            text = re.sub(r"```.*?```", lambda code: "\n" * code[0].count("\n"), file.read_text(), flags=re.DOTALL)
            for number, line in enumerate(text.split("\n"), 1):
                words = re.sub(r"`[^`]*`|!?\[[^\]]*\]\([^)]*\)", "x", line.strip())
                if len(line) > 100 and not line.startswith(("|", "    ", "#")) and " " in words:
                    wide.append(f"{file.name}:{number}")
        self.assertEqual([], wide)


def prose(file: pathlib.Path) -> str:
    """Without blocks of code, fenced or indented."""
    text = re.sub(r"```.*?```", "", file.read_text(), flags=re.DOTALL)
    return "\n".join(line for line in text.split("\n") if not line.startswith("    "))


def anchors(text: str) -> set[str]:
    """As GitHub and GitLab make them of headings."""
    headings = re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


if __name__ == "__main__":
    GRAPHKIT, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    FILES = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md"))]
    unittest.main(argv=sys.argv[:1])
