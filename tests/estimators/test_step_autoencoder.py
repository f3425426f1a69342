"""StepAutoencoder: rows to bits and back."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import stepnet
from stepnet import Search, StepAutoencoder
from stepnet.errors import InvalidInputError


def quick(**changes):
    return StepAutoencoder(**{"n_components": 2, "time_limit": 60, "random_state": 0} | changes)


@parametrize_with_checks([quick(), quick(hidden=(3,)), quick(method=Search(moves=20, starts=1), time_limit=30)])
def test_scikit_learn_s_checks_pass(estimator, check):
    check(estimator)


def test_codes_are_bits_and_lead_back():
    X = load_digits().data[:500]
    coder = quick(n_components=16).fit(X)
    codes = coder.transform(X)
    assert codes.shape == (500, 16)
    assert set(np.unique(codes)) <= {0, 1}
    restored = coder.inverse_transform(codes)
    assert (restored == coder.network_.predict(X)).all()
    assert coder.score(X) == pytest.approx(1 - ((restored - X) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum())
    assert ((restored - X) ** 2).sum() == pytest.approx(coder.certificate_.loss)
    signs = (PCA(16).fit(X).transform(X) > 0).astype(float)
    with_ones = np.column_stack([signs, np.ones(500)])
    by_pca = with_ones @ np.linalg.lstsq(with_ones, X, rcond=None)[0]
    assert coder.certificate_.loss < ((by_pca - X) ** 2).sum()


def test_deep_ones_name_their_code_layer():
    X = load_digits().data[:300]
    coder = quick(n_components=8, hidden=(20, 12)).fit(X)
    assert coder.network_.widths == (20, 12, 8, 12, 20, 64)
    assert coder.code_layer_ == 2
    assert coder.transform(X).shape == (300, 8)
    assert (coder.inverse_transform(coder.transform(X)) == coder.network_.predict(X)).all()
    lopsided = quick(n_components=8, hidden=(20,), decoder=()).fit(X)
    assert lopsided.network_.widths == (20, 8, 64)


def test_few_rows_are_proven():
    X = [[0, 0, 1], [5, 0, 1], [0, 7, 1], [5, 7, 1]]
    coder = quick(method="prove").fit(X)
    assert coder.certificate_.status == "OPTIMAL"
    assert coder.certificate_.loss == pytest.approx(0, abs=1e-12)
    assert coder.verify(X)
    assert len(np.unique(coder.transform(X), axis=0)) == 4


def test_names_frames_pipelines_pickles_and_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(load_digits().data[:100]).add_prefix("pixel")
    coder = quick(n_components=3).set_output(transform="pandas").fit(X)
    frame = coder.transform(X)
    assert list(frame.columns) == ["stepautoencoder0", "stepautoencoder1", "stepautoencoder2"]
    stepnet.save(coder, tmp_path / "coder.json")
    for again in (pickle.loads(pickle.dumps(coder)), stepnet.load(tmp_path / "coder.json")):
        assert (again.transform(X) == frame.to_numpy()).all(axis=None)
        assert again.certificate_ == coder.certificate_
    pipeline = make_pipeline(StandardScaler(), quick()).fit(X.to_numpy())
    assert pipeline.transform(X.to_numpy()).shape == (100, 2)


@pytest.mark.parametrize("codes", [[[0, 1, 0]], [[0, 2]], [[0.5, 1]]])
def test_other_codes_are_refused(codes):
    coder = quick().fit(load_digits().data[:50])
    with pytest.raises(InvalidInputError, match="2 columns of numbers from 0 to 1"):
        coder.inverse_transform(codes)


def test_bad_parameters_are_named():
    with pytest.raises(InvalidInputError, match="n_components=0"):
        quick(n_components=0).fit([[1.0], [2.0]])
