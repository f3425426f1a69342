"""The numerical tests under the arithmetic of other machines: kernels of BLAS, vector units of numpy, code of numba.

Run by ``make test-machines``; arguments go to pytest. One line for each configuration, exit code 1 if one fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# What computes with floats; and pages, which print them.
PARTS = """
model problem constructions bounds uncertainty search provers properties proof_files
conformance/test_losses.py test_soundness.py test_readme.py docs/test_pages.py
"""
# What kernels of OpenBLAS need of a CPU. OpenBLAS does not ask, and without it the process would end.
KERNELS = {"Prescott": "SSE3", "Haswell": "AVX2", "SkylakeX": "AVX512_SKX"}


def configurations(cache: str) -> dict[str, dict[str, str]]:
    """Environment variables by what they stand for, as far as this CPU can do it."""
    numpy = np._core._multiarray_umath
    kernels = [name for name, feature in KERNELS.items() if numpy.__cpu_features__.get(feature)]
    units = " ".join(unit for unit in numpy.__cpu_dispatch__ if numpy.__cpu_features__[unit])
    one, oldest = {"OPENBLAS_NUM_THREADS": "1"}, {"OPENBLAS_CORETYPE": kernels[0]} if kernels else {}
    no_units = {"NPY_DISABLE_CPU_FEATURES": units} if units else {}
    any_cpu = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": cache}
    return {
        "one thread for BLAS": one,
        "two threads for BLAS": {"OPENBLAS_NUM_THREADS": "2"},
        **{f"BLAS for {name}": {"OPENBLAS_CORETYPE": name} for name in kernels},
        "numpy without vector units": no_units,
        "numba for any CPU": any_cpu,
        "the plainest of all": one | oldest | no_units | any_cpu,
    }


def run(changes: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", "-p", "no:cacheprovider"]
    paths = [str(ROOT / "tests" / part) for part in PARTS.split()]
    command += ["-m", "not slow", *paths, *sys.argv[1:]]
    return subprocess.run(command, cwd=ROOT, env=os.environ | changes, capture_output=True, text=True, check=False)


def main() -> int:
    failed = []
    with tempfile.TemporaryDirectory() as cache:
        for name, changes in configurations(cache).items():
            begin = time.perf_counter()
            done = run(changes)
            verdict, last = "FAILED" if done.returncode else "passed", done.stdout.strip().rpartition("\n")[2]
            print(f"{verdict}  {name:28} {time.perf_counter() - begin:5.0f} s  {last}", flush=True)
            if done.returncode:
                failed.append(name)
                print(done.stdout + done.stderr, flush=True)
    print(f"failed under: {', '.join(failed)}" if failed else "passed under all of them")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
