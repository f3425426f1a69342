"""SQL: the statements of networks answer as predict does on SQLite, DuckDB and PostgreSQL, row for row.

    python benchmarks/sql.py

Networks and their 100,000 rows and more are those of exports.py. For floats, rows that are in doubt are counted apart;
for integers, rows are rounded first, and none may be in doubt. PostgreSQL is left out where no server is installed.
CPU seconds are those of this process, which for PostgreSQL leave out the server. Writes results/sql.txt.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time

import duckdb
import numpy as np
import pandas as pd

from common import RESULTS
from databases import BINARIES, on_duckdb, on_sqlite, running_postgres
from exports import networks, rows_of
from stepnet.export import to_sql

CHOSEN = (
    "Breast Cancer, 25 neurons",
    "digits 4 and 9",
    "Breast Cancer, 8 ternary neurons, floats",
    "Breast Cancer, 10 and 5",
)


def counted(model, statement, run, rows) -> tuple[int, int]:
    """How many rows that are not in doubt have another answer, and how many are in doubt."""
    frame = pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])]).assign(row=np.arange(len(rows)))
    found = run(statement, frame).sort_values(0)  # in any order they come
    is_doubtful = found[2].astype(bool).to_numpy()
    return int((found[1].to_numpy() != model.predict(rows))[~is_doubtful].sum()), int(is_doubtful.sum())


def main() -> None:
    lines = [f"SQLite {sqlite3.sqlite_version}, DuckDB {duckdb.__version__}"]
    lines.append(f"{'network':42} {'rows':>7} {'database':9} {'inputs':9} {'differ':>6} {'in doubt':>8} {'CPU s':>6}")
    rng = np.random.default_rng(0)
    with contextlib.ExitStack() as stack:
        databases = {"sqlite": on_sqlite, "duckdb": on_duckdb}
        if BINARIES is not None:
            server = stack.enter_context(running_postgres())
            databases["postgres"] = server.answers
            lines[0] += f", PostgreSQL {server.ask('SHOW server_version').strip()}"
        print(*lines, sep="\n", flush=True)
        for name, _, (X, y), estimator in networks():
            if not name.startswith(CHOSEN):
                continue
            estimator.fit(X, y)
            rows = rows_of(X, "floats", rng)
            for database, run in databases.items():
                for inputs in ("floats", "integers"):
                    statement = to_sql(estimator, dialect=database, inputs=inputs, columns="all", keep=["row"])
                    begin = time.process_time()
                    own = rows if inputs == "floats" else np.round(rows)
                    differing, doubtful = counted(estimator, statement, run, own)
                    seconds = time.process_time() - begin
                    line = f"{name:42} {len(rows):7} {database:9} {inputs:9} {differing:6} {doubtful:8} {seconds:6.1f}"
                    lines.append(line)
                    print(line, flush=True)
    (RESULTS / "sql.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
