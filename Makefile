# Every command of the project. `make help` prints the comment that stands beside each target.

PYTHON   ?= python3
VENV     ?= .venv
# What `make bench` measures beside graphify, with TensorFlow, which is there anyway, and PyTorch,
# of which there is a build without GPU libraries, at an address of its own.
PEERS    ?= numba 'jax[cpu]' numexpr
TORCH    ?= --retries 1 --timeout 10 --index-url https://download.pytorch.org/whl/cpu
# Which rows `make bench` measures: a pattern such as ROWS='loops/*'.
ROWS     ?= *
# Test processes: two fit everywhere, and each may load TensorFlow.
WORKERS  ?= 2
# What `make test-no-tensorflow` runs: everything, or these files and folders.
ONLY     ?=
# How many random programs `make fuzz` tries.
PROGRAMS ?= 2000

BIN       = $(VENV)/bin
READY     = $(VENV)/.installed
BENCH_BIN = $(VENV)-bench/bin
BENCH     = $(VENV)-bench/.installed
# TensorFlow's C++ start-up messages are not about us.
export TF_CPP_MIN_LOG_LEVEL ?= 3

# ruff reads no setup.cfg, so its settings stand here. E731/E741: rules of an op are one-letter lambdas.
CODE      = graphify tests examples docs conftest.py
FORMAT    = --line-length 100 --target-version py311
# What is imported there is what converted code calls as `ag`.
LENIENT   = tests/*:B,tests/*:C4,tests/samples/*:E,tests/samples/*:F,tests/samples/*:UP
LINT      = $(FORMAT) --select E,F,W,I,B,C4,UP --ignore E731,E741 \
            --per-file-ignores '$(LENIENT)'
PYTEST    = $(BIN)/python -m pytest
SUITE     = $(PYTEST) -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo install test test-all test-no-tensorflow check format lint type acceptance golden bench bench-quick fuzz docs clean

help:  ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; do \
	    printf '  make %-18s %s\n' "$$name" "$$text"; done

demo: $(READY)  ## install, then cluster real handwritten digits with one compiled NumPy function
	$(BIN)/python examples/kmeans_digits.py

install: $(READY)  ## create the environment in .venv with everything the project needs

test: $(READY)  ## run the test suite and the examples in docstrings
	$(SUITE) -m "not slow" --ignore=tests/engines --ignore=tests/fuzz
	$(SUITE) -m "not slow" tests/engines
	$(SUITE) -m "not slow" tests/fuzz
	$(PYTEST) -q --doctest-modules graphify

test-all: $(READY)  ## run all tests, the slow ones too
	$(SUITE) --hypothesis-profile=ci
	$(PYTEST) -q --doctest-modules graphify

test-no-tensorflow: $(READY)  ## run the test suite, or ONLY=tests/api, as if TensorFlow were not installed
	PYTHONPATH=$(CURDIR)/tests/without_tensorflow $(SUITE) -q -m "not slow" $(ONLY)

check: lint type test docs  ## everything a change must pass

format: $(READY)  ## rewrite the code in the project's style
	$(BIN)/ruff check --isolated $(LINT) --fix $(wildcard $(CODE))
	$(BIN)/ruff format --isolated $(FORMAT) $(wildcard $(CODE))

lint: $(READY)  ## look for mistakes and for code that `make format` would change
	$(BIN)/ruff check --isolated $(LINT) $(wildcard $(CODE))
	$(BIN)/ruff format --isolated $(FORMAT) --check $(wildcard $(CODE))

type: $(READY)  ## check the types of graphify/ and of the random programs, strictly
	$(BIN)/mypy

acceptance: $(READY)  ## run the acceptance tests listed in tests/acceptance.txt
	$(PYTEST) -q tests/test_acceptance_list.py

golden: $(READY)  ## rewrite tests/golden/ from what the code prints now; read the diff
	$(PYTEST) -q --update-golden

bench: $(BENCH)  ## measure beside other compilers, in an environment of its own; write docs/benchmarks.md
	$(BENCH_BIN)/python tests/bench/run.py --rows '$(ROWS)' --json build/bench.json
	$(BENCH_BIN)/python tests/bench/report.py build/bench.json

bench-quick: $(READY)  ## run every benchmark once on small sizes, without the other compilers
	@set -e; for file in $(filter-out %/report.py,$(wildcard tests/bench/*.py)); do \
	    echo "== $$file"; $(BIN)/python $$file --quick; done

fuzz: $(READY)  ## run PROGRAMS=2000 random programs of all kinds plainly, eagerly and on all engines; no difference
	$(BIN)/python -m tests.fuzz $(PROGRAMS) --kind all --tensorflow 1 --workers $(WORKERS)

docs: $(READY)  ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

clean:  ## remove what the other targets wrote, the environments too
	rm -rf .venv .venv-bench .venv-ci build docs/_build examples/output *.egg-info
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is newer than setup.cfg exactly when the environment holds what setup.cfg asks for.
$(READY): setup.cfg pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(BENCH): setup.cfg pyproject.toml
	test -x $(BENCH_BIN)/python || $(PYTHON) -m venv $(VENV)-bench
	$(BENCH_BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[viz]' $(PEERS)
	$(BENCH_BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH) torch \
	    || $(BENCH_BIN)/python -m pip install --quiet --disable-pip-version-check torch
	@touch $@
