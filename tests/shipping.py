"""What is shipped: sdist and wheel, in environments of their own. Run by ``make package``.

Builds both, installs the wheel without extras and the sdist with them, runs the command and the module, trains,
predicts, exports and reports, and checks the types of a user's program against ``py.typed``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CSV = "a,b,y\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n"
RIGHT = """
import numpy as np
from stepnet import Ball, Certificate, Exact, Network, StepClassifier, load, save, smallest_width

clf = StepClassifier(hidden=(2,), method=Exact(solver="highs"), uncertainty=Ball("linf", 0.1), time_limit=5.0)
fitted: StepClassifier = clf.fit(np.zeros((2, 2)), [0, 1])
certificate: Certificate = fitted.certificate_
network: Network = fitted.network_
loss: float = certificate.loss
save(fitted, "model.json")
"""
WRONG = RIGHT + "loss_in_words: str = certificate.loss\nStepClassifier(hiden=(2,))\nnetwork.predicts([[0.0]])\n"


def run(*command: str | Path, cwd: Path, fails: bool = False) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    if (done.returncode != 0) != fails:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def environment(folder: Path, *packages: str) -> Path:
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "pip", "install", "--quiet", *packages, cwd=folder)
    return folder / "bin"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        run(sys.executable, "-m", "build", "--outdir", here / "dist", ROOT, cwd=here)
        (wheel,), (sdist,) = (here / "dist").glob("*.whl"), (here / "dist").glob("*.tar.gz")
        print(f"built {wheel.name} ({wheel.stat().st_size:,} bytes) and {sdist.name} ({sdist.stat().st_size:,} bytes)")
        (here / "t.csv").write_text(CSV)

        plain = environment(here / "plain", str(wheel))
        assert run(plain / "python", "-m", "stepnet", "--version", cwd=here) == run(
            plain / "stepnet", "--version", cwd=here
        )
        run(plain / "stepnet", "fit", "t.csv", "--target", "y", "--hidden", "2", cwd=here)
        run(plain / "stepnet", "predict", "model.json", "t.csv", cwd=here)
        run(plain / "stepnet", "export", "model.json", "--to", "c", cwd=here)
        assert "pip install 'stepnet[report]'" in run(plain / "stepnet", "report", "model.json", cwd=here, fails=True)
        assert "pip install 'stepnet[onnx]'" in run(
            plain / "stepnet", "export", "model.json", "--to", "onnx", cwd=here, fails=True
        )
        print("without extras: the command and the module run; what is missing is named")

        full = environment(here / "full", f"{sdist}[onnx,report,parquet,scip,cpsat,check]", "mypy")
        run(full / "stepnet", "fit", "t.csv", "--target", "y", "--hidden", "2", cwd=here)
        run(full / "stepnet", "report", "model.json", "t.csv", "--target", "y", cwd=here)
        run(full / "stepnet", "export", "model.json", "--to", "onnx", "--check", "t.csv", cwd=here)
        assert "not installed" not in run(full / "stepnet", "solvers", cwd=here).replace("Gurobi   not installed", "")
        print("with extras: report, ONNX and solvers run")

        (here / "right.py").write_text(RIGHT)
        (here / "wrong.py").write_text(WRONG)
        run(full / "mypy", "--strict", "right.py", cwd=here)
        complaints = run(full / "mypy", "--strict", "wrong.py", cwd=here, fails=True)
        assert complaints.count("error:") == 3, complaints
        print("types: a right program passes mypy --strict, three mistakes are three errors")


if __name__ == "__main__":
    main()
