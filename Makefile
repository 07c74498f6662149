# Everything on a fresh machine: `make demo` and `make test`. Python 3.11 or newer and make are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test check bench vectors system clean

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

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py -o bench-output

vectors: $(VENV)/.runtime
	$(BIN)/python tools/make_vectors.py

clean:
	rm -rf $(VENV) demo bench-output .mypy_cache .ruff_cache .pytest_cache .hypothesis
