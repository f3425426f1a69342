"""Budgets: one clock, the first reason stays, Ctrl-C ends in good order."""

import signal
import threading
import time

import pytest

from stepnet.errors import InvalidInputError
from stepnet.runtime.limits import Budget


def test_the_first_reason_to_stop_stays():
    budget = Budget(100)
    assert budget.stop_reason is None
    budget.stop("callback")
    budget.stop("interrupted")
    assert budget.stop_reason == "callback"


def test_time_runs_out():
    budget = Budget(1e-9)
    assert budget.remaining == 0
    assert budget.stop_reason == "time"


@pytest.fixture(name="_hears")
def _hearing():
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us deaf to it
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, inherited)


@pytest.mark.usefixtures("_hears")
def test_a_first_interrupt_ends_the_fit_and_a_second_interrupts():
    budget = Budget(100)
    with budget.catching_interrupts("keep"):
        signal.raise_signal(signal.SIGINT)
        assert budget.stop_reason == "interrupted"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("_hears")
def test_an_interrupt_is_raised_again_after_the_work():
    done, budget = [], Budget(100)
    budget.stop("time")

    def work():
        signal.raise_signal(signal.SIGINT)
        done.append(budget.is_interrupted)

    with pytest.raises(KeyboardInterrupt), budget.catching_interrupts():
        work()
    assert done == [True]
    assert budget.stop_reason == "time"


@pytest.mark.usefixtures("_hears")
def test_an_error_is_an_interrupt_only_if_there_was_one():
    def fail(*, is_interrupted):
        if is_interrupted:
            signal.raise_signal(signal.SIGINT)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Budget(100).catching_interrupts():
        fail(is_interrupted=False)
    with pytest.raises(KeyboardInterrupt) as stop, Budget(100).catching_interrupts("keep"):
        fail(is_interrupted=True)
    assert isinstance(stop.value.__cause__, ZeroDivisionError)


@pytest.mark.usefixtures("_hears")
def test_nested_the_outermost_one_catches_and_all_parts_stop():
    budget, after = Budget(100), []
    parts = [budget.until(50), budget.after(10), budget.lasting(10)]

    def work():
        with budget.catching_interrupts():
            signal.raise_signal(signal.SIGINT)
        after.extend(part.stop_reason for part in parts)
        signal.raise_signal(signal.SIGINT)
        after.append("not reached")

    with pytest.raises(KeyboardInterrupt), budget.catching_interrupts():
        work()
    assert after == ["interrupted"] * 3


def test_the_budget_of_resumed_work_counts_the_time_before_and_a_part_begins_anew():
    budget = Budget(100.0, started=time.perf_counter() - 20)
    resumed, part = budget.after(50.0), budget.lasting(30.0)
    assert (resumed.elapsed >= 70, part.elapsed < 20) == (True, True)
    assert resumed.remaining <= 80
    assert part.remaining <= 30


def test_other_wishes_are_refused():
    with pytest.raises(InvalidInputError, match="'raise' or 'keep'"), Budget(1).catching_interrupts("ignore"):
        pass


def test_outside_the_main_thread_signals_are_left_alone():
    errors = []

    def work():
        try:
            with Budget(1).catching_interrupts():
                pass
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not errors
