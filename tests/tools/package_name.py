"""The Python package has one name, its own: the Python index has another project's `graphkit`, which imports by that name too.

usage: package_name.py SOURCE

No page, template or message installs or imports that one, or installs ours by a name that the index doesn't have: what `pip
install` gets is a wheel that tools/wheel.sh made.
"""

import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path()
STRANGERS = "graphkit"
FOLDERS = ("docs", "libgraphkit", "plugins", "tools", "tests", ".ci")
TEXT = {".cpp", ".cu", ".h", ".md", ".py", ".sh", ".toml", ".txt", ".yml", ".yaml", ""}
IMPORTS = re.compile(rf"\b(?:import {STRANGERS}|from {STRANGERS}(?:\.\w+)* import|python3? -m {STRANGERS})\b(?![-_])")
INSTALLS = re.compile(r"\bpip3? (?:install|download|wheel)\b(.*)")


def project() -> dict[str, str]:
    """The values of pyproject.toml that are one word. Python 3.9 has no tomllib."""
    return dict(re.findall(r'^([\w-]+) = "([^"]*)"$', (SOURCE / "plugins/python/pyproject.toml").read_text(), re.MULTILINE))


def from_the_index(line: str) -> list[str]:
    """The name that a line's `pip install` takes from the index, of the two; a path or a wheel is none."""
    called = INSTALLS.search(line)
    if not called:
        return []
    names = rf"(?:{STRANGERS}|{project()['name']})(?:\[[\w,]*\])?(?:[=<>~!]=?[\w.*]+)?"
    return re.findall(rf"(?:^|[\s'\"]){names}(?=$|[\s'\",)])", re.split(r"[`;&|]", called[1])[0])


def wrong_lines(text: str) -> list[int]:
    return [number for number, line in enumerate(text.split("\n"), 1) if IMPORTS.search(line) or from_the_index(line)]


class PackageName(unittest.TestCase):
    def test_it_is_our_own_and_the_same_everywhere(self):
        name = project()["name"]
        self.assertNotEqual(name, STRANGERS)
        package = SOURCE / "plugins/python" / name
        self.assertTrue((package / "__init__.py").is_file())
        for script, where in (("graphkit", "_command:main"), (name, "pytest_plugin")):
            self.assertEqual(f"{name}.{where}", project()[script])
        cmake = (SOURCE / "plugins/python/CMakeLists.txt").read_text()
        self.assertEqual({name}, set(re.findall(r"DESTINATION ([\w-]+)", cmake)))

    def test_lines_that_take_the_strangers_package_are_seen(self):
        name = project()["name"]
        for line in ("pip install graphkit", "`pip3 install -q graphkit` brings", "pip install 'graphkit[test]==1.2'", "import graphkit",
                     "from graphkit import torch_allocator", "python -m graphkit", f"pip install {name}"):
            self.assertEqual([1], wrong_lines(line), line)
        for line in (f"pip install dist/{name}-*.whl", f"import {name}", "pip install numpy && graphkit --version",
                     "import graphkit_cli", f"from {name} import torch_allocator",
                     f"`pip install dist/{name}-*.whl`, `graphkit snapshot.pickle`"):
            self.assertEqual([], wrong_lines(line), line)

    def test_no_page_template_or_message_proposes_it(self):
        files = [path for folder in FOLDERS for path in (SOURCE / folder).rglob("*")] + list(SOURCE.glob("*.md"))
        texts = [path for path in files if path.suffix in TEXT and path.is_file() and path != pathlib.Path(__file__).resolve()]
        self.assertGreater(len(texts), 500)
        self.assertEqual([], [f"{path.relative_to(SOURCE)}:{number}" for path in texts
                              for number in wrong_lines(path.read_text(errors="replace"))])


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
