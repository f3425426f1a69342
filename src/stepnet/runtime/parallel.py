"""Independent tasks in parallel: in threads, or in whatever joblib is configured for.

The kernels release the global interpreter lock, so threads suffice on one machine. Within
``joblib.parallel_config(backend="dask")`` the same tasks run on a cluster.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from joblib import Parallel, delayed

from stepnet.errors import SolverError, StepnetError

T = TypeVar("T")


def in_order(
    function: Callable[..., T], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None, prefer: str = "threads"
) -> Iterator[T]:
    """The results of ``function(*a)`` for each a, in the order of the arguments.

    Pure Python work should use ``prefer="processes"``.
    """
    return _results("generator", function, arguments, n_jobs, prefer)


def as_finished(
    function: Callable[..., T], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None, prefer: str = "threads"
) -> Iterator[T]:
    """The results of ``function(*a)`` for each a, in the order in which they are ready."""
    return _results("generator_unordered", function, arguments, n_jobs, prefer)


def _results(
    return_as: str, function: Callable[..., T], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None, prefer: str
) -> Iterator[T]:
    if n_jobs == 1:
        for argument in arguments:
            yield function(*argument)
        return
    tasks = Parallel(n_jobs=n_jobs, prefer=prefer, return_as=return_as, pre_dispatch="n_jobs", batch_size=1)
    try:
        with warnings.catch_warnings():
            # A caller that reads only the first results abandons the others on purpose.
            warnings.filterwarnings("ignore", message=".*tasks have been successfully executed.*")
            warnings.filterwarnings("ignore", message=".*tasks which were still being processed.*")
            yield from tasks(delayed(function)(*argument) for argument in arguments)
    except (StepnetError, GeneratorExit, KeyboardInterrupt):
        raise
    except Exception as error:
        if not any(word in type(error).__name__ for word in ("Worker", "Broken")):
            raise  # an error of the task itself
        raise SolverError(
            f"a worker process died ({type(error).__name__}: {error}). It may have run out of memory; "
            f"try fewer jobs, or n_jobs=1."
        ) from error
