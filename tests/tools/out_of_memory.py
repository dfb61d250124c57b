"""graphkit with too little memory, wherever it runs out: one line, exit code 2, never a crash.

usage: out_of_memory.py GRAPHKIT
"""

import resource
import subprocess
import sys
import tempfile

MIB = 1 << 20
COMMANDS = [["analyze"], ["replay", "--verify", "--execute", "host", "--orders", "4"]]
LIMITS = 5  # for each command, between what starting takes and what the command takes


def run(args, limit):
    """Exit code and lines on stderr with so much address space."""
    def limit_memory():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=limit_memory,
                          check=False)
    # What a long run is doing is no error.
    lines = [line for line in done.stderr.splitlines() if not line.endswith("…")]
    return done.returncode, lines


def least(args, low, high):
    """About the least address space that the command ends with."""
    while high - low > 4 * MIB:
        middle = (low + high) // 2
        code, _ = run(args, middle)
        low, high = (low, middle) if code in (0, 1) else (middle, high)
    return high


def main():
    graphkit = sys.argv[1]
    starts = least([graphkit, "--version"], 0, 1024 * MIB)
    wrong, refused = [], 0
    with tempfile.TemporaryDirectory() as folder:
        traces = [f"{folder}/rank{i}.json" for i in range(2)]
        for seed, trace in enumerate(traces):
            subprocess.run([graphkit, "synth", "--ops", "15000", "--streams", "4", "--alloc", "0.3", "--free", "0.2", "--seed",
                            str(seed), "-o", trace], check=True, stderr=subprocess.DEVNULL)
        for command in COMMANDS + [["analyze", traces[1]]]:
            args = [graphkit, command[0], traces[0], *command[1:]]
            ends = least(args, starts, 1024 * MIB)
            for i in range(1, LIMITS + 1):
                limit = starts + (ends - starts) * i // LIMITS
                code, lines = run(args, limit)
                refused += code == 2
                good = code in (0, 1) or (code == 2 and len(lines) == 1 and "out of memory" in lines[0])
                if not good:
                    wrong.append(f"{' '.join(args)} with {limit // MIB} MiB: {code} {lines}")
    print("\n".join(wrong) if wrong else f"refused {refused} times, with one line each")
    return 1 if wrong or refused == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
