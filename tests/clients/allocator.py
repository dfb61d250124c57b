"""Random programs of PyTorch under many settings, each replayed on graphkit's model of the caching allocator: every address
and every segment must be as recorded. Then such programs under the tracer: the policy that PyTorch had must place every
captured block as recorded.

    allocator.py --build FOLDER --python PYTHON --name NAME [--programs N] [--first SEED]
        [--keep FOLDER]

N programs for each setting, of seeds from SEED on. What a snapshot can't tell is counted apart. Ends with the numbers. Where
PYTHON isn't there, all of it is skipped.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--build", type=pathlib.Path, required=True)
PARSER.add_argument("--python", required=True)
PARSER.add_argument("--name", required=True)
PARSER.add_argument("--programs", type=int, default=20)
PARSER.add_argument("--first", type=int, default=1)
PARSER.add_argument("--operations", type=int, default=400)
PARSER.add_argument("--keep", type=pathlib.Path, help="a folder for the snapshots, compressed")
PARSER.add_argument("--only", nargs="+", default=[""], help="settings that contain one of these texts")
OPTIONS = PARSER.parse_args()
GRAPHKIT = OPTIONS.build.resolve() / "bin/graphkit"
PROGRAM = pathlib.Path(__file__).resolve().parent / "allocator/random_programs.py"
# Those that keep their pools are few: an expandable segment takes 9/8 of the device's memory in addresses, of which a process
# has 128 TiB, and what is kept counts towards a limit.
PER_PROCESS, PER_PROCESS_KEPT = 50, 10
SETTINGS = [  # words of random_programs.py, PYTORCH_CUDA_ALLOC_CONF
    ("streams", ""),
    ("streams captures", ""),
    ("streams captures pools", ""),
    ("streams captures pools empty", ""),
    ("streams captures pools late", ""),
    ("streams captures pools limit=0.002", ""),
    ("streams captures pools", "graph_capture_record_stream_reuse:True"),
    ("streams captures pools", "max_split_size_mb:30"),
    ("streams captures pools limit=0.002", "max_split_size_mb:21"),
    ("streams captures pools", "roundup_power2_divisions:4"),
    ("streams captures pools", "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]"),
    ("streams captures pools limit=0.003", "garbage_collection_threshold:0.5"),
    ("streams captures pools limit=0.003 late", "garbage_collection_threshold:0.8,max_split_size_mb:40"),
    ("streams captures pools", "large_segment_size_mb:32"),
    ("streams captures pools limit=0.003", "max_split_size_mb:24,max_non_split_rounding_mb:40"),
    ("streams captures pools threads", ""),
    ("streams captures pools options threads", ""),
    ("streams captures pools options limit=0.002", ""),
    ("streams captures pools options limit=0.003 late", "garbage_collection_threshold:0.6"),
    ("streams captures pools", "expandable_segments:True"),
    ("streams captures pools late", "expandable_segments:True"),
    ("streams captures limit=0.004", "expandable_segments:True,garbage_collection_threshold:0.5"),
    ("streams captures pools trees", ""),
    ("streams captures trees late", ""),
    ("streams captures trees limit=0.003", "max_split_size_mb:21"),
    ("streams captures trees", "expandable_segments:True"),
]


class Unknown(Exception):
    """This version of PyTorch doesn't know the setting, or fails under it."""


def record(folder, words, conf, first, count):
    environment = {**os.environ, "RANDOM_PROGRAMS": words, "PYTORCH_CUDA_ALLOC_CONF": conf}
    trace = pathlib.Path(folder, "trace.json")
    program = [OPTIONS.python, PROGRAM, folder, first, count, OPTIONS.operations]
    history = [] if "traced" in words else ["--no-torch"]
    command = [GRAPHKIT, "trace", "--device", "soft", *history, "-o", trace, "--", *program]
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        if "Unrecognized CachingAllocator option" in done.stderr or "not run: " in done.stderr:
            raise Unknown
        said = [line for line in done.stderr.splitlines() if not line.startswith("graphkit: ")]
        raise RuntimeError(f"ended with {done.returncode}: {(said or [''])[-1][:200]}")


def judge(snapshot, counts):
    """Counts what was predicted; returns what was not, in words."""
    done = subprocess.run([GRAPHKIT, "replay", snapshot, "--against-recorded", "--format", "json"], capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 1, 3):
        return done.stderr.strip()
    if done.returncode == 3 and not done.stdout:
        return ""  # a history without events
    for device in json.loads(done.stdout)["devices"]:
        counts["programs"] += 1
        for what in ("addresses", "addresses_predicted", "segments", "segments_predicted"):
            counts[what] += device[what]
        counts["not judged"] += sum(device["not_judged"].values())
    return f"{device['misses']} misses, the first {device['first_miss']}" if done.returncode == 1 else ""


def keep(snapshot, setting):
    """Named by its setting and seed: streams-captures-max_split_size_mb-30.2.pickle.zst."""
    OPTIONS.keep.mkdir(parents=True, exist_ok=True)
    name = "-".join(re.findall(r"[A-Za-z0-9_.]+", setting))
    subprocess.run(["zstd", "-19", "-q", "-f", snapshot, "-o", OPTIONS.keep / f"{name}.{snapshot.stem}.pickle.zst"], check=True)


def check(words, conf, counts):
    failed = []
    end = OPTIONS.first + OPTIONS.programs
    step = PER_PROCESS_KEPT if "expandable" in conf or "options" in words else PER_PROCESS
    first = OPTIONS.first
    while first < end:
        with tempfile.TemporaryDirectory() as folder:
            ended = step
            try:
                record(folder, words, conf, first, min(step, end - first))
                ended = len(list(pathlib.Path(folder).glob("*.[pb]*")))  # a broken capture ends a process early
            except RuntimeError as error:
                failed.append(f"seeds from {first}: {error}")
            first += max(ended, 1)
            for snapshot in sorted(pathlib.Path(folder).glob("*.pickle"), key=lambda path: int(path.stem)):
                missed = judge(snapshot, counts)
                if OPTIONS.keep:
                    keep(snapshot, f"{words} {conf}")
                if missed:
                    failed.append(f"seed {snapshot.stem}: {missed}")
    return failed


POLICIES = [("defer", ""), ("pytorch", "graph_capture_record_stream_reuse:True")]  # PYTORCH_CUDA_ALLOC_CONF


def check_policy(policy, conf, counts):
    """Programs with captures, one in a process."""
    failed = []
    for seed in range(OPTIONS.first, OPTIONS.first + (OPTIONS.programs + 3) // 4):
        with tempfile.TemporaryDirectory() as folder:
            try:
                record(folder, "streams captures traced", conf, seed, 1)
            except RuntimeError as error:
                failed.append(f"seed {seed}: {error}")
                continue
            done = subprocess.run([GRAPHKIT, "replay", f"{folder}/trace.json", "--against-recorded", "--allocator", policy,
                                   "--format", "json"], capture_output=True, text=True, check=False)
            if done.returncode not in (0, 1, 3):
                failed.append(f"seed {seed}: {done.stderr.strip()}")
                continue
            if not done.stdout:
                continue  # nothing was captured
            found = json.loads(done.stdout)["policies"][0]
            counts.update(programs=1, same=found["same"], compared=found["compared"], left=found["not_compared"])
            if found["same"] != found["compared"]:
                failed.append(f"seed {seed}: block {found['first_elsewhere']} lies elsewhere")
    return failed


def judged(setting, check_setting, outcomes):
    """Runs a check and says how it ended; returns what it counted, nothing where it didn't run."""
    counts = collections.Counter()
    if not any(text in setting for text in OPTIONS.only):
        return counts
    try:
        failed = check_setting(counts)
    except Unknown:
        outcomes["skipped"] += 1
        print(f"skipped {OPTIONS.name} {setting}: this version doesn't know the setting, or fails under it", flush=True)
        return counts
    word = "failed" if failed else "passed"
    outcomes[word] += 1
    print(f"{word} {OPTIONS.name} {setting}: {counts['programs']} programs", flush=True)
    print("".join(f"    {line}\n" for line in failed[:5]), end="")
    return counts


def told(counts, what):
    if counts:
        print(f"    {what}", flush=True)


def main():
    if not pathlib.Path(OPTIONS.python).exists():
        print(f"skipped: {OPTIONS.name} isn't installed: tools/test.sh --clients installs it")
        print(f"{OPTIONS.name}: 0 passed, 0 failed, {len(SETTINGS)} skipped")
        return
    total = collections.Counter()
    outcomes = collections.Counter(passed=0, failed=0, skipped=0)
    for words, conf in SETTINGS:
        counts = judged(f"[{words}] [{conf}]", lambda counts: check(words, conf, counts), outcomes)
        total += counts
        told(counts, f"{counts['addresses_predicted']} of {counts['addresses']} addresses, {counts['segments_predicted']} of "
                     f"{counts['segments']} segments, {counts['not judged']} not judged")
    for policy, conf in POLICIES:
        counts = judged(f"{policy} [{conf}]", lambda counts: check_policy(policy, conf, counts), outcomes)
        told(counts, f"{counts['same']} of {counts['compared']} captured blocks, {counts['left']} not compared")
    print(f"{OPTIONS.name} allocator: {total['programs']} programs, {total['addresses_predicted']} of {total['addresses']} "
          f"addresses, {total['segments_predicted']} of {total['segments']} segments, {total['not judged']} not judged")
    print(f"{OPTIONS.name}: " + ", ".join(f"{count} {word}" for word, count in outcomes.items()))
    sys.exit(1 if outcomes["failed"] else 0)


main()
