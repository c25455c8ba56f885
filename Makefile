# Two commands are all a newcomer needs: `make demo` and `make test`.
# They need Python 3.11 or newer, make and a package index; everything is installed into .venv and nowhere else.

VENV := .venv
BIN := $(VENV)/bin
DEMO := demo-vault
# `make PYTHON=/path/to/python3.12 demo` chooses another interpreter.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && echo $$p && break; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install

.PHONY: help demo demo-clean test format lint types imports unit torture bench docs clean

help:
	@echo "make demo        build a vault from the example sources and review its first cards"
	@echo "make demo-clean  throw that vault away, reviews included"
	@echo "make test        format, lint, types, import contracts, tests: all that has to be green (11 minutes on 2 cores)"
	@echo "make torture     the long batteries, whole; writes the tables in docs/guard.md and docs/memory.md (it says how long it takes)"
	@echo "                 PART=2/5: the second fifth of them alone; MINUTES=6: none begins later; neither writes a table"
	@echo "make bench       the table of speeds"
	@echo "make docs        write docs/commands.md from the help texts"
	@echo "make clean       throw away .venv and every cache"

# --- the environment: made once, brought up to date when pyproject.toml has changed ---------------------------------

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "retain needs Python 3.11 or newer; say which: make PYTHON=/path/to/python3"; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv --clear $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	@echo "Installing retain into $(VENV) (some minutes the first time: 660 MB) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/installed-for-tests: pyproject.toml | $(BIN)/python
	@echo "Installing retain and what its tests need into $(VENV) ..."
	@$(PIP) --editable '.[test]'
	@touch $(VENV)/installed $@

# --- the two commands -----------------------------------------------------------------------------------------------

demo: $(VENV)/installed
	@sh examples/demo.sh $(BIN)/retain $(DEMO)

demo-clean:
	rm -rf $(DEMO)

docs: $(VENV)/installed
	@$(BIN)/python docs/commands.py
	@$(BIN)/python docs/lint.py
	@$(BIN)/python docs/exchange.py
	@$(BIN)/python docs/anki.py

# The tests take all cores; the checks run beside them, one after another.
test: $(VENV)/installed-for-tests
	@$(MAKE) --no-print-directory --keep-going --jobs=2 unit format lint types imports

format: $(VENV)/installed-for-tests
	@$(BIN)/ruff format --check .

lint: $(VENV)/installed-for-tests
	@$(BIN)/ruff check .

types: $(VENV)/installed-for-tests
	@$(BIN)/mypy

imports: $(VENV)/installed-for-tests
	@said=$$($(BIN)/lint-imports 2>&1) && echo "The import contracts are kept." || { echo "$$said"; exit 1; }

# Byte code is kept whatever the environment says: hundreds of processes that the tests start would compile anew.
unit: $(VENV)/installed-for-tests
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal

torture: $(VENV)/installed-for-tests
	$(BIN)/python -m tests.torture $(patsubst %/5,--fifth %,$(PART)) $(if $(MINUTES),--minutes $(MINUTES))

bench: $(VENV)/installed-for-tests
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
