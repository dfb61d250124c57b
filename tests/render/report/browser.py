"""A headless Chromium, driven through chromedriver by the WebDriver protocol (https://www.w3.org/TR/webdriver2/)."""

import base64
import json
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request


def available() -> bool:
    """True if Debian's chromium and chromium-driver, or ones of the same names, are here."""
    return bool(shutil.which("chromium")) and bool(shutil.which("chromedriver"))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Browser:
    """One window. Use as a context manager: it is closed whatever happens."""

    def __init__(self, width: int = 1600, height: int = 1100, dark: bool = False, arguments: tuple[str, ...] = ()):
        self.port = free_port()
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        flags = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars",
                 f"--window-size={width},{height}", *(["--force-dark-mode"] if dark else []), *arguments]
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                  "goog:chromeOptions": {"binary": shutil.which("chromium"), "args": flags}}
        self.session = ""
        self._wait_for_driver()
        self.session = "/session/" + self._call("POST", "/session",
                                                {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def _wait_for_driver(self) -> None:
        for _ in range(100):
            try:
                if self._call("GET", "/status")["ready"]:
                    return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method: str, path: str, body: dict | None = None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def command(self, method: str, path: str, body: dict | None = None):
        return self._call(method, self.session + path, body)

    def open(self, file: pathlib.Path) -> None:
        self.command("POST", "/url", {"url": file.resolve().as_uri()})

    def run(self, script: str, *arguments):
        """The script's return value."""
        return self.command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script: str, *arguments):
        """The value that the script passes to its last argument."""
        return self.command("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def wait_for(self, condition: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition});"):
            if time.monotonic() > end:
                raise RuntimeError(f"not so after {seconds} s: {condition}")
            time.sleep(0.05)

    def element(self, selector: str) -> dict:
        """The first element that fits."""
        return self.command("POST", "/element", {"using": "css selector", "value": selector})

    def enter(self, selector: str = "") -> None:
        """Scripts and clicks go to this frame, without a selector to the page itself."""
        self.command("POST", "/frame", {"id": self.element(selector) if selector else None})

    def choose(self, selector: str, *files: pathlib.Path) -> None:
        """Files, in an input of files."""
        self.command("POST", f"/element/{next(iter(self.element(selector).values()))}/value", {"text": "\n".join(map(str, files))})

    def click(self, selector: str) -> None:
        """With the mouse, on the first element that fits."""
        self.command("POST", f"/element/{next(iter(self.element(selector).values()))}/click", {})

    def press(self, *keys: str) -> None:
        """One key after the other: characters, or WebDriver's code points for the others."""
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def pointer(self, selector: str, *steps: dict) -> None:
        """Mouse steps relative to an element's middle."""
        found = self.element(selector)
        at = [{**step, "origin": found} if step["type"] == "pointerMove" else step for step in steps]
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": at}
        self.command("POST", "/actions", {"actions": [mouse]})

    def wheel(self, selector: str, dx: int, dy: int) -> None:
        found = self.element(selector)
        step = {"type": "scroll", "x": 0, "y": 0, "deltaX": dx, "deltaY": dy, "duration": 0, "origin": found}
        self.command("POST", "/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [step]}]})

    def log(self) -> list[dict]:
        return self.command("POST", "/se/log", {"type": "browser"})

    def screenshot(self, file: pathlib.Path) -> None:
        file.write_bytes(base64.b64decode(self.command("GET", "/screenshot")))

    def print_pdf(self, file: pathlib.Path) -> None:
        file.write_bytes(base64.b64decode(self.command("POST", "/print", {"background": True})))

    def devtools(self, name: str, **parameters):
        return self.command("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self._call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=10)
