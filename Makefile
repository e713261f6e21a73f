# make demo | make test: everything is set up on the first run, in .venv; needs python3 (3.11 or newer) and the package index.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
# It has dependencies that ours exclude.
DBT := $(VENV)/dbt
RUN := $(VENV)/.run-stamp
DEV := $(VENV)/.dev-stamp
# Made where pip knows --group.
GROUPS := $(VENV)/.pip-stamp

# Many tests start Python anew: what it compiled is kept, even where it is told not to.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist worksteal

.DEFAULT_GOAL := help
MINUTES ?= 2
COMMAND ?= release data/pw_rockyou.csv --epsilon 1 -o - --quiet

.PHONY: help demo test quick soak mutants check profile map docs dist fix bench clean

help: ## say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What is installed is compiled where it is first used: to compile all of it takes longer than the demo.
demo: $(RUN) ## release real data privately and show it beside the truth
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python tools/demo.py demo-output

test: check ## run every check, and all tests but those that take long
	$(PYTEST)

quick: check ## run every check and the first case of each quick test, as after an edit
	$(PYTEST) --quick

soak: $(DEV) ## run the tests that take long, and read neighbors through every way in with fresh seeds: make soak MINUTES=60
	$(PYTEST) --soak $(if $(SEED),--soak-seed $(SEED))
	$(BIN)/python -m anonhist_testing.way_in.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

mutants: $(DEV) ## change the code in many places, one at a time, and see tests fail
	$(BIN)/python tools/mutants.py

check: $(DEV) ## lint, formatting, types (of the examples in the documents too), dead code (architecture is checked by the tests)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/check_examples.py
	$(BIN)/vulture

profile: $(RUN) ## say where the time of one command goes: make profile COMMAND="release data/pw_rockyou.csv --epsilon 1 -o -"
	$(BIN)/python tools/profile_command.py $(COMMAND)

map: $(RUN) ## draw the rooms of the house and what they import
	$(BIN)/python tools/house_map.py

docs: $(DEV) ## build the documentation site in build/site, and check it: warnings are errors
	@echo "Installing what the site needs …" >&2
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	$(BIN)/python -m venv --without-pip $(DBT)
	$(BIN)/python -m pip --python $(DBT) install --quiet --disable-pip-version-check --group pipelines \
		|| echo "dbt cannot be installed here: the guide that needs it is skipped" >&2
	rm -rf build/site docs/auto_gallery docs/reference/generated
	$(BIN)/python -m sphinx -W --keep-going -q -E -j auto -b html -c docs . build/site
	@echo "Checking the pages, and then running what the guides show …" >&2
	$(BIN)/python tools/check_site.py build/site
	$(BIN)/python tools/check_how_to.py

dist: $(DEV) ## build what is published, check it, and run it with the oldest and the newest dependencies
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group release
	rm -rf dist build
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist

fix: $(DEV) ## format, and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV) ## measure accuracy and speed, and write docs/benchmarks (about four hours)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	$(BIN)/python bench/pages.py

clean: ## remove the environment and what was made
	rm -rf $(VENV) demo-output dist build docs/auto_gallery docs/reference/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then echo "Python 3.11 or newer is needed; install it, or name it: make PYTHON=/path/to/python3"; exit 1; fi
	@echo "Setting up .venv with $(PYTHON) ..." >&2
	@$(PYTHON) -m venv $(VENV)

$(RUN): pyproject.toml | $(BIN)/python
	@echo "Installing anonhist and what it needs ..." >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable .
	@touch $@

$(GROUPS): | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@touch $@

$(DEV): pyproject.toml $(RUN) | $(GROUPS)
	@echo "Installing what the tests need ..." >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group test --group lint
	@touch $@
