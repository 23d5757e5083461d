# `make reproduce` and `make test` need Python (3.11 or newer), a C compiler and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNELS := $(wildcard paucens/_kernels/*.pyx paucens/_kernels/*.pxd)

# Of `make fuzz`: inputs in all, and what they are drawn from.
N ?= 1000
SEED ?= 0

# Tests that reach every kernel, for the build that checks every index.
BOUNDS := tests/fuzz tests/kernels tests/classifiers/test_forest_scores.py tests/foundations/test_images.py \
	tests/detector/test_detector.py tests/detector/test_detector_training.py tests/proposals \
	$(patsubst %,tests/learners/test_%.py,trees missing category_splits binning column_samples) \
	$(patsubst %,tests/features/test_%.py,centrist channels covariance hog_flow lbp pyramid)

# Build a copy of the package in build/$(1) with settings $(2), and run the tests of the kernels on it with settings $(3).
# Functions without exceptions cannot pass on a wrong index: what they print becomes an error.
define checked
	rm -rf build/$(1)
	mkdir -p build/$(1)/src
	cp -r setup.py pyproject.toml README.md LICENSE paucens build/$(1)/src
	find build/$(1)/src -name '*.c' -delete -o -name '*.so' -delete
	$(2) $(BIN)/python -m pip install --quiet --no-deps --target build/$(1) build/$(1)/src
	cp -r pyproject.toml reproduce tests build/$(1)
	cd build/$(1) && $(3) ../../$(BIN)/python -m pytest -p no:cacheprovider \
		-W error::pytest.PytestUnraisableExceptionWarning $(BOUNDS)
endef
SANITIZERS := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer -g
RUNTIMES = $(shell gcc -print-file-name=libasan.so) $(shell gcc -print-file-name=libstdc++.so)

.PHONY: reproduce paper test bounds sanitize fuzz bench docs lint clean

reproduce: $(VENV)/.reproduce
	$(BIN)/python reproduce/all.py --scale small

paper: $(VENV)/.reproduce
	$(BIN)/python reproduce/all.py --scale paper

test: $(VENV)/.test lint
	$(BIN)/python -m pytest

bounds: $(VENV)/.test
	$(call checked,bounds,PAUCENS_DEBUG=1,)

# A wrong access or undefined behaviour ends the run with its place. LeakSanitizer would report Python itself.
sanitize: $(VENV)/.test
	$(call checked,sanitize,CFLAGS="$(SANITIZERS)" LDFLAGS="$(SANITIZERS)",LD_PRELOAD="$(RUNTIMES)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc)

fuzz: $(VENV)/.test
	PYTHONPATH=tests $(BIN)/python tests/fuzz/campaign.py $(N) $(SEED)

bench: $(VENV)/.bench
	$(BIN)/python -m pytest tests/benchmarks --benchmark-only -s

# build/docs/index.html. All examples run; PAUCENS_INTERSPHINX=1 adds links to other projects, for which it takes the
# network. What Sphinx warns of is an error.
docs: $(VENV)/.docs
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -n -W -q docs build/docs
	$(BIN)/python docs/check_links.py build/docs

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

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml setup.py $(KERNELS)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info docs/api docs/gallery docs/reproduction
	find paucens -name '*.c' -delete -o -name '*.so' -delete
