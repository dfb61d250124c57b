"""Records the memory history of torch in a program that isn't changed for it.

    import torch          a finder on sys.meta_path sees it, and arms what follows once torch is there
    CUDA is initialised   the history begins: every allocation and free, with stacks (GRAPHKIT_TORCH_STACKS)
    a capture is on       garbage collections are NVTX ranges
    a capture begins      the graph gets the name of the batch that a server captures it for
    a capture ends        a snapshot; one that follows the last too soon for what it cost is made up by a thread, later or
                          once no capture has followed for a while
    the process ends      the last snapshot

A process writes one file, `<trace>[.rank<R>].<pid>.pickle`, that each snapshot replaces as a whole. What goes wrong here
is said in one line on stderr; the program goes on without it. Nothing is initialised that the program doesn't
initialise itself: children of a fork start anew.
"""

import atexit
import bisect
import collections
import functools
import gc
import os
import pickle
import re
import sys
import threading
import time

import _graphkit_soft_torch as soft  # sitecustomize has loaded it

OLDEST, NEWEST = (2, 1), (2, 15)  # of the versions of torch that were tried
MAX_EVENTS = 5_000_000  # per device; beyond, the history is a ring, and graphkit says that events are lost
SHARE = 10  # the time between two snapshots, in times of what the last one took
IDLE_S = 0.5  # without captures, after which a snapshot is made up; doubled each time
STACKS = {"all": "all", "alloc": "alloc", "none": None}  # GRAPHKIT_TORCH_STACKS: the history's `context`


def say(text):
    try:
        sys.stderr.write(f"graphkit: {text}\n")
        sys.stderr.flush()
    except Exception:
        pass  # a program may close its stderr


def context_wanted():
    """The events whose stacks are recorded."""
    choice = os.environ.get("GRAPHKIT_TORCH_STACKS") or "all"
    if choice not in STACKS:
        say(f"GRAPHKIT_TORCH_STACKS={choice} isn't known: set all, alloc or none; all stacks are recorded")
    return STACKS.get(choice, "all")


def version_of(torch):
    match = re.match(r"(\d+)\.(\d+)", str(getattr(torch, "__version__", "")))
    return (int(match[1]), int(match[2])) if match else None


class Backwards:
    """Where backward passes were called. Autograd allocates in threads of its own, where there is no Python: such events
    get the call stack of the backward that ran then."""

    MOST = 100_000  # calls remembered, the last ones
    DEPTH = 64

    def __init__(self):
        self.calls = collections.deque(maxlen=self.MOST)  # [begin, end in us, frames], by begin
        self.stacks = {}  # equal ones are one object, so that a file holds each once

    def watch(self, engine):
        """Takes the place of autograd's engine."""
        watching = self

        class Engine:
            def __getattr__(self, name):
                return getattr(engine, name)

            def run_backward(self, *args, **kwargs):
                call = [time.time_ns() // 1000, None, watching.stack(sys._getframe(1))]
                watching.calls.append(call)
                try:
                    return engine.run_backward(*args, **kwargs)
                finally:
                    call[1] = time.time_ns() // 1000

        return Engine()

    def stack(self, frame):
        places = []
        while frame is not None and len(places) < self.DEPTH:
            places.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
            frame = frame.f_back
        key = tuple(places)
        if key not in self.stacks:
            self.stacks[key] = [{"filename": file, "line": line, "name": name} for file, line, name in key]
        return self.stacks[key]

    def place(self, snapshot):
        """Adds the calls to the stacks of events that lack them."""
        calls = list(self.calls)
        begins = [call[0] for call in calls]
        longer = {}
        for events in snapshot.get("device_traces", ()):
            for event in events:
                call = self.around(calls, begins, event.get("time_us", 0))
                frames = event.get("frames") or []
                if call is None or (frames and self.same(frames[-1], call[2][-1])):
                    continue
                key = id(frames), id(call[2])
                event["frames"] = longer.setdefault(key, frames + call[2]) if frames else call[2]

    @staticmethod
    def around(calls, begins, when):
        """The last call that had begun and not ended; one in another may have."""
        last = bisect.bisect_right(begins, when) - 1
        for at in range(last, max(last - 8, -1), -1):
            if calls[at][1] is None or when <= calls[at][1]:
                return calls[at]
        return None

    @staticmethod
    def same(one, other):
        return one["filename"] == other["filename"] and one["name"] == other["name"]


class Recorder:
    """The memory history of this process."""

    def __init__(self, trace):
        self.stem = os.path.abspath(trace.removesuffix(".json"))  # the program may change its folder
        self.torch = None
        self.newer = False  # than the versions that were tried: said only with what went wrong
        self.missing = False  # the program looked for torch, and there is none
        self.users_history = False  # the program records a history of its own
        self.ended = False  # and has ended it
        self.profiled = False  # the program was warned of a profile without GPU events
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self):
        self.pid = None  # of the process whose history is recorded
        self.rank = ""
        self.written = None
        self.next_time = 0.0
        self.failed = False
        self.captures = 0  # under way
        self.owed = False  # a capture has ended since the last snapshot
        self.last_end = 0.0  # of a capture
        self.idle = IDLE_S
        self.maker = None  # the thread that makes the snapshot up
        self.collection = threading.local()
        self.lock = threading.Lock()
        self.backwards = Backwards()

    def start(self, torch):
        """torch was imported."""
        try:
            version = version_of(torch)
            shown = getattr(torch, "__version__", "without a version")
            if version is None or not OLDEST <= version < (NEWEST[0] + 1, 0):
                say(f"torch {shown} isn't known (2.1 and later are): its memory isn't recorded")
                return
            if torch.version.cuda is None:
                return
            self.newer = version > NEWEST
            self.torch = torch
            self._watch_history(torch.cuda.memory)
            self._watch_captures(torch.cuda.graphs.CUDAGraph)
            if hasattr(torch, "autograd"):
                variable = torch.autograd.Variable
                variable._execution_engine = self.backwards.watch(variable._execution_engine)
                self._watch_profiles(getattr(torch.autograd, "profiler", None))
            torch.cuda._lazy_call(self._begin)
        except Exception as error:
            self._fail("torch %s isn't as known" % getattr(torch, "__version__", ""), error)

    def _fail(self, what, error):
        if not self.failed:
            newer = " (graphkit was tried with torch up to %d.%d)" % NEWEST if self.newer else ""
            say(f"{what}: {type(error).__name__}: {error}{newer}; its memory isn't recorded")
        self.failed = True

    def _watch_history(self, memory):
        """A history that the program asks for takes the place of ours; when it ends, it is kept."""
        original = memory._record_memory_history

        @functools.wraps(original)
        def record(enabled="all", *args, **kwargs):
            if not enabled:
                self.dump()
            self.users_history, self.ended = True, not enabled
            return original(enabled, *args, **kwargs)

        memory._record_memory_history = record
        self.record = original

    def _watch_profiles(self, profiler):
        """The tracer holds CUPTI. A profile of the GPU has no GPU events then, nor has a later one, and PyTorch reports no
        error: the tracer lets go before, unless it is to stay."""
        profile = getattr(profiler, "profile", None)
        prepare = getattr(profile, "_prepare_trace", None)
        if prepare is None:
            return

        @functools.wraps(prepare)
        def prepare_trace(profiling, *args, **kwargs):
            activities = getattr(profiling, "kineto_activities", None) or ()
            if not self.profiled and any(getattr(one, "name", "") == "CUDA" for one in activities):
                self.profiled = True
                self._make_room_for_profiles()
            return prepare(profiling, *args, **kwargs)

        profile._prepare_trace = prepare_trace

    def _make_room_for_profiles(self):
        if stays_in_profiles():
            say("warning: torch.profiler gets no GPU events in a run that graphkit traces; profile in a run of its own")
        elif let_go_of_cupti("torch.profiler"):
            say("set GRAPHKIT_TRACE_PROFILER=keep to record on, without GPU events in profiles")
            self.dump(patience=60)  # as of then
            self.ended = True

    def _watch_captures(self, graph):
        begin, end = graph.capture_begin, graph.capture_end

        @functools.wraps(begin)
        def capture_begin(*args, **kwargs):
            self._name_graph(sys._getframe(1))
            result = begin(*args, **kwargs)
            self.captures += 1
            return result

        @functools.wraps(end)
        def capture_end(*args, **kwargs):
            try:
                result = end(*args, **kwargs)
            finally:
                self.captures = max(0, self.captures - 1)
                self.last_end = time.monotonic()
            if time.monotonic() >= self.next_time:
                self.dump()
            else:
                self._owe()
            return result

        graph.capture_begin, graph.capture_end = capture_begin, capture_end
        gc.callbacks.append(self._tag_collection)

    def _owe(self):
        """A snapshot is made as soon as it may be: the process may be killed before its end."""
        self.owed = True
        if self.maker is None or not self.maker.is_alive():
            self.maker = threading.Thread(target=self._make_up, name="graphkit snapshot", daemon=True)
            self.maker.start()

    def _make_up(self):
        while self.owed and not self.ended and not self.failed:
            now = time.monotonic()
            due, idle = self.next_time, self.last_end + self.idle
            if now >= min(due, idle) and not self.captures:
                if now < due:
                    self.idle *= 2  # captures that come with pauses don't cost a snapshot each
                self.dump(in_thread=True)
            else:
                time.sleep(max(0.02, min(due, idle) - now))

    def _name_graph(self, frame):
        """A range that has ended before the capture begins names its graph."""
        try:
            name = name_of_batch(frame)
            if name:
                self.torch.cuda.nvtx.range_push(GRAPH_NAME + name)
                self.torch.cuda.nvtx.range_pop()
        except Exception:
            pass  # a name is no reason to fail

    def _tag_collection(self, phase, info):
        """A range around each garbage collection while a graph is captured: it pauses the capture, and what it frees is
        freed inside of it."""
        try:
            if phase == "start" and self.captures:
                self.torch.cuda.nvtx.range_push(f"garbage collection, generation {info['generation']}")
                self.collection.tagged = True
            elif phase == "stop" and getattr(self.collection, "tagged", False):
                self.collection.tagged = False
                self.torch.cuda.nvtx.range_pop()
        except Exception:
            gc.callbacks.remove(self._tag_collection)

    def _begin(self):
        """CUDA is there in this process."""
        try:
            if self._has_own_allocator():
                return
            if not self.users_history:
                self.record("all", context=context_wanted(), stacks="python", max_entries=MAX_EVENTS)
            self.pid = os.getpid()
            atexit.register(self.dump, patience=60)
            # A child that multiprocessing forked ends without atexit.
            from multiprocessing import util

            util.Finalize(None, self.dump, kwargs={"patience": 60}, exitpriority=1)
        except Exception as error:
            self._fail("torch's memory history", error)

    def _has_own_allocator(self):
        """torch records no history of an allocator that isn't its own; graphkit's tells the tracer itself."""
        backend = getattr(self.torch.cuda.memory, "get_allocator_backend", lambda: "native")()
        if backend != "pluggable":
            return False
        if not {"cudagraphkit.torch_allocator", "torch_allocator"} & sys.modules.keys():  # the latter: the file alone
            say("torch records no history of a pluggable allocator: its memory isn't recorded")
        return True

    def _path(self):
        try:
            distributed = self.torch.distributed
            if distributed.is_available() and distributed.is_initialized():
                self.rank = str(distributed.get_rank())
        except Exception:
            pass
        self.rank = self.rank or os.environ.get("RANK", "")
        rank = f".rank{self.rank}" if self.rank.isdigit() else ""
        return f"{self.stem}{rank}.{self.pid}.pickle"

    def dump(self, patience=0, in_thread=False):
        """A snapshot, unless another is being made for longer than `patience` seconds."""
        if self.ended or self.pid != os.getpid() or not self.lock.acquire(timeout=patience):
            return
        started = time.monotonic()
        # It makes millions of objects that collections would walk through again and again. Beside the program's own
        # threads they stay as these want them.
        collects = gc.isenabled() and not in_thread
        if collects:
            gc.disable()
        try:
            self.owed = False  # a capture that ends from here on asks again
            path = self._path()
            snapshot = self.torch.cuda.memory._snapshot()
            self.backwards.place(snapshot)
            snapshot["torch_version"] = str(self.torch.__version__)
            write_whole(path, lambda file: pickle.dump(snapshot, file))
            if self.written not in (None, path):
                os.unlink(self.written)
            self.written = path
        except Exception as error:
            self._fail("torch's memory snapshot", error)
        finally:
            if collects:
                gc.enable()
            now = time.monotonic()
            self.next_time = now + SHARE * (now - started)
            self.lock.release()


GRAPH_NAME = "graphkit graph: "  # the tracer knows it
FRAMES = 8  # from a capture's begin outwards, in which a server's description of the batch is looked for


def name_of_batch(frame):
    """"full, 8 tokens, 8 requests", as the server calls what it captures; "": it isn't known. vLLM's functions that capture
    have a local that describes the batch, SGLang's have its size."""
    for _ in range(FRAMES):
        if frame is None:
            return ""
        # Before Python 3.13 a frame keeps what its f_locals were, so a program's `del` would free nothing.
        code = frame.f_code
        for name in {"batch_descriptor", "desc"}.intersection(code.co_varnames):
            if hasattr(frame.f_locals.get(name), "num_tokens"):
                return described(frame.f_locals[name], frame.f_locals)
        if "cuda_graph" in code.co_filename:
            for name, words in (("bs", "batch size {}"), ("num_tokens", "prefill, {} tokens")):
                if name in code.co_varnames and isinstance(frame.f_locals.get(name), int):
                    return words.format(frame.f_locals[name])
        frame = frame.f_back
    return ""


def described(batch, values):
    mode = getattr(batch, "cg_mode", None) or values.get("cudagraph_runtime_mode")
    words = [str(getattr(mode, "name", "graph")).lower(), f"{batch.num_tokens} tokens"]
    if getattr(batch, "num_reqs", None):
        words.append(f"{batch.num_reqs} requests")
    if getattr(batch, "num_active_loras", 0):
        words.append(f"{batch.num_active_loras} LoRAs")
    return ", ".join(words)


def write_whole(path, write):
    """A file that appears once it is whole. Until then its name is random."""
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(temporary, flags, 0o666), "wb") as file:
            write(file)
        os.replace(temporary, path)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def stays_in_profiles():
    """The tracer keeps CUPTI when a profile begins: on the software device profiles have no GPU events anyway."""
    choice = os.environ.get("GRAPHKIT_TRACE_PROFILER", "")
    if choice not in ("", "keep", "release"):
        say(f"GRAPHKIT_TRACE_PROFILER is neither keep nor release: {choice}")
    return choice == "keep" or (choice != "release" and soft.soft_device() is not None)


def let_go_of_cupti(holder):
    """False: the tracer isn't in this process, or doesn't record."""
    import ctypes

    try:
        tracer = ctypes.CDLL(os.environ.get("CUDA_INJECTION64_PATH", ""), mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        return tracer.graphkit_let_go_of_cupti(holder.encode()) == 1
    except (OSError, AttributeError):
        return False


class Finder:
    """On sys.meta_path until torch is imported."""

    def __init__(self, recorder):
        self.recorder = recorder

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                self.recorder.missing = False
                self._call_when_executed(spec)
                return spec
        self.recorder.missing = True
        return None

    def _call_when_executed(self, spec):
        """For this one loader: who only looks whether there is a torch doesn't start anything."""
        loader = spec.loader
        original = getattr(loader, "exec_module", None)
        if original is None or "exec_module" in getattr(loader, "__dict__", {}):
            return

        def exec_module(module):
            del loader.exec_module
            soft.load_soft_runtime(os.path.dirname(spec.origin or ""))
            original(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            self.recorder.start(module)

        try:
            loader.exec_module = exec_module
        except Exception as error:
            self.recorder._fail("torch's loader", error)


def arm():
    trace = os.environ.get("GRAPHKIT_TORCH_OUT")
    if not trace:
        return
    recorder = Recorder(trace)
    sys.meta_path.insert(0, Finder(recorder))

    def last_word():
        if recorder.missing and "torch" not in sys.modules:
            say(f"{sys.executable} has no torch: no memory history")

    atexit.register(last_word)
