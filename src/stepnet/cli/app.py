"""The command line. Heavy imports are left to the commands that need them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from types import FrameType

import typer

from stepnet.cli import risks, scoring, study, train, use, why
from stepnet.cli.output import EXIT_BAD_INPUT, EXIT_FALSE, EXIT_INTERRUPTED, EXIT_TERMINATED, complain
from stepnet.errors import StepnetError
from stepnet.runtime.view import breaking_silence

EXIT_CODES = {
    0: "done",
    EXIT_FALSE: "a claim is false, or a requested proof stays open",
    EXIT_BAD_INPUT: "bad input; one line on standard error says what is wrong and what to do",
    EXIT_INTERRUPTED: "interrupted by Ctrl-C; the best network so far is written, if there is one",
    EXIT_TERMINATED: "ended by SIGTERM, like Ctrl-C",
}

_INTERRUPTED = "interrupted before there was a result."

app = typer.Typer(
    name="stepnet",
    help="Neural networks of step neurons, trained with a proof of how good they are.",
    epilog="Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + ".",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (
    train.demo,
    train.fit,
    scoring.score,
    use.predict,
    train.prove,
    train.widths,
    train.tradeoff,
    use.verify,
    use.attack,
    use.check,
    why.explain,
    why.counterfactual,
    risks.risk,
    use.report,
    use.export,
    study.reproduce,
    study.instances,
    study.solvers,
    study.warm_up,
):
    app.command()(command)


@app.callback()
def _common(
    version: bool = typer.Option(
        False, "--version", is_eager=True, help="Print the version.", callback=lambda v: _version(v)
    ),
) -> None:
    """Neural networks of step neurons, trained with a proof of how good they are."""


def _version(is_asked: bool) -> None:
    if is_asked:
        from stepnet import __version__

        print(f"stepnet {__version__}")
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; expected errors become one line and exit code 2, warnings one line."""
    code, terminated = 0, threading.Event()
    name = next(iter(sys.argv[1:] if arguments is None else arguments), "stepnet")
    try:
        with _terminating_like_ctrl_c(terminated), warnings.catch_warnings(), breaking_silence(f"{name} is at work"):
            warnings.showwarning = _warn
            app(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):  # Typer ends silently
            complain(_INTERRUPTED)
    except StepnetError as error:
        code = complain(str(error))
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - nobody reads it any more
    except OSError as error:
        code = complain(f"{error.filename or 'file'}: {error.strerror}")
    except ValueError as error:  # of scikit-learn, on bad data or parameters
        code = complain(" ".join(str(error).split()))
    except MemoryError:
        code = complain("not enough memory; use fewer rows or a smaller --hidden.")
    except KeyboardInterrupt:
        complain(_INTERRUPTED)
        code = EXIT_INTERRUPTED
    _exit(EXIT_TERMINATED if code == EXIT_INTERRUPTED and terminated.is_set() else code)


@contextlib.contextmanager
def _terminating_like_ctrl_c(terminated: threading.Event) -> Iterator[None]:
    """Inside, SIGTERM does what Ctrl-C would do: job schedulers and containers end programs with it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_terminate(signum: int, frame: FrameType | None) -> None:
        terminated.set()
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):  # a shell may have started us deaf to Ctrl-C
            raise KeyboardInterrupt
        interrupt(signum, frame)

    previous = signal.signal(signal.SIGTERM, on_terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """One line, as for errors."""
    complain(" ".join(str(message).split()))


def _exit(code: int) -> None:
    """Exit at once, even if a thread still compiles or shuts down in the background."""
    if any(thread.name.startswith("stepnet") for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
