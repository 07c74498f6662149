# Everything on a fresh machine: `make demo` and `make test`. Python 3.11 or newer and make are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test quick coverage check proof bench nightly vectors notebook system clean

$(VENV)/.runtime: requirements/runtime.txt requirements/build.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "bcdp needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements/runtime.txt
	$(PIP) --require-hashes -r requirements/build.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt requirements/spark.txt
	$(PIP) --require-hashes -r requirements/dev.txt
	$(PIP) --require-hashes -r requirements/spark.txt
	touch $@

system:
	tools/system-packages

demo: $(VENV)/.runtime
	$(BIN)/bcdp demo -o demo

test: $(VENV)/.dev system
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The tests of daily work: no servers, browsers, engines, proofs or sweeps.
SLOW := audit_blackbox audit_exact bound cascade% certificate cli_experiment collector% correlation_pilot \
	correlation_prior counting_engines counts design distribution docs experiments intervals logistic npm_package \
	odds_design package policies_planned proof readers regression% relay report shapes simulate spark% streaming \
	studio% web%
QUICK = $(filter-out $(foreach name,$(SLOW),$(wildcard tests/test_$(subst %,*,$(name)).py)),$(wildcard tests/test_*.py))
quick: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist worksteal $(QUICK)

# Which lines of the package these tests reach, in one process; `make coverage TESTS=tests` for all.
TESTS = $(QUICK)
coverage: $(VENV)/.dev
	$(BIN)/python -m coverage run -m pytest $(TESTS)
	$(BIN)/python -m coverage report

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

proof: $(VENV)/.dev system
	CI=true $(BIN)/python -m pytest tests/test_proof.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py -o bench-output

nightly: $(VENV)/.dev system
	$(BIN)/python benchmarks/readers.py
	$(BIN)/python benchmarks/odds.py
	$(BIN)/python benchmarks/bounds.py
	$(BIN)/python benchmarks/odds_plans.py
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/table_sweep.py
	$(BIN)/python benchmarks/table_coverage.py
	$(BIN)/python benchmarks/table_pairs.py
	$(BIN)/python benchmarks/table_rivals.py
	$(BIN)/python benchmarks/distributions.py
	$(BIN)/python benchmarks/distributions.py coverage
	$(BIN)/python benchmarks/distributions.py pairs
	$(BIN)/python benchmarks/practice_coverage.py
	$(BIN)/python benchmarks/counts.py
	$(BIN)/python benchmarks/regression_coverage.py
	$(BIN)/python benchmarks/regression_forecast.py
	$(BIN)/python benchmarks/logistic.py
	$(BIN)/python benchmarks/identical.py 50 200000
	$(BIN)/python benchmarks/device_mutants.py
	$(BIN)/python benchmarks/studio.py

vectors: $(VENV)/.runtime
	$(BIN)/python tools/make_vectors.py
	$(BIN)/python tools/make_refused.py

notebook: $(VENV)/.dev
	$(BIN)/python tools/run_notebook.py notebooks/tour.ipynb

clean:
	rm -rf $(VENV) demo bench-output .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
