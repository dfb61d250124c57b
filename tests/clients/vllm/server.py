# environment: HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_USE_FLASHINFER_SAMPLER=0
# graphkit: nothing
# estimate: 1,2,4,8
"""`vllm serve` as docs/frameworks.md has it, ended by SIGINT once it answers."""
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import tiny_llama

LIMIT_S = 800


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def answers(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False


def main():
    port, sizes = free_port(), ",".join(map(str, tiny_llama.SIZES))
    server = subprocess.Popen(
        [str(pathlib.Path(sys.executable).with_name("vllm")), "serve", tiny_llama.write(), "--load-format", "dummy",
         "--skip-tokenizer-init", "--shutdown-timeout", "240", "--port", str(port), "--max-model-len", "512", "--max-num-seqs", "8",
         "--gpu-memory-utilization", "0.5", "--compilation-config", '{"cudagraph_capture_sizes":[' + sizes + "]}"])
    end = time.monotonic() + LIMIT_S
    while not answers(port):
        if server.poll() is not None or time.monotonic() > end:
            sys.exit("the server didn't come up")
        time.sleep(1)
    server.send_signal(signal.SIGINT)
    server.wait(timeout=300)


if __name__ == "__main__":
    main()
