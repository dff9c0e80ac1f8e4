# On a fresh machine with make and Python 3.11 or newer, `make demo` and `make test` do all set-up
# themselves, in .venv. ARGS goes to the program that a target runs: make test ARGS=tests/cli

ifndef PYTHON
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
endif
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
ARGS ?=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-gpu lint docs bench bench-suite clean

help:
	@echo 'make demo         forward dynamics of an arm and a quadruped, checked and timed'
	@echo 'make test         the tests, but for those that need a GPU'
	@echo 'make test-gpu     the tests that need one, with $$PYTHON where it has all they import'
	@echo 'make lint         format, lint and types'
	@echo 'make docs         the documentation, in docs/_build/html'
	@echo 'make bench        times beside Pinocchio; ARGS=--quick for a glance'
	@echo 'make bench-suite  the same cases under pytest-benchmark, to compare revisions'
	@echo 'make clean        remove everything that these made, .venv too'

demo: $(VENV)/.run
	@$(BIN)/grid demo $(ARGS)

# Benchmarks have no business among tests that run side by side.
test: $(VENV)/.test
	@$(BIN)/python -m pytest -n 2 -p no:benchmark -m 'not gpu' $(ARGS)

# A machine with a GPU may have every package and no way to fetch one: then nothing is installed.
NEEDS := attrs, click, jinja2, llvmlite, lxml, numpy, pluggy, rich, pytest
METADATA := $(CURDIR)/build/metadata
test-gpu:
	@if $(PYTHON) -c 'import $(NEEDS)'; then \
		$(PYTHON) tests/gpu/announce.py $(METADATA) && \
		PYTHONPATH=$(METADATA):$(CURDIR)$${PYTHONPATH:+:$$PYTHONPATH} $(PYTHON) -m pytest -m gpu $(ARGS); \
	else \
		$(MAKE) --no-print-directory $(VENV)/.gpu && $(BIN)/python -m pytest -m gpu $(ARGS); \
	fi

lint: $(VENV)/.lint
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

docs: $(VENV)/.docs
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html $(ARGS)

bench: $(VENV)/.test
	@$(BIN)/grid bench $(ARGS)

bench-suite: $(VENV)/.test
	@$(BIN)/python -m pytest tests/benchmarks/bench_operations.py --benchmark-only $(ARGS)

clean:
	rm -rf $(VENV) build dist docs/_build docs/_generated .benchmarks .hypothesis
	rm -rf .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@test -n "$(PYTHON)" || { \
		echo 'error: Python 3.11 or newer is needed; make PYTHON=/path/to/it names one' >&2; exit 1; }
	@echo 'making $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet --upgrade 'pip>=25.1'  # --group
	@touch $@

# pyproject.toml names packages and entry points, so all is installed again when it changes.
INSTALL = @echo 'installing into $(VENV)' && $(PIP) install --quiet
STAMP = @touch $@ $(VENV)/.run

$(VENV)/.run: $(VENV)/.created pyproject.toml
	$(INSTALL) -e .
	@touch $@

$(VENV)/.test: $(VENV)/.created pyproject.toml
	$(INSTALL) -e . --group test
	$(STAMP)

$(VENV)/.gpu: $(VENV)/.created pyproject.toml
	$(INSTALL) -e '.[cuda]' --group test
	$(STAMP)

$(VENV)/.lint: $(VENV)/.created pyproject.toml
	$(INSTALL) -e . --group lint
	$(STAMP)

$(VENV)/.docs: $(VENV)/.created pyproject.toml
	$(INSTALL) -e . --group docs
	$(STAMP)
