"""Tables: what is read, however it is written and packed."""

import bz2
import gzip
import lzma
import zipfile

import numpy as np
import pytest

from stepnet.errors import InvalidInputError
from stepnet.tables import table as tables
from stepnet.tables.table import read_table

TEXT = "a,b,y\n1,x,01\n2.5,,1\n"


def write(path, text=TEXT):
    packers = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("t.csv", text)
    else:
        path.write_bytes(packers.get(path.suffix, bytes)(text.encode()))
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.csv.zip", "T.CSV"])
def test_packed_files_are_read_like_plain_ones(tmp_path, name):
    table = read_table(write(tmp_path / name), text=["y"])
    assert table.columns["a"].tolist() == [1.0, 2.5]
    assert table.columns["b"] == ["x", ""]
    assert table.columns["y"] == ["01", "1"]
    assert table.labels("y").tolist() == [1, 1]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_tells_the_delimiter(tmp_path, delimiter):
    path = write(tmp_path / "t.csv", f"a{delimiter}b\n1{delimiter}2\n".replace(",", delimiter))
    assert read_table(path).numbers(["b", "a"]).tolist() == [[2, 1]]


def test_quotes_blank_lines_and_line_ends(tmp_path):
    path = write(tmp_path / "t.csv", '\ufeff"a, b",c\r\n\r\n"1","x\ny"\r\n')
    table = read_table(path)
    assert table.names == ["a, b", "c"]
    assert table.columns["c"] == ["x\ny"]


def test_text_beyond_the_first_block_stays_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_BLOCK", 2)
    table = read_table(write(tmp_path / "t.csv", "a,b\n01,1\n2,2\nx,3\n04,\n"))
    assert table.columns["a"] == ["01", "2", "x", "04"]
    assert np.array_equal(table.columns["b"], [1, 2, 3, np.nan], equal_nan=True)


# Without the time of day, which would be part of the test's name.
CUT_SHORT = gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-9]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv.gz", b"not packed", "not a readable .gz file"),
        ("t.csv.gz", CUT_SHORT, "not a readable .gz file"),
        ("t.csv.xz", b"not packed", "not a readable .xz file"),
        ("t.csv.bz2", b"not packed", "not a readable .bz2 file"),
        ("t.csv.zip", b"not packed", "not a readable .zip file"),
        ("t.parquet", b"not packed", "not a readable Parquet file"),
        ("t.csv", b"a,b\n1,\xff\n", "not a CSV file in UTF-8"),
    ],
)
def test_damaged_files_are_named(tmp_path, name, content, message):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        read_table(tmp_path / name)


def test_an_archive_of_several_files_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("a.csv", TEXT)
        archive.writestr("b.csv", TEXT)
    with pytest.raises(InvalidInputError, match="2 files"):
        read_table(tmp_path / "t.zip")


def test_an_encrypted_archive_is_named(tmp_path):
    path = write(tmp_path / "t.csv.zip")
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + flags] |= 1
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"not a readable .zip file .*encrypted"):
        read_table(path)


def test_parquet_keeps_what_cells_are(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"i": [1, 2], "f": [0.5, None], "t": ["x", None], "b": [True, False]})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.columns["i"].tolist() == [1, 2]
    assert table.labels("i").tolist() == [1, 2]
    assert table.columns["t"] == ["x", None]
    assert table.numbers(["i", "b"]).tolist() == [[1, 1], [2, 0]]
    with pytest.raises(InvalidInputError, match="column 'f': the cell is empty"):
        table.numbers(["f"])


def test_blanks_around_classes_do_not_matter_and_underscores_are_no_digits(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n1,1_0,yes \n2,10, no\n3,7,yes\n")
    table = read_table(tmp_path / "t.csv", text=["y"])
    assert table.labels("y").tolist() == ["yes", "no", "yes"]
    assert table.labels("b").tolist() == ["1_0", "10", "7"]
    with pytest.raises(InvalidInputError, match="data row 1, column 'b': '1_0' is not a finite number"):
        table.numbers(["b"])
