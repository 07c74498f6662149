# Everything on a fresh machine: `make demo` and `make test`. Python 3.11 or newer and make are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test quick coverage check proof bench nightly vectors schemas notebook system clean

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

# What checks the scripts, from a lock with hashes; no script of a package runs.
JS := tools/js/node_modules
$(JS)/.installed: tools/js/package-lock.json
	cd tools/js && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

system:
	tools/system-packages

demo: $(VENV)/.runtime
	$(BIN)/bcdp demo -o demo

# Each file in one process, which sets up its servers, browser or Spark once, in the order of tests/conftest.py; one
# thread in each, because more would wait for each other. Modules are compiled once, whatever the environment says:
# tests start hundreds of processes.
PARALLEL := -n 3 --dist loadfile --no-loadscope-reorder
test quick: export OPENBLAS_NUM_THREADS = 1
test quick: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.dev system
	$(BIN)/python -m pytest $(PARALLEL)

# The tests of daily work: no servers, browsers, engines, proofs or sweeps.
quick: $(VENV)/.dev
	$(BIN)/python -m pytest $(PARALLEL) -m 'not slow'

# Which lines of the package these tests reach, in one process; `make coverage TESTS=` for all.
TESTS = -m 'not slow'
coverage: $(VENV)/.dev
	$(BIN)/python -m coverage run -m pytest $(TESTS)
	$(BIN)/python -m coverage report

check: $(VENV)/.dev $(JS)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini
	$(JS)/.bin/prettier --check --log-level warn '{src/bcdp/web,packages,tests/js,tools/js}/**/*.{js,mjs,ts}'
	$(JS)/.bin/eslint --config tools/js/eslint.config.js src/bcdp/web packages tests/js tools/js
	$(JS)/.bin/tsc --project tools/js/tsconfig.json

proof: $(VENV)/.dev system
	CI=true $(BIN)/python -m pytest tests/project/test_proof.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/speed/run.py -o bench-output

nightly: $(VENV)/.dev system
	SWEEP=full $(BIN)/python -m pytest $(PARALLEL) $$(grep -rl support.sweeps tests --include='test_*.py')
	$(BIN)/python benchmarks/sweeps/readers.py
	$(BIN)/python benchmarks/sweeps/odds.py
	$(BIN)/python benchmarks/sweeps/bounds.py
	$(BIN)/python benchmarks/sweeps/odds_plans.py
	$(BIN)/python benchmarks/sweeps/if_wrong.py
	$(BIN)/python benchmarks/sweeps/many_demands.py
	$(BIN)/python benchmarks/studies/two_way_tables.py
	$(BIN)/python benchmarks/sweeps/table_sweep.py
	$(BIN)/python benchmarks/studies/table_coverage.py
	$(BIN)/python benchmarks/sweeps/table_pairs.py
	$(BIN)/python benchmarks/sweeps/internet_scale.py
	$(BIN)/python benchmarks/studies/table_rivals.py
	$(BIN)/python benchmarks/studies/tick_rivals.py
	$(BIN)/python benchmarks/studies/distributions.py
	$(BIN)/python benchmarks/studies/distributions.py coverage
	$(BIN)/python benchmarks/studies/distributions.py pairs
	$(BIN)/python benchmarks/studies/practice_coverage.py
	$(BIN)/python benchmarks/studies/interval_coverage.py
	$(BIN)/python benchmarks/studies/one_population.py
	$(BIN)/python benchmarks/studies/predictions.py
	$(BIN)/python benchmarks/studies/synthetic_records.py
	$(BIN)/python benchmarks/sweeps/published_counts.py
	$(BIN)/python benchmarks/studies/batch_worth.py
	$(BIN)/python benchmarks/sweeps/blocks.py
	$(BIN)/python benchmarks/sweeps/panels.py
	$(BIN)/python benchmarks/studies/most_frequent.py
	$(BIN)/python benchmarks/studies/panel_rivals.py
	$(BIN)/python benchmarks/studies/panel_coverage.py
	$(BIN)/python benchmarks/studies/weekly_plans.py
	$(BIN)/python benchmarks/studies/follow_up_coverage.py
	$(BIN)/python benchmarks/studies/partial_coverage.py
	$(BIN)/python benchmarks/studies/block_designs.py
	$(BIN)/python benchmarks/sweeps/fake_reports.py
	$(BIN)/python benchmarks/studies/fake_report_rivals.py
	$(BIN)/python benchmarks/sweeps/ledgers.py
	$(BIN)/python benchmarks/sweeps/correlate_lines.py
	$(BIN)/python benchmarks/studies/regression_coverage.py
	$(BIN)/python benchmarks/studies/regression_forecast.py
	$(BIN)/python benchmarks/studies/logistic.py
	$(BIN)/python benchmarks/sweeps/identical.py 50 200000
	$(BIN)/python benchmarks/sweeps/device_pythons.py
	$(BIN)/python benchmarks/sweeps/device_mutants.py
	$(BIN)/python benchmarks/speed/studio.py
	$(BIN)/python benchmarks/speed/survey_page.py
	tools/check_r_package

vectors: $(VENV)/.runtime
	$(BIN)/python tools/make_vectors.py
	$(BIN)/python tools/make_refused.py
	$(BIN)/python tools/refused_tasks.py

schemas: $(VENV)/.runtime
	$(BIN)/python tools/make_schemas.py

notebook: $(VENV)/.dev
	$(BIN)/python tools/run_notebook.py notebooks/tour.ipynb

clean:
	rm -rf $(VENV) demo bench-output .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
