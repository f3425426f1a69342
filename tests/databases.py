"""Databases that answer a SELECT on a table of a data frame, called ``data``."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest


def _binaries() -> Path | None:
    """The folder of the server's programs: that of initdb, or Debian's newest."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    folders = [one.parent for one in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(folders, key=lambda folder: int(folder.parent.name), default=None)


BINARIES = _binaries()
needs_postgres = pytest.mark.skipif(
    BINARIES is None and not os.environ.get("STEPNET_TEST_ALL"),
    reason="no PostgreSQL server here; `make test-all` requires it",
)


class Postgres:
    """A server of its own in a new folder, which listens to no network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._run("initdb", "-D", folder / "data", "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C", "-N")
        options = f"-k {folder} -c listen_addresses= -c fsync=off "
        options += "-c max_parallel_workers_per_gather=0 -c synchronize_seqscans=off"  # rows come in their order
        self._run("pg_ctl", "-D", folder / "data", "-l", folder / "log", "-o", options, "-w", "start")

    def _run(self, program: str, *words: object) -> None:
        assert BINARIES, "install PostgreSQL (Debian: postgresql), or put its initdb on the PATH"
        as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # the server refuses to be root
        command = [*as_user, BINARIES / program, *words]
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              cwd="/", check=False, close_fds=True)  # fmt: skip
        assert done.returncode == 0, done.stdout

    def ask(self, script: str) -> str:
        command = [BINARIES / "psql", "-h", self.folder, "-U", "tester", "-d", "postgres", "-qAtX", "-v",
                   "ON_ERROR_STOP=1", "-f", "-"]  # fmt: skip
        done = subprocess.run(list(map(str, command)), input=script, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")

    def answers(self, sql: str, frame: pd.DataFrame) -> pd.DataFrame:
        types = ["FLOAT8" if pd.api.types.is_numeric_dtype(kind) else "TEXT" for kind in frame.dtypes]
        columns = ", ".join(f"{_quoted(name)} {kind}" for name, kind in zip(frame.columns, types, strict=True))
        rows = frame.to_csv(index=False, header=False, float_format="%.17g")
        script = f"DROP TABLE IF EXISTS data; CREATE TABLE data ({columns});\n"
        script += f"COPY data FROM STDIN (FORMAT csv);\n{rows}\\.\n"
        lines = self.ask(f"{script}SELECT row_to_json(answer) FROM (\n{sql}) AS answer;\n").splitlines()
        return pd.DataFrame([list(json.loads(line).values()) for line in lines], dtype=object)


@contextlib.contextmanager
def running_postgres():
    """A server that is stopped and removed in the end."""
    folder = Path(tempfile.mkdtemp(prefix="stepnet-pg-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    try:
        server = Postgres(folder)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def on_sqlite(sql: str, frame: pd.DataFrame) -> pd.DataFrame:
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE data ({', '.join(map(_quoted, frame.columns))})")
        marks = ", ".join("?" * frame.shape[1])
        database.executemany(f"INSERT INTO data VALUES ({marks})", frame.astype(object).to_numpy().tolist())
        return pd.DataFrame(database.execute(sql).fetchall())


def on_duckdb(sql: str, frame: pd.DataFrame) -> pd.DataFrame:
    import duckdb

    with contextlib.closing(duckdb.connect()) as database:
        database.register("data", frame)
        return pd.DataFrame(database.execute(sql).fetchall())


def translated(dialect: str) -> Callable[[str, pd.DataFrame], pd.DataFrame]:
    """For a dialect without a database here: sqlglot reads the statement, and DuckDB runs what it understood."""

    def run(sql: str, frame: pd.DataFrame) -> pd.DataFrame:
        import sqlglot

        (statement,) = sqlglot.transpile(sql, read=None if dialect == "ansi" else dialect, write="duckdb")
        return on_duckdb(statement, frame)

    return run


def _quoted(name: object) -> str:
    return '"' + str(name).replace('"', '""') + '"'
