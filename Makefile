PYTHON ?= python3
BIN := .venv/bin
BUDGET ?= quick
OUT ?= paper-results

.PHONY: setup demo test test-slow test-all test-machines package oldest check bench paper docs docs-links clean

setup: .venv/ready

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[all,dev]'
	-$(BIN)/stepnet warm-up # without it, the first fits have the kernels compiled
	touch $@

demo: setup
	$(BIN)/stepnet demo --out model.json

test: setup
	$(BIN)/pytest -n auto --dist worksteal -m "not slow"

test-slow: setup
	$(BIN)/pytest -n auto --dist worksteal -m slow

test-all: setup
	STEPNET_TEST_ALL=1 $(BIN)/pytest -n auto --dist worksteal

test-machines: setup # the numerical tests under the arithmetic of other CPUs
	$(BIN)/python tests/machines.py

package: setup # sdist and wheel, installed in environments of their own
	$(BIN)/python tests/shipping.py

oldest: # every dependency at the oldest version that pyproject.toml allows
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python --resolution lowest-direct --editable '.[all,dev]'
	.venv-oldest/bin/pytest -n auto --dist worksteal --ignore tests/test_readme.py --ignore tests/docs # other versions print other numbers

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python benchmarks/claims.py
	$(BIN)/python benchmarks/programs.py
	$(BIN)/python benchmarks/breast_cancer.py
	$(BIN)/python benchmarks/build.py
	$(BIN)/python benchmarks/cold.py
	$(BIN)/python benchmarks/limits.py
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/scale.py --rows 10000 100000
	$(BIN)/python benchmarks/multiclass.py
	$(BIN)/python benchmarks/domains.py
	$(BIN)/python benchmarks/models.py
	$(BIN)/python benchmarks/sparse_integer.py
	$(BIN)/python benchmarks/scores.py
	$(BIN)/python benchmarks/regression.py
	$(BIN)/python benchmarks/autoencoder.py
	$(BIN)/python benchmarks/online.py
	$(BIN)/python benchmarks/robust.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/frontier.py
	$(BIN)/python benchmarks/reach.py
	$(BIN)/python benchmarks/ways.py
	$(BIN)/python benchmarks/many_features.py
	$(BIN)/python benchmarks/agreement.py
	$(BIN)/python benchmarks/noisy.py
	$(BIN)/python benchmarks/error_limits.py
	$(BIN)/python benchmarks/predict.py
	$(BIN)/python benchmarks/kills.py
	$(BIN)/python benchmarks/fuzz.py
	$(BIN)/python benchmarks/mutants.py
	$(BIN)/python benchmarks/proofs.py
	$(BIN)/python benchmarks/first_steps.py
	$(BIN)/python benchmarks/exports.py
	$(BIN)/python benchmarks/sql.py
	$(BIN)/python benchmarks/reasons.py

paper: setup
	$(BIN)/stepnet reproduce all --budget $(BUDGET) --out $(OUT)

docs: setup
	$(BIN)/sphinx-build -W --keep-going -n -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html in a browser"

docs-links: setup
	$(BIN)/sphinx-build -q -b linkcheck docs docs/_build/links

clean:
	rm -rf docs/_build .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
