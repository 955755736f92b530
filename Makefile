# Each of these works as the first command after a clone: it builds .venv and starts what it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test check bench soak docs clean
help:           ## what there is
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: .stamps/core   ## the main job on the embedded database: watch schedules fire (SECONDS=20 ends by itself)
	@$(BIN)/python -m examples.housekeeping

test: .stamps/dev   ## the whole suite
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: .stamps/dev   ## style, types, shape
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_shape.py

bench: .stamps/bench   ## speed beside rivals, in the same run
	$(BIN)/python -m bench

soak: .stamps/dev   ## the long forms of the tests, with figures and seeds
	$(BIN)/python -m pytest -m soak -s --override-ini addopts=

docs: .stamps/docs   ## the documentation, into site/
	$(BIN)/mkdocs build --strict

clean:          ## forget the environment
	rm -rf $(VENV) .stamps site dist

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rota needs Python 3.11 or newer; name one with PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -U "pip>=25.1"

.stamps/core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@mkdir -p $(@D) && touch $@

.stamps/dev: .stamps/core
	$(BIN)/python -m pip install -q --disable-pip-version-check --group dev
	@touch $@

.stamps/bench: .stamps/dev
	$(BIN)/python -m pip install -q --disable-pip-version-check --group bench
	@touch $@

.stamps/docs: .stamps/core
	$(BIN)/python -m pip install -q --disable-pip-version-check --group docs
	@touch $@
