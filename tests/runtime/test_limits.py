"""Budgets: one clock, the first reason stays, Ctrl-C ends in good order."""

import signal
import threading

import pytest

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


def test_a_first_interrupt_ends_the_fit_and_a_second_interrupts():
    budget = Budget(100)
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us deaf to it
    try:
        with budget.catching_interrupts():
            signal.raise_signal(signal.SIGINT)
            assert budget.stop_reason == "interrupted"
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, inherited)


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


def test_a_stop_in_a_part_ends_the_whole():
    whole = Budget(60.0)
    part = whole.until(30.0).until(10.0)
    part.stop("callback")
    assert whole.stop_reason == "callback"
    assert whole.until(50.0).is_used_up()
