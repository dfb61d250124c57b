"""The certificate of each recorded plan is proved by tools/certificate/check_certificate.py, and what is wrong in one, or in
its trace, is refused with the pair of blocks, or the figure, that is wrong. The checker runs without any package.

usage: certificates.py GRAPHKIT SOURCE
"""

import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import zlib

GRAPHKIT, SOURCE = "", pathlib.Path()
ALLOCATORS = ("defer", "pytorch-v1", "pytorch", "xstream", "last-use", "reuse", "optimal", "recorded")
# Lent between launches though a graph that was never launched, a child graph's template, has nodes that use the block.
LENT = ("traces/soft/explicit_graph.json", "traces/cuda/explicit_graph.json")
FOLDERS = ("traces/soft", "traces/cuda", "traces", "torch-traces", "torch-scenarios", "torch-snapshots", "transcripts")


def recorded():
    """The traces and snapshots of testdata, and their names there."""
    files = [file for folder in FOLDERS for end in ("json", "pickle") for file in (SOURCE / "testdata" / folder).glob(f"*.{end}*")]
    return [(file, str(file.relative_to(SOURCE / "testdata"))) for file in sorted(files) if not file.name.startswith("bad-")]


def checked(trace: pathlib.Path, certificate: pathlib.Path) -> str:
    checker = SOURCE / "tools/certificate/check_certificate.py"
    done = subprocess.run([sys.executable, "-I", "-S", checker, trace, certificate], env={}, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()


class Certificates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def planned(self, file: pathlib.Path, *options: str):
        """The trace as text, and its certificate; None where nothing is planned."""
        return self.certified("plan", *options) if self.unpacked(file) else None

    def unpacked(self, file: pathlib.Path) -> bool:
        trace = self.folder / "trace.json"
        trace.unlink(missing_ok=True)
        if file.suffix != ".json":
            subprocess.run([GRAPHKIT, "import", file, "-o", trace], capture_output=True)
        else:
            trace.write_bytes(file.read_bytes())
        return trace.exists()

    def certified(self, command: str, *options: str):
        """Of the unpacked trace, and the command's exit code in `code`."""
        trace, certificate = self.folder / "trace.json", self.folder / "certificate.json"
        certificate.unlink(missing_ok=True)
        self.code = subprocess.run([GRAPHKIT, command, trace, "--certificate", certificate, *options], capture_output=True).returncode
        return (trace.read_text(), json.loads(certificate.read_text())) if certificate.exists() else None

    def check(self, text: str, certificate: dict) -> str:
        trace, file = self.folder / "changed.json", self.folder / "changed.certificate"
        trace.write_text(text)
        file.write_text(json.dumps(certificate))
        return checked(trace, file)

    def test_each_recorded_plan_is_proved(self):
        proved = 0
        for file, name in recorded():
            if self.planned(file) is None:
                continue
            with self.subTest(name):
                trace, certificate = self.folder / "trace.json", self.folder / "certificate.json"
                self.assertEqual(checked(trace, certificate), "proved")
                self.assertLess(certificate.stat().st_size, 2 * trace.stat().st_size)
                proved += 1
                self.certified("plan", "--assume", "torch-streams")
                self.assertEqual(checked(trace, certificate), "proved")
        self.assertGreater(proved, 90)

    def test_each_replay_is_proved_where_it_is_verified(self):
        verdicts = []
        for file, name in recorded():
            if not self.unpacked(file):
                continue
            for allocator in ALLOCATORS:
                if self.certified("replay", "--allocator", allocator) is None:
                    continue
                with self.subTest(name, allocator=allocator):
                    found = checked(self.folder / "trace.json", self.folder / "certificate.json")
                    self.assertRegex(found, "not proved: nothing orders block" if self.code == 1 else "proved")
                    verdicts.append(self.code)
        self.assertGreater(len(verdicts), 800)
        self.assertGreater(verdicts.count(1), 9)

    def test_each_loan_is_proved(self):
        """Between launches, also at recorded addresses, and at the middle node of each trace."""
        between, at, recorded_at = 0, 0, 0
        for file, name in recorded():
            if not self.unpacked(file):
                continue
            nodes = sum(line.startswith('{"type":"node"') for line in (self.folder / "trace.json").read_text().splitlines())
            for options in ([], ["--node", str(nodes // 2)]):
                found = self.certified("survive", *options)
                if found is None:
                    continue
                with self.subTest(name, options=options):
                    verdict = checked(self.folder / "trace.json", self.folder / "certificate.json")
                    if name in LENT:
                        self.assertEqual(verdict, "not proved: block 1 and block lent have the same bytes, and one is still needed")
                        continue
                    self.assertEqual(verdict, "proved")
                    loans = [loan for arena in found[1]["arenas"] for loan in arena.get("loans", [])]
                    between += sum(len(loan) == 2 for loan in loans)
                    at += sum(len(loan) == 4 for loan in loans)
                    recorded_at += len(found[1].get("lent", []))
        self.assertGreater(recorded_at, 300)
        self.assertGreater(between, 100)
        self.assertGreater(at, 50)

    def test_graphs_of_many_streams_are_proved(self):
        synth = pathlib.Path(GRAPHKIT).parent / "graphkit-synth"
        for seed in range(1, 7):
            for shape in ("random", "training", "pipeline"):
                options = ["--shape", shape, "--streams", str(2 * seed), "--ops", "600", "--seed", str(seed)]
                with self.subTest(shape=shape, seed=seed):
                    file = self.folder / "synthetic.json"
                    file.write_bytes(subprocess.run([synth, *options], stdout=subprocess.PIPE, check=True).stdout)
                    self.planned(file)
                    self.assertEqual(checked(self.folder / "trace.json", self.folder / "certificate.json"), "proved")

    def test_the_checker_and_the_judge_of_plans_agree(self):
        """Of plans in which blocks were moved at random. The judge is a part of graphkit; they share no code."""
        verdicts = []
        for seed in range(1, 13):
            options = ["--streams", str(2 + seed % 5), "--ops", "150", "--alloc", "0.4", "--free", "0.4", "--join", "0.3",
                       "--programmatic", str(seed % 3 / 4), "--seed", str(seed)]
            file, plan = self.folder / "synthetic.json", self.folder / "plan.json"
            synth = pathlib.Path(GRAPHKIT).parent / "graphkit-synth"
            file.write_bytes(subprocess.run([synth, *options], stdout=subprocess.PIPE, check=True).stdout)
            text, certificate = self.planned(file, "-o", plan)
            written, random_ = json.loads(plan.read_text()), random.Random(seed)
            for moves in range(8):
                with self.subTest(seed=seed, moves=moves):
                    of, moved = copy.deepcopy(certificate), copy.deepcopy(written)
                    [arena] = of["arenas"]
                    for block in random_.sample(arena["blocks"], moves % 4):
                        block[1] = 512 * random_.randrange(arena["peak_bytes"] // 512)
                    offsets = {block: offset for block, offset, _ in arena["blocks"]}
                    for placed in moved["placements"]:
                        placed["offset"] = offsets[placed["block"]]
                    arena["peak_bytes"] = of["peak_bytes"] = max(sum(block[1:]) for block in arena["blocks"])
                    for peak in (moved, moved["arenas"][0]):
                        peak.update(peak_bytes=of["peak_bytes"], lower_bound_bytes=0)
                    plan.write_text(json.dumps({**moved, "shared": []}))
                    judged = subprocess.run([GRAPHKIT, "replay", file, "--allocator", plan, "--verify"], capture_output=True)
                    found = self.check(text, of)
                    self.assertRegex(found, "proved" if judged.returncode == 0 else "not proved: nothing orders block")
                    self.assertEqual(judged.returncode, 0 if found == "proved" else 1, judged.stderr)
                    verdicts.append(judged.returncode)
        self.assertGreater(verdicts.count(0), 20)
        self.assertGreater(verdicts.count(1), 20)

    def refuse(self, name: str, faults: dict, *command: str):
        """`faults`: what is refused, and the function that plants it in the trace's records and the certificate."""
        self.unpacked(SOURCE / "testdata" / name)
        text, certificate = self.certified(*(command or ["plan"]))
        head, *lines = text.splitlines()
        records = [json.loads(line.removesuffix("]}").rstrip(",")) for line in lines]
        for refused, plant in faults.items():
            with self.subTest(refused):
                changed, of = copy.deepcopy(records), copy.deepcopy(certificate)
                of_trace = plant(changed, of)
                body = ",\n".join(json.dumps(record, separators=(",", ":")) for record in changed if record["type"] != "end")
                body = f'{head}\n{body},\n{{"type":"end","records":{len(changed) - 1}}}]}}\n' if of_trace else text
                if of_trace:
                    of["trace"] = {"bytes": len(body.encode()), "crc32": zlib.crc32(body.encode())}
                found = self.check(body, of)
                self.assertEqual(found, "proved" if refused.startswith("proved") else "not proved: " + refused)

    def test_faults_of_a_certificate_are_refused(self):
        arena = lambda c: c["arenas"][0]
        block = lambda c, number: next(placed for placed in arena(c)["blocks"] if placed[0] == number)

        def place(number, offset):
            return lambda r, c: block(c, number).__setitem__(1, offset)

        def bound(number, other):
            def plant(records, c):
                arena(c)["heaviest"] = [other if n == number else n for n in arena(c)["heaviest"]]
            return plant

        def both(c, key, more):
            c[key] += more
            arena(c)[key] += more

        self.refuse("traces/soft/record_stream.json", {
            "block 9 has a wrong offset": place(9, 25165825),
            "block 5 has a wrong offset": place(5, -512),
            "nothing orders block 5 and block 7 in the same bytes": place(7, 0),
            "nothing orders block 20 and block 21 in the same bytes": place(20, 25165824 - 12582400),
            "the size of block 7 isn't the trace's": lambda r, c: block(c, 7).__setitem__(2, 4194304 - 512),
            "block 14 is left out": lambda r, c: arena(c)["blocks"].remove(block(c, 14)),
            "block 11 isn't of its arena": lambda r, c: arena(c)["blocks"].append(block(c, 11)),
            "block 4711 isn't of its arena": lambda r, c: arena(c)["blocks"].append([4711, 0, 0]),
            "block 5 isn't of its arena": lambda r, c: arena(c).update(graph=1),
            "the peak is 29360128": lambda r, c: both(c, "peak_bytes", -512),
            "peak_bytes isn't their sum": lambda r, c: c.update(peak_bytes=29359616),
            "the bound isn't the sum of its blocks": lambda r, c: both(c, "lower_bound_bytes", 512),
            "of the bound, block 18 and block 20 may share bytes": bound(21, 18),
            "of the bound, block 5 and block 21 may share bytes": bound(17, 5),
            "it is of another trace": lambda r, c: c["trace"].update(crc32=1),
            "its form is unknown": lambda r, c: c.update(assumes="nothing"),
        })
        self.refuse("traces/soft/record_stream.json", {"block 5 isn't of its arena": lambda r, c: arena(c).update(pool=1)})
        self.refuse("traces/soft/inference_server.json", {
            "block 6 and block 13 have the same bytes, and one is still needed": place(13, 25165824),
            "of the bound, block 14 and block 6 may share bytes": lambda r, c: (
                arena(c).update(heaviest=[6, 14], lower_bound_bytes=18874368), c.update(lower_bound_bytes=18874368)),
            "block 16 isn't of its arena": lambda r, c: arena(c)["blocks"].append([16, 0, 512]),
        })

    def test_faults_of_loans_are_refused(self):
        def lent(*loans):
            return lambda r, c: c["arenas"][0].update(loans=list(loans))

        self.refuse("traces/soft/record_stream.json", {  # node 11 is followed by 12 on its stream
            "proved": lent([0, 12582912, 11, 11], [0, 29360128]),
            "proved until the next node": lent([0, 12582912, 11, 12]),
            "nothing orders block lent and block 20 in the same bytes": lent([512, 12582912, 11, 11]),
            "nothing orders block 17 and block lent in the same bytes": lent([0, 12582912, 10, 11]),
            "no loan at 11 5": lent([0, 12582912, 11, 5]),
            "nothing orders block lent and block lent in the same bytes": lent([0, 8192], [4096, 8192]),
            "the peak is 29360640": lent([0, 29360640]),
        }, "survive", "--node", "11")
        self.refuse("traces/soft/inference_server.json", {
            "block 7 and block lent have the same bytes, and one is still needed": lent([0, 33554432]),
        }, "survive")

    def test_faults_of_loans_at_recorded_addresses_are_refused(self):
        name = "torch-scenarios/pipeline_order.json.zst"
        at, size = 0x7e800029bc00, 1507328  # where several graphs have blocks that they free, up to the end of a segment

        def lent(begin, bytes_):
            return lambda r, c: c.update(lent=[[begin, bytes_]])

        def there(records):
            return [r for r in records if r["type"] == "alloc" and "graph" in r and at <= int(r["address"], 16) < at + size]

        def before_the_end(record):
            def plant(records, c):
                records.insert(len(records) - 1, record(records))
                return True
            return plant

        def free_lost(records, c):
            block = there(records)[0]["id"]
            next(r for r in records if r["type"] == "free" and r["memory"] == block).update(type="blank")
            return True

        def used_by(graph):
            def plant(records, c):
                node = [r for r in records if r["type"] == "node" and r["graph"] == graph][-1]
                node["access"] = [*node["access"], [there(records)[0]["id"], "r", 0, 512]]
                return True
            return plant

        def used_without_a_block(records, c):  # by the segment's own memory
            segment = next(r for r in records if r["type"] == "segment" and 0 <= at - int(r["address"], 16) < r["size"])
            memory = next(r for r in records if r["type"] == "alloc" and r["id"] == segment["memory"])
            node = [r for r in records if r["type"] == "node"][-1]
            node["access"] = [*node["access"], [memory["id"], "r", at + 4096 - int(memory["address"], 16), 512]]
            return True

        def allocated_outside(records):
            blocks = sum(r["type"] == "alloc" for r in records)
            return {"type": "alloc", "id": blocks, "address": hex(at + 512), "size": 512, "pool": there(records)[0]["pool"], "stream": 0}

        needed = f"block {{}} is needed in the bytes lent at {at}"
        self.refuse(name, {
            "proved": lent(at, size),
            "proved in part": lent(at + 512, 1024),
            f"block 81 is needed in the bytes lent at {at - 512}": lent(at - 512, 1024),
            f"no segment has the bytes lent at {at + 512}": lent(at + 512, size),
            f"no segment has the bytes lent at {1 << 20}": lent(1 << 20, 512),
            needed.format(82): free_lost,
            needed.format(14): used_without_a_block,
            needed.format(130): before_the_end(allocated_outside),
        }, "survive")
        self.refuse(name, {needed.format(82): used_by(7)}, "survive")
        self.refuse(name, {needed.format(82): before_the_end(lambda records: {
            "type": "work", "stream": 0, "kind": "kernel", "access": [[there(records)[0]["id"], "r", 0, 512]], "complete": True})}, "survive")

    def test_what_the_trace_does_not_order_is_refused(self):
        def edge(**change):  # 1 ─ 4, by which block 5 is over before block 11 begins
            def plant(records, c):
                next(r for r in records if r["type"] == "edge" and r["from"] == 1 and r["to"] == 4).update(change)
                return True
            return plant

        def before(kind, record):
            def plant(records, c):
                records.insert(next(i for i, r in enumerate(records) if r["type"] == kind), record)
                return True
            return plant

        def added_later(records, c):
            edge(**{"from": 0})(records, c)
            number = sum(r["type"] == "edge" for r in records)
            return before("launch", {"type": "edge", "id": number, "from": 1, "to": 4})(records, c)

        def change(which, **keys):
            def plant(records, c):
                for r in records:
                    if all(r.get(key) == value for key, value in which.items()):
                        r.update(keys)
                return True
            return plant

        pair = "nothing orders block 5 and block 11 in the same bytes"
        name = "traces/soft/record_stream.json"
        self.refuse(name, {"proved: nothing is changed": lambda r, c: True})
        self.refuse(name, {"proved: the launched graph has the edge": before("launch", {"type": "edge_removed", "edge": 5})})
        for plant in (edge(**{"from": 0}), edge(from_port=1, edge_type=1), edge(from_port=2), added_later,
                      before("exec", {"type": "edge_removed", "edge": 5}),
                      change({"type": "free_requested", "memory": 5}, type="blank"),
                      before("capture_end", {"type": "node_set", "node": 9, "what": "params", "access": [[5, "r", 0, 512]]}),
                      change({"type": "node", "id": 9}, access=[[5, "w", 0, -1]])):
            self.refuse(name, {pair: plant})
        self.refuse(name, {
            "the size of block 7 isn't the trace's": change({"type": "alloc", "id": 7}, size=4194305),
            "block 22 is left out": before("capture_end", {
                "type": "alloc", "id": 22, "address": "0x200000000", "size": 512, "pool": 2, "stream": 0, "graph": 0}),
        })
        # The consumer of a programmatic edge waits for its producer's end, or not.
        self.refuse("traces/soft/programmatic.json", {
            "nothing orders block 2 and block 4 in the same bytes": change({"type": "kernel", "id": 1}, waits="no")})


    def test_faults_of_a_replay_are_refused(self):
        def change(which, **keys):
            def plant(records, c):
                for r in records:
                    if all(r.get(key) == value for key, value in which.items()):
                        r.update(keys)
                return True
            return plant

        def later(which, behind):
            """Moves a record behind another one; its place keeps a blank one, so that the order of all others stays."""
            def plant(records, c):
                at = next(i for i, r in enumerate(records) if all(r.get(key) == value for key, value in which.items()))
                to = next(i for i, r in enumerate(records) if all(r.get(key) == value for key, value in behind.items()))
                records.insert(to + 1, records[at])
                records[at] = {"type": "blank"}
                return True
            return plant

        free = {"type": "free_requested", "memory": 5}
        name = "traces/soft/record_stream.json"
        self.refuse(name, {
            "proved: nothing is changed": lambda r, c: True,
            # The free waits for what its streams have reached; another block lies there, and is touched before.
            "nothing orders block 5 and block 14 in the same bytes": later(free, {"type": "alloc", "id": 14}),
            "nothing orders block 8 and block 17 in the same bytes": change(
                {"type": "free_requested", "memory": 8}, type="blank"),
        }, "replay", "--allocator", "xstream")
        # Of a stream that isn't in the capture nobody knows what it has reached.
        def recorded_early(records, c):
            at = next(i for i, r in enumerate(records) if r["type"] == "free" and r["memory"] == 7)
            records.insert(at, {"type": "record_stream", "memory": 7, "stream": 1})
            return True

        self.refuse(name, {"nothing orders block 7 and block 8 in the same bytes": recorded_early}, "replay", "--allocator", "xstream")
        # A placement by last uses isn't one by frees.
        self.refuse(name, {"nothing orders block 5 and block 11 in the same bytes": lambda r, c: c.update(
            assumes="torch-streams")}, "replay", "--allocator", "reuse")

        def moved(number, offset):
            return lambda r, c: next(b for b in c["arenas"][0]["blocks"] if b[0] == number).__setitem__(1, offset)

        needed = "block {} and block {} have the same bytes, and one is still needed"
        self.refuse("traces/soft/inference_server.json", {
            "proved: nothing is changed": lambda r, c: True,
            "block 8 isn't of its arena": lambda r, c: c.pop("captured") and None,
            # An output of an earlier graph.
            needed.format(10, 11): moved(11, 8388608),
            needed.format(9, 12): later({"type": "free", "memory": 9}, {"type": "alloc", "id": 12}),
            # Graphs in another order than that of their captures.
            needed.format(4, 8): lambda r, c: (c.update(captured=[[3, 2, 1, 0]]), c["arenas"][0].update(graph=3)) and None,
            "of the bound, block 4 and block 9 may share bytes": lambda r, c: (
                c.update(lower_bound_bytes=25165824), c["arenas"][0].update(heaviest=[4, 9], lower_bound_bytes=25165824)) and None,
        }, "replay", "--allocator", "reuse")
        # What a free node doesn't end: it runs behind an edge that isn't full, to a kernel that doesn't wait.
        self.refuse("traces/soft/programmatic.json", {
            "proved: nothing is changed": lambda r, c: True,
            "nothing orders block 2 and block 4 in the same bytes": change({"type": "kernel", "id": 1}, waits="no"),
        }, "replay", "--allocator", "xstream")

    def test_faults_of_a_recorded_placement_of_several_graphs_are_refused(self):
        """Block 73 of graph 0 is freed while graph 2 is captured, which then has block 92 in its bytes."""
        needed = "block 73 and block 92 have the same bytes, and one is still needed"

        def change(which, **keys):
            def plant(records, c):
                next(r for r in records if all(r.get(key) == value for key, value in which.items())).update(keys)
                return True
            return plant

        def freed_later(records, c):
            free = next(r for r in records if r["type"] == "free" and r["memory"] == 73)
            place = next(i for i, r in enumerate(records) if r["type"] == "alloc" and r["id"] == 92)
            records.insert(place + 1, dict(free))
            free.update(type="blank")
            return True

        def used(node, *blocks):
            return change({"type": "node", "id": node}, access=[[block, "r", 0, 512] for block in blocks])

        def unreadable(records, c):
            node = next(r for r in records if r["type"] == "node" and r["id"] == 8)
            node.update(kind="unknown", access=[], complete=False)
            del node["kernel"]
            return True

        def unordered(records, c):
            edge = next(r for r in records if r["type"] == "edge" and r["from"] == 11)
            edge.update(from_port=1, edge_type=1)
            return True

        def moved(records, c):
            [place] = [block for block in c["arenas"][0]["blocks"] if block[0] == 83]
            place[1] = next(block[1] for block in c["arenas"][0]["blocks"] if block[0] == 75)

        name = "torch-scenarios/pipeline_order.json.zst"
        command = ["replay", "--allocator", "recorded"]
        self.refuse(name, {"proved: nothing is changed": lambda r, c: True, needed: freed_later,
                           "block 75 and block 83 have the same bytes, and one is still needed": moved}, *command)
        self.refuse(name, {needed: used(13, 89, 92, 73)}, *command)
        self.refuse(name, {needed: unreadable}, *command)
        self.refuse(name, {needed: unordered}, *command)

    def test_words_of_structures_are_uses_where_they_are_known(self):
        pair = "nothing orders block 61 and block 73 in the same bytes"

        def known(records, c):
            next(r for r in records if r["type"] == "node" and r["id"] == 2)["access"][0][1] = "r"
            return True

        def array(records, c):
            kernel = next(r for r in records if r["type"] == "kernel" and r["id"] == 1)
            [[_, size]] = kernel["params"]
            kernel["name"] += f"St5arrayIPcLm{size // 8}E"
            return True

        self.refuse("torch-traces/planted_record_stream.json.zst", {"proved: nothing is changed": lambda r, c: True})
        self.refuse("torch-traces/planted_record_stream.json.zst", {pair: known})
        self.refuse("torch-traces/planted_record_stream.json.zst", {pair: array})


if __name__ == "__main__":
    GRAPHKIT, SOURCE = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    unittest.main()
