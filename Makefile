# Every target sets up what it needs: a clone, make and Python 3.10 to 3.13 are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup demo lint test test-numbers test-others test-containers docs
.DEFAULT_GOAL := help

help:
	@echo "make demo    train the handwritten digits under every strategy, and compare"
	@echo "make test    check style and types, and run all tests"
	@echo "make lint    check style and types"
	@echo "make test-containers    build the image and train in it: as root, on Debian"
	@echo "make docs    build the documentation into build/site"
	@echo "make setup   install tfdist and its tools in $(VENV), which the others do by themselves"

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' || \
	{ echo "tfdist needs Python 3.10 to 3.13, and $(PYTHON) is not: give one with make PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[tensorboard,test]'
	@touch $@

demo: $(READY)
	$(BIN)/python -m tfdist.demo

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The comparison with one device only computes and the others often wait: both at once, it behind.
test: lint
	@$(MAKE) -f $(firstword $(MAKEFILE_LIST)) --no-print-directory --jobs=2 --keep-going test-others test-numbers

test-others: $(READY)
	$(BIN)/pytest --ignore=tests/conformance

test-numbers: $(READY)
	@mkdir -p build
	@echo "$(BIN)/pytest tests/conformance, shown when it ends"; \
	nice -n 19 $(BIN)/pytest --timeout=1200 tests/conformance > build/numbers.txt 2>&1; \
	code=$$?; cat build/numbers.txt; exit $$code

test-containers: $(READY)
	$(BIN)/python -m pip install --quiet podman-compose
	docker/test.sh

docs: $(READY)
	$(BIN)/mkdocs build --strict
