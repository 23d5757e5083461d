# `make reproduce` and `make test` need Python (3.11 or newer), a C compiler and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNELS := $(wildcard paucens/_kernels/*.pyx paucens/_kernels/*.pxd)

# Of `make fuzz`: inputs per fuzzer, and what they are drawn from.
N ?= 1000
SEED ?= 0

# Tests that reach every kernel, for the build that checks every index.
BOUNDS := tests/fuzz tests/kernels tests/foundations/test_images.py tests/detector/test_detector.py tests/proposals \
	$(patsubst %,tests/learners/test_%.py,trees binning column_samples) \
	$(patsubst %,tests/features/test_%.py,centrist channels covariance lbp pyramid)

.PHONY: reproduce paper test bounds fuzz bench lint clean

reproduce: $(VENV)/.reproduce
	$(BIN)/python reproduce/all.py --scale small

paper: $(VENV)/.reproduce
	$(BIN)/python reproduce/all.py --scale paper

test: $(VENV)/.test lint
	$(BIN)/python -m pytest

bounds: $(VENV)/.test
	rm -rf build/bounds
	mkdir -p build/bounds/src
	cp -r setup.py pyproject.toml README.md LICENSE paucens build/bounds/src
	find build/bounds/src -name '*.c' -delete -o -name '*.so' -delete
	PAUCENS_DEBUG=1 $(BIN)/python -m pip install --quiet --no-deps --target build/bounds build/bounds/src
	cp -r pyproject.toml reproduce tests build/bounds
	cd build/bounds && ../../$(BIN)/python -m pytest -p no:cacheprovider $(BOUNDS)

fuzz: $(VENV)/.test
	PYTHONPATH=tests $(BIN)/python tests/fuzz/campaign.py $(N) $(SEED)

bench: $(VENV)/.bench
	$(BIN)/python -m pytest tests/benchmarks --benchmark-only -s

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint paucens/_kernels  # it calls pycodestyle by name

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.reproduce: $(VENV)/bin/python pyproject.toml setup.py $(KERNELS)
	$(BIN)/python -m pip install --quiet --editable ".[reproduce]"
	touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml setup.py $(KERNELS)
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
	find paucens -name '*.c' -delete -o -name '*.so' -delete
