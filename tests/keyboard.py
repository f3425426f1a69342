"""A page in Chromium on which keys are pressed, over the debugging pipe of the browser."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from report.test_browser import CHROMIUM

# Keys by name: key code, and what the key writes or does.
_KEYS = {"Tab": (9, ""), "ArrowUp": (38, ""), "ArrowDown": (40, ""), "Backspace": (8, ""), "Enter": (13, "\r")}


class Page:
    """An open page, on a phone if it has a width."""

    def __init__(self, page: Path, folder: Path, width: int = 390, height: int = 844, *, is_dark: bool = False) -> None:
        to_read, write = os.pipe()
        read, to_write = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]  # apart from 3 and 4
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
                 "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}", "about:blank"]  # fmt: skip
        self._process = subprocess.Popen(
            [str(CHROMIUM), *flags],
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=lambda: [os.dup2(end, number) for end, number in zip(ends, (3, 4), strict=True)],
        )
        for end in (to_read, to_write, *ends):
            os.close(end)
        self._to, self._from, self._number, self._session = os.fdopen(write, "wb"), os.fdopen(read, "rb"), 0, ""
        self._rest, self.errors = b"", list[str]()
        (target,) = (one for one in self.send("Target.getTargets")["targetInfos"] if one["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=True)
        self.send("Page.navigate", url=page.as_uri())
        while self.ask("document.readyState") != "complete" or self.ask("location.href") == "about:blank":
            pass

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self._to.close()
        self._from.close()
        self._process.terminate()
        self._process.wait()

    def send(self, method: str, **given: Any) -> dict[str, Any]:
        """A command of the DevTools protocol, and its answer; errors of the page are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": given}
        message |= {"sessionId": self._session} if self._session else {}
        self._to.write(json.dumps(message).encode() + b"\0")
        self._to.flush()
        while True:
            answer = json.loads(self._message())
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.errors.append(json.dumps(answer["params"]))

    def _message(self) -> bytes:
        while b"\0" not in self._rest:
            part = self._from.read1(2**16)
            assert part, "Chromium ended"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return message

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        return self.send("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def press(self, *keys: str) -> None:
        """Keys by name, with Shift+ or without, or the digits of a text."""
        for key in keys:
            name = key.removeprefix("Shift+")
            shift = 8 if name != key else 0
            for one in [name] if name in _KEYS else name:
                code, text = _KEYS[one] if one in _KEYS else (ord(one), one)
                given = {"key": one, "windowsVirtualKeyCode": code, "modifiers": shift}
                self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **given)
                self.send("Input.dispatchKeyEvent", type="keyUp", **given)

    def spoken(self) -> list[tuple[str, str, str]]:
        """Role, name and description of everything that a screen reader meets."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        parts = ("role", "name", "description")
        return [tuple(str(node.get(part, {}).get("value", "")) for part in parts) for node in nodes]

    def picture(self, path: Path) -> None:
        found = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))
