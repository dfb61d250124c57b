"""The completion scripts, sourced in the shells that they are for: what the key tab brings.

usage: completions.py GRAPHKIT

Exits 77 (skipped) where neither zsh nor fish is installed; bash is always here.
"""

import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

GRAPHKIT = ""
# A command line up to the cursor, and words that must be offered; others may be, unless they are listed as wrong.
EXPECTED = [
    ("graphkit do", {"doctor", "dot"}, {"diff"}),
    ("graphkit dot --f", {"--focus", "--fold"}, {"--color"}),
    ("graphkit dot --fold ", {"auto", "chains", "none", "nvtx", "streams"}, {"--fold", "dot"}),
    ("graphkit check --format ", {"text", "json", "sarif", "junit", "github"}, {"csv"}),
    ("graphkit help ", {"analyze", "trace", "exit-codes"}, set()),
]


def script(shell: str) -> str:
    return subprocess.run([GRAPHKIT, "completion", shell], capture_output=True, text=True, check=True).stdout


def bash(line: str, file: pathlib.Path) -> set[str]:
    words = line.split(" ")
    program = f"""source {file}
function=$(complete -p graphkit | sed 's/.*-F \\([^ ]*\\).*/\\1/')
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${{#COMP_LINE}}
$function graphkit "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", program, "bash", *words], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def fish(line: str, file: pathlib.Path) -> set[str]:
    done = subprocess.run(["fish", "--no-config", "-c", f"source {file}; complete -C '{line}'"], capture_output=True, text=True, check=True)
    return {offered.split("\t")[0] for offered in done.stdout.splitlines()}


ZSH = """PS1=; unsetopt zle_bracketed_paste; autoload -Uz compinit && compinit -u -D; source {file}; compdef _graphkit graphkit
bindkey '^I' complete-word; setopt no_beep auto_list no_list_ambiguous; zstyle ':completion:*' verbose no
_mark() {{ zle -M "SE""EN" }}; zle -N _mark; bindkey '^X' _mark; echo REA""DY
"""


def read_until(terminal: int, mark: bytes) -> str:
    out, end = b"", time.monotonic() + 60
    while mark not in out and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            out += os.read(terminal, 65536)
    return out.decode(errors="replace")


def zsh(line: str, file: pathlib.Path) -> set[str]:
    """Types it into a terminal, presses tab, and reads the list below."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="dumb", COLUMNS="200")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    os.write(terminal, ZSH.format(file=file).encode())
    read_until(terminal, b"READY")
    # Typed before the line editor listens, a key would be shown by the terminal as well.
    os.write(terminal, b"\x18")
    read_until(terminal, b"SEEN")
    os.write(terminal, line.encode() + b"\t\x18")
    shown = read_until(terminal, b"SEEN")
    os.write(terminal, b"\x03exit\n")
    os.close(terminal)
    os.waitpid(process, 0)
    return {word for row in shown.splitlines() if "graphkit " not in row for word in row.split()}


class Completions(unittest.TestCase):
    def check(self, shell) -> None:
        if not shutil.which(shell.__name__):
            self.skipTest(f"{shell.__name__} is not installed")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "script"
            file.write_text(script(shell.__name__))
            for line, wanted, wrong in EXPECTED:
                with self.subTest(line=line):
                    offered = shell(line, file)
                    self.assertLessEqual(wanted, offered)
                    self.assertFalse(wrong & offered)

    def test_bash(self):
        self.check(bash)

    def test_fish(self):
        self.check(fish)

    def test_zsh(self):
        self.check(zsh)


if __name__ == "__main__":
    GRAPHKIT = os.path.abspath(sys.argv[1])
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, why in result.skipped:
        print(f"skipped: {why}")
    sys.exit(1 if not result.wasSuccessful() else 77 if len(result.skipped) == 2 else 0)
