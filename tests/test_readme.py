"""The README is short, and its example prints what it says."""

from documentation import ROOT, Reader, blocks

README = ROOT / "README.md"
MOST_WORDS = 900


def test_it_is_read_in_three_minutes():
    assert len(README.read_text(encoding="utf-8").split()) <= MOST_WORDS


def test_the_example_prints_what_the_readme_says(tmp_path):
    reader = Reader(README, tmp_path)
    reader.read()
    assert {block.kind for block in blocks(README)} >= {"python", "text"}
    split = [reader.names[name] for name in ("X_test", "y_test")]
    assert all(reader.names[name].score(*split) > 0.9 for name in ("three", "learned"))
