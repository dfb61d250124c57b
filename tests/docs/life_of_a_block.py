"""docs/life-of-a-block.md names files and functions that exist: each row of its tables has a file and functions defined in it.

usage: life_of_a_block.py SOURCE
"""

import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/life-of-a-block.md"
SCRIPTS = "libgraphkit/render/report/page"


def rows(text: str) -> list[tuple[list[str], list[str]]]:
    """The files and the functions of each row of a table."""
    found = []
    for line in text.split("\n"):
        cells = [re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:3]]
        if line.startswith("|") and cells[0]:
            found.append((cells[0], cells[1]))
    return found


def defines(text: str, name: str, suffix: str) -> bool:
    """A definition, not a declaration or a call: of a function or type, or in a table of macros the row of that name."""
    plain = re.escape(name)
    if suffix == ".js":
        owner, _, method = name.rpartition(".")
        if owner:
            body = re.search(rf"^class {re.escape(owner)} \{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
            return body is not None and re.search(rf"^  (async )?{re.escape(method)}\(.*\{{$", body[1], re.MULTILINE) is not None
        return re.search(rf"^((async )?function {plain}\(|class {plain} |const {plain} = )", text, re.MULTILINE) is not None
    return re.search(rf"^(struct|class) {plain}( final)?( : [^;{{]*)? \{{|^[A-Za-z][^\n;(]*\b{plain}\([^;{{]*\{{|^ *[A-Z_]+\({plain}, ",
                     text, re.MULTILINE) is not None


class Page(unittest.TestCase):
    def setUp(self):
        self.text = (SOURCE / PAGE).read_text()

    def test_files_have_the_functions_that_the_page_names(self):
        found = rows(self.text)
        self.assertGreater(len(found), 40)
        for files, functions in found:
            texts = {file: (SOURCE / file).read_text() for file in files}
            for function in functions:
                with self.subTest(files=files, function=function):
                    self.assertTrue(any(defines(text, function, pathlib.Path(file).suffix) for file, text in texts.items()))

    def test_all_scripts_of_the_report_are_on_the_page(self):
        others = {f"{SCRIPTS}/{name}.js" for name in ("diff", "single", "attribute")}  # of pages without blocks
        scripts = {f"{SCRIPTS}/{path.name}" for path in (SOURCE / SCRIPTS).glob("*.js")} - others
        self.assertEqual(set(), scripts - {file for files, _ in rows(self.text) for file in files})


class Definitions(unittest.TestCase):
    def test_of_cpp(self):
        text = ("bool Declared(int a);\nstruct Row {\n};\nclass Name final : public Base {\n};\nResult<int> Free(const A& a,\n    int b) {\n"
                "  Called(1);\n}\nvoid Type::Member() const {\n}\n    MACRO(cuFoo, kKind),\n")
        for name in ("Row", "Name", "Free", "Type::Member", "cuFoo"):
            self.assertTrue(defines(text, name, ".cpp"), name)
        for name in ("Declared", "Called", "Member2", "Base"):
            self.assertFalse(defines(text, name, ".cpp"), name)

    def test_of_scripts(self):
        text = "async function start() {\n  call();\n}\nconst app = {\n};\nclass View {\n  prepare() {\n  }\n}\nfunction other() {\n}\n"
        for name in ("start", "app", "View", "View.prepare", "other"):
            self.assertTrue(defines(text, name, ".js"), name)
        for name in ("call", "prepare", "View.other", "Other.prepare"):
            self.assertFalse(defines(text, name, ".js"), name)


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else SOURCE
    unittest.main(argv=sys.argv[:1])
