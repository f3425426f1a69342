"""The numerical tests under the arithmetic of other machines: kernels of BLAS, vector units of numpy, code of numba.

Run by ``make test-machines``; arguments go to pytest. One line for each configuration, exit code 1 if one fails.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# What computes with floats, and pages that print them.
PARTS = "model problem constructions bounds uncertainty search solvers provers conformance properties test_soundness.py"
# Which features of a CPU the kernels of OpenBLAS need: they are not asked for, and a CPU without them ends the process.
KERNELS = {"Prescott": "SSE3", "Haswell": "AVX2", "SkylakeX": "AVX512_SKX"}


def configurations(cache: str) -> dict[str, dict[str, str]]:
    """Environment variables, by what they stand for; only what this CPU can do."""
    core = np._core._multiarray_umath
    has, dispatched = core.__cpu_features__, [one for one in core.__cpu_dispatch__ if core.__cpu_features__[one]]
    kernels = (
        [name for name, needs in KERNELS.items() if has.get(needs)] if platform.machine() in ("x86_64", "AMD64") else []
    )
    plain_numpy = {"NPY_DISABLE_CPU_FEATURES": " ".join(dispatched)} if dispatched else {}
    plain_numba = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": cache}
    one_thread = {"OPENBLAS_NUM_THREADS": "1"}
    return {
        "one thread for BLAS": one_thread,
        "two threads for BLAS": {"OPENBLAS_NUM_THREADS": "2"},
        **{f"BLAS for {name}": {"OPENBLAS_CORETYPE": name} for name in kernels},
        **({"numpy for the oldest CPUs": plain_numpy} if plain_numpy else {}),
        "numba for any CPU": plain_numba,
        "all of the plainest": one_thread
        | plain_numpy
        | plain_numba
        | {"OPENBLAS_CORETYPE": name for name in kernels[:1]},
    }


def main() -> int:
    paths = [str(ROOT / "tests" / part) for part in PARTS.split()]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "auto",
        "--dist",
        "worksteal",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        *paths,
    ]
    failed = []
    with tempfile.TemporaryDirectory() as cache:
        for name, changes in configurations(cache).items():
            begin = time.perf_counter()
            done = subprocess.run(
                [*command, *sys.argv[1:]],
                cwd=ROOT,
                env=os.environ | changes,
                capture_output=True,
                text=True,
                check=False,
            )
            last = done.stdout.strip().splitlines()[-1:] or ["no output"]
            print(
                f"{'failed' if done.returncode else 'passed'}  {name:28} {time.perf_counter() - begin:5.0f} s  {last[0]}"
            )
            if done.returncode:
                failed.append(name)
                print(done.stdout[-20_000:] + done.stderr[-5_000:])
    print(f"failed under: {', '.join(failed)}" if failed else "the same everywhere")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
