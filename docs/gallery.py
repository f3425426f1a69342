"""Runs the pages of the gallery, writes what they print into them, and keeps the pictures that they draw.

python docs/gallery.py                 # all of them
python docs/gallery.py why_this_row    # one
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
_CODE = re.compile(r"^```python\n(?P<code>.*?)^```\n(?P<output>```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE)


def run(page: Path) -> None:
    """Run a page in an empty folder; its text blocks become what was printed."""
    names: dict[str, object] = {"__name__": "page"}
    with tempfile.TemporaryDirectory() as folder:

        def rewritten(block: re.Match[str]) -> str:
            printed = io.StringIO()
            with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
                exec(compile(block["code"], str(page), "exec", dont_inherit=True), names)
            text = printed.getvalue()
            output = f"```text\n{text.rstrip()}\n```\n" if text else ""
            return f"```python\n{block['code']}```\n{output}"

        page.write_text(_CODE.sub(rewritten, page.read_text(encoding="utf-8")), encoding="utf-8")
        for picture in Path(folder).glob("*.png"):
            shutil.copy(picture, HERE / "pictures" / picture.name)
            print(f"{page.name}: {picture.name}")


def main() -> None:
    chosen = sys.argv[1:] or [page.stem for page in sorted((HERE / "gallery").glob("*.md")) if page.stem != "index"]
    for name in chosen:
        run(HERE / "gallery" / f"{name}.md")
        print(f"{name}: done")


if __name__ == "__main__":
    main()
