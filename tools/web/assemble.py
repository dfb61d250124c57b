"""The page of one file, of its parts. Usage: assemble.py BUILD OUT    BUILD has graphkit.js and graphkit.wasm in bin."""

import base64
import gzip
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
PAGES = ROOT / "libgraphkit/render/report/page"
# It reaches no server; what runs and is shown is made on the page itself.
POLICY = (
    "default-src 'none'; "
    "connect-src 'none'; "
    "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
    "worker-src blob:; "
    "style-src 'unsafe-inline'; "
    "frame-src blob:; "
    "base-uri 'none'; "
    "form-action 'none'"
)


def main() -> int:
    build, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    version = re.search(r"project\(graphkit VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    engine = (build / "bin" / "graphkit.js").read_text() + (HERE / "worker.js").read_text()
    parts = {
        "policy": POLICY,
        "name": "in the browser",
        "style": (PAGES / "style.css").read_text() + (HERE / "page.css").read_text(),
        "script": (HERE / "page.js").read_text(),
        "engine": engine.replace("</script", r"<\/script"),
        "wasm": base64.b64encode(gzip.compress((build / "bin" / "graphkit.wasm").read_bytes(), 9, mtime=0)).decode(),
    }
    page = (HERE / "page.html").read_text().replace("{{head}}", (PAGES / "head.html").read_text())
    page = re.sub(r"\{\{(\w+)\}\}", lambda part: parts.get(part[1], part[0]), page)
    out.write_text(page.replace("{{version}}", version))
    return 0


if __name__ == "__main__":
    sys.exit(main())
