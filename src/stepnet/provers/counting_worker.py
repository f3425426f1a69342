"""A process of its own for the solver ``exact``, which takes over signals, locks the interpreter while it works, and
checks its time limit rarely.

Reads one command per line, in JSON: ``["add", [[coefficient, variable], ...], degree]`` for Σ coefficient · variable >=
degree, and ``["run", seconds, assumed]`` for a search in which a variable (0: none) is 1. Answers to a search are
``null`` (the time is up), ``false``, or the values of all variables. Variables are numbered from 1.

    python counting_worker.py [NAME VALUE]...
"""

import json
import os
import sys

ANSWERS = {"UNSAT": False, "INCONSISTENT": False, "TIMEOUT": None}


def main(*options: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever the solver prints is no answer
    import exact

    solver = exact.Exact(list(zip(options[::2], options[1::2], strict=True)))
    names: list[str] = []
    for line in sys.stdin:
        command, *details = json.loads(line)
        if command == "add":
            terms, degree = details
            while len(names) < max((number for _, number in terms), default=0):
                names.append(f"x{len(names) + 1}")
                solver.addVariable(names[-1], 0, 1)
            solver.addConstraint([(value, names[number - 1]) for value, number in terms], True, degree)
            continue
        seconds, assumed = details
        solver.clearAssumptions()
        if assumed:
            solver.setAssumptions([(names[assumed - 1], 1)])
        state = solver.runFull(False, seconds)
        found = solver.getLastSolutionFor(names) if state == "SAT" else ANSWERS[state]
        answers.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
