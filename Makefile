PYTHON ?= python3
BIN := .venv/bin
BUDGET ?= quick
OUT ?= paper-results

.PHONY: setup demo test test-all check bench paper clean

setup: .venv/ready

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[all,dev]'
	touch $@

demo: setup
	$(BIN)/stepnet demo --out model.json

test: setup
	$(BIN)/pytest -n auto

test-all: setup
	STEPNET_TEST_ALL=1 $(BIN)/pytest -n auto

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python benchmarks/claims.py
	$(BIN)/python benchmarks/exact.py
	$(BIN)/python benchmarks/breast_cancer.py
	$(BIN)/python benchmarks/build.py
	$(BIN)/python benchmarks/limits.py
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/scale.py --rows 10000 100000
	$(BIN)/python benchmarks/multiclass.py
	$(BIN)/python benchmarks/domains.py
	$(BIN)/python benchmarks/regression.py
	$(BIN)/python benchmarks/autoencoder.py
	$(BIN)/python benchmarks/online.py
	$(BIN)/python benchmarks/robust.py
	$(BIN)/python benchmarks/exports.py

paper: setup
	$(BIN)/stepnet reproduce all --budget $(BUDGET) --out $(OUT)

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
