"""The pages of the documentation, their blocks, and what runs them."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from command_line import stepnet

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)

_FENCE = re.compile(r"^```(?P<kind>[\w{}-]*)[^\n]*\n(?P<text>.*?)^```\s*$", re.DOTALL | re.MULTILINE)
_SMALLER = re.compile(r"= [\d_]+  # tests: (\d+)$", re.MULTILINE)  # a size, and a smaller one to test the page with
_FILE_NAME = re.compile(r"`([\w.]+\.\w+)`[^`\n]*:\s*$")
# What may differ from one run or machine to the next.
_CHANGING = [
    (r"\b(after|proven in) [\d.]+ s", r"\1 ... s"),
    (r"network  \d+ non-zero weights, margin [\d.e-]+", "network  ... non-zero weights, margin ..."),
    (r"margin [\d.e-]+", "margin ..."),
    (r"memory   [\d.]+ [MG]B", "memory   ... MB"),
    (r"accuracy [\d.]+", "accuracy ..."),
    (r"(HiGHS|CaDiCaL|SCIP|CP-SAT|SciPy) [\d.]+\d", r"\1 ..."),
    (r" +[\d.]+ +all networks", " ... all networks"),
    (r"\d+ infeasible subsystems", "... infeasible subsystems"),
    (r"(FEASIBLE .*), bound \d+, gap [\d.]+ %", r"\1, bound ..., gap ... %"),
    (r"(LEARNED .* training [a-z ]+) [\d.e+-]+", r"\1 ..."),
    (r"(h\d) is on where [^≥≤]*[≥≤] \S+", r"\1 is on where ..."),
    (r"(neurons|regression) +\d+ +[\d.]+ %", r"\1 ... %"),
]


@dataclass(frozen=True)
class Block:
    """A fence of a page: its kind, its text, and the line of text before it."""

    kind: str
    text: str
    before: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        lines = text[: match.start()].rstrip().splitlines()
        found.append(Block(match["kind"], match["text"], lines[-1] if lines else ""))
    return found


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands typed in a console block, each with what the page says it prints."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2].strip()) for part in parts]


def steady(text: str) -> str:
    """Without what may differ."""
    for pattern, replacement in _CHANGING:
        text = re.sub(pattern, replacement, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def defined_in(page: str) -> dict[str, object]:
    """The names of the blocks of a page that define classes, as its readers would have them."""
    reader = Reader(DOCS / page, Path())
    for block in blocks(reader.page):
        if block.kind == "python" and "class " in block.text:
            reader.run(block.text)
    return reader.names


class Reader:
    """Someone who follows a page line by line in an empty folder."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.names: dict[str, object] = {"__name__": "page"}
        self.printed: str | None = None
        self.is_smaller = False

    def read(self) -> None:
        for block in blocks(self.page):
            if block.kind == "python":
                self.printed = self.run(block.text)
                continue
            if block.kind == "text" and self.printed is not None:
                self._compare(self.printed, block.text, "the block above")
            elif block.kind == "csv":
                name = _FILE_NAME.search(block.before)
                assert name, f"a csv block needs a line that names its file before it: {block.text[:60]!r}"
                (self.folder / name[1]).write_text(block.text, encoding="utf-8")
            elif block.kind == "console":
                for command, output in commands(block):
                    self._type(command, output)
            self.printed = None

    def run(self, code: str) -> str:
        code, n_smaller = _SMALLER.subn(r"= \1", code)
        self.is_smaller |= n_smaller > 0
        printed = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            exec(compile(code, str(self.page), "exec", dont_inherit=True), self.names)
        return printed.getvalue()

    def _type(self, command: str, output: str) -> None:
        """Commands of stepnet run as they stand; a comment tells an exit code other than 0."""
        command, _, comment = command.partition("  #")
        words = shlex.split(command)
        if words[0] != "stepnet":
            return
        code = re.search(r"exit code (\d+)", comment)
        done = stepnet(*words[1:], cwd=self.folder)
        assert done.returncode == (int(code[1]) if code else 0), f"{command}\n{done.stdout}{done.stderr}"
        if output:
            self._compare(done.stdout or done.stderr, output, command)

    def _compare(self, printed: str, said: str, what: str) -> None:
        """What was printed with what the page says; without numbers if the page was made smaller."""
        if self.is_smaller:
            printed, said = (re.sub(r"\d[\d,.]*", "...", text) for text in (printed, said))
        _require_same(printed, said, what)


def _require_same(printed: str, said: str, what: str) -> None:
    assert steady(printed) == steady(said), f"{what} printed\n{printed}\nand the page says\n{said}"
