"""Ctrl-C: the fit ends with its network, and so does whatever is around the fit."""

import signal

import numpy as np
import pytest

from interrupting import interrupted_code
from stepnet import (
    Learn,
    Search,
    StepAutoencoder,
    StepClassifier,
    StepEnsembleClassifier,
    StepRegressor,
    load,
    save,
    smallest_width,
    verify_proof,
)
from stepnet.errors import InvalidInputError, NoNetworkError
from stepnet.estimators.committee import train_member
from stepnet.estimators.members import Oblique
from stepnet.estimators.pairs import train_pair
from stepnet.runtime.limits import Budget

RNG = np.random.default_rng(0)
X, Y, THREE = RNG.normal(size=(60, 3)), RNG.integers(0, 2, 60), RNG.integers(0, 3, 60)

ENDLESS = """
import itertools
import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score
from stepnet import StepClassifier

rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, 300)
classifier = StepClassifier((4,), method="prove", time_limit=10_000, random_state=0, verbose=1)
"""


@pytest.fixture(name="_hears", autouse=True)
def _hearing():
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us deaf to it
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, inherited)


def press_ctrl_c_once():
    """A second one would interrupt at once: the handler is the usual one again then."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        signal.raise_signal(signal.SIGINT)


class InterruptedSearch(Search):
    """Ctrl-C arrives when it begins."""

    def work(self, run, start=None):
        press_ctrl_c_once()
        super().work(run, start)


class InterruptedLearn(Learn):
    """Ctrl-C arrives when it begins."""

    @property
    def options(self):
        press_ctrl_c_once()
        return super().options


class InterruptedMembers:
    """Members of a committee; Ctrl-C arrives when one begins."""

    def train(self, problem, kept, seed, seconds, should_stop):
        press_ctrl_c_once()
        return Oblique(Learn().options).train(problem, kept, seed, seconds, should_stop)


BRIEF = Search(moves=10, starts=1)
FITS = {
    "classifier": lambda **o: (StepClassifier((2,), method=InterruptedSearch(), **o), "fit", (X, Y)),
    "pairs": lambda **o: (StepClassifier((2,), method=InterruptedSearch(), **o), "fit", (X, THREE)),
    "regressor": lambda **o: (StepRegressor((2,), method=InterruptedSearch(), **o), "fit", (X, X[:, 0])),
    "autoencoder": lambda **o: (StepAutoencoder(2, method=InterruptedSearch(), **o), "fit", (X,)),
    "learn": lambda **o: (StepClassifier((2,), method=InterruptedLearn(), **o), "fit", (X, Y)),
    "ensemble": lambda **o: (StepEnsembleClassifier(3, hidden=(2,), method=InterruptedLearn(), **o), "fit", (X, Y)),
    "partial_fit": lambda **o: (StepClassifier((2,), method=InterruptedSearch(), **o), "partial_fit", (X, Y)),
    "forget": lambda **o: (
        StepClassifier((2,), method=BRIEF).partial_fit(X, Y).set_params(method=InterruptedSearch(), **o),
        "forget",
        ([0],),
    ),
}


@pytest.mark.parametrize("kind", FITS)
def test_ctrl_c_is_raised_and_the_network_is_kept(kind):
    estimator, call, data = FITS[kind](random_state=0)
    with pytest.raises(KeyboardInterrupt):
        getattr(estimator, call)(*data)
    assert estimator.certificate_.stop_reason == "interrupted"
    if call == "forget":
        data = X[1:], Y[1:]
    assert estimator.verify(*data)


@pytest.mark.parametrize("kind", FITS)
def test_the_network_is_returned_on_request(kind, tmp_path):
    estimator, call, data = FITS[kind](random_state=0, on_interrupt="keep")
    assert getattr(estimator, call)(*data) is estimator
    assert estimator.certificate_.stop_reason == "interrupted"
    save(estimator.set_params(method=None), tmp_path / "model.json")
    assert load(tmp_path / "model.json").on_interrupt == "keep"


@pytest.mark.parametrize("estimator", [StepClassifier, StepRegressor, StepAutoencoder, StepEnsembleClassifier])
def test_other_wishes_are_refused(estimator):
    with pytest.raises(InvalidInputError, match="on_interrupt='ignore' must be 'raise' or 'keep'"):
        estimator(on_interrupt="ignore").fit(X, Y)


def test_a_second_ctrl_c_interrupts_at_once_and_leaves_the_estimator_as_it_was():
    def twice(progress):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    classifier = StepClassifier((2,), method=Search(), random_state=0, on_interrupt="keep")
    with pytest.raises(KeyboardInterrupt):
        classifier.fit(X, Y, on_incumbent=twice)
    assert not hasattr(classifier, "network_")


def test_without_a_network_an_interrupt_stays_one():
    """GridSearchCV would take an error for a fit that failed, and go on."""

    class Nothing(Search):
        def work(self, run, start=None):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as stop:
        StepClassifier((2,), method=Nothing(), on_interrupt="keep").fit(X, Y)
    assert isinstance(stop.value.__cause__, NoNetworkError)


def test_a_checkpoint_holds_the_interrupted_fit_and_can_be_resumed_with_another_wish(tmp_path):
    path = tmp_path / "checkpoint.json"
    for _ in range(2):  # the second one resumes
        classifier = StepClassifier((2,), method=InterruptedSearch(), random_state=0)
        with pytest.raises(KeyboardInterrupt):
            classifier.fit(X, Y, checkpoint=path, resume=True)
        assert classifier.certificate_.stop_reason == "interrupted"
    classifier = StepClassifier((2,), method=Search(moves=50, starts=1), random_state=0, on_interrupt="keep")
    classifier.fit(X, Y, checkpoint=path, resume=True)
    assert (classifier.predict(X) != Y).sum() == classifier.certificate_.loss


def test_a_method_returns_what_it_found_on_request():
    problem = StepClassifier((2,)).problem(X, Y)
    with pytest.raises(KeyboardInterrupt):
        InterruptedSearch().solve(problem)
    result = InterruptedSearch().solve(problem, on_interrupt="keep")
    assert (result.stop_reason, result.loss) == ("interrupted", problem.evaluate(result.network))


def test_a_worker_that_gets_the_ctrl_c_of_the_terminal_returns_its_network():
    """In another process nobody around it catches the signal."""
    problem = StepClassifier((2,)).problem(X, Y)
    budget = Budget(60)
    reached = train_pair(problem, InterruptedSearch(), 0, budget, 1.0)
    assert budget.is_interrupted
    assert reached.loss == problem.evaluate(reached.network)
    budget = Budget(60)
    held_out = np.where(np.arange(problem.dataset.n_rows) < 3, problem.dataset.weights, 0.0)
    member = train_member(problem, InterruptedMembers(), held_out, [0, 0], budget, 1.0)
    assert (budget.is_interrupted, member.network.widths, member.sums.shape) == (True, (2, 1), (3, 1))


def test_ctrl_c_ends_the_check_of_a_proof(tmp_path):
    rows = [[0.0], [1.0], [2.0]], [0, 1, 0]
    StepClassifier((1,), method="prove", random_state=0).fit(*rows).save_proof(tmp_path / "proof", *rows)
    shown = []

    def show(progress):
        shown.append(progress)
        press_ctrl_c_once()

    with pytest.raises(KeyboardInterrupt):
        verify_proof(tmp_path / "proof", show=show)
    assert shown


def test_widths_so_far_are_returned_on_request():
    def show(width):
        if width.width == 2:
            signal.raise_signal(signal.SIGINT)

    rows = np.arange(12.0)[:, None], np.arange(12) % 2
    with pytest.raises(KeyboardInterrupt):
        smallest_width(*rows, show=show)
    assert [one.width for one in smallest_width(*rows, show=show, on_interrupt="keep").curve] == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "search", ["cross_val_score(classifier, X, y)", "GridSearchCV(classifier, {'hidden': [(3,), (4,)]}).fit(X, y)"]
)
def test_a_loop_around_a_search_ends(search):
    done = interrupted_code(f"{ENDLESS}\nfor _ in itertools.count():\n    {search}\n    print('went on')\n")
    assert done.returncode == -signal.SIGINT, done.stderr
    assert done.stdout == ""
    assert done.stderr.endswith("KeyboardInterrupt\n")


def test_a_program_that_expects_ctrl_c_has_the_network():
    done = interrupted_code(f"""{ENDLESS}
try:
    classifier.fit(X, y)
except KeyboardInterrupt:
    print(classifier.certificate_.stop_reason, bool(classifier.verify(X, y)))
""")
    assert (done.returncode, done.stdout) == (0, "interrupted True\n"), done.stderr


def test_a_program_that_wants_the_network_goes_on():
    done = interrupted_code(f"""{ENDLESS}
certificate = classifier.set_params(on_interrupt="keep").fit(X, y).certificate_
print(certificate.stop_reason, (classifier.predict(X) != y).sum() == certificate.loss)
""")
    assert (done.returncode, done.stdout) == (0, "interrupted True\n"), done.stderr
