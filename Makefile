# make demo   the quickest way to see what hmeta does
# make help   everything else

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo reports test slow check lint types contracts docs docs-check lock clean

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed
EXTRAS := pymc
WORKERS ?= 2
say = @if [ -t 1 ]; then printf '\n\033[1m== %s\033[0m\n' "$(1)"; else printf '\n== %s\n' "$(1)"; fi

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(INSTALLED)  ## Build .venv with the tested versions (done by the others where it is missing)

$(INSTALLED): pyproject.toml constraints.txt
	$(call say,setting up .venv (once; about a minute with a fast connection))
	@PYTHON="$(PYTHON)" EXTRAS="$(EXTRAS)" bash .ci/setup
	@touch $@

demo: $(INSTALLED)  ## Fit the shipped file of 33 language models × 6 domains; table, figure and report
	$(call say,fitting data/mmlu_atlas.nc: 33 language models × 6 domains)
	@mkdir -p demo
	@$(BIN)/hmeta fit data/mmlu_atlas.nc -o demo/fit.nc --overwrite || { status=$$?; [ $$status = 3 ] || exit $$status; }
	$(call say,metacognitive efficiency M by model)
	@$(BIN)/hmeta summary demo/fit.nc
	$(call say,figure)
	@$(BIN)/hmeta plot forest demo/fit.nc -o demo/forest.png --overwrite
	$(call say,report)
	@$(BIN)/hmeta report demo/fit.nc data/mmlu_atlas.nc -o demo/report --overwrite --title "MMLU atlas: 33 language models"
	@printf '\nWritten: demo/fit.nc (the whole fit), demo/forest.png (the figure), demo/report/report.html (open it).\n'

reports: $(INSTALLED)  ## Make the reports of reports/gallery again from the shipped data (minutes)
	@HMETA=$(BIN)/hmeta bash reports/make_gallery

test: $(INSTALLED)  ## Run the tests (minutes)
	$(call say,tests)
	@$(BIN)/python -m pytest -n $(WORKERS) -q -m "not slow"

slow: $(INSTALLED)  ## Run the slow tests: recovery, calibration, the documents' examples
	$(call say,slow tests)
	@$(BIN)/python -m pytest -n $(WORKERS) -q -m slow

check: lint types contracts docs-check slow test  ## Everything that a change must pass

lint: $(INSTALLED)  ## Style and likely mistakes
	$(call say,lint)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(INSTALLED)  ## Static types
	$(call say,types)
	@$(BIN)/pyright

contracts: $(INSTALLED)  ## Which room may import which
	$(call say,import contracts)
	@$(BIN)/lint-imports

docs: $(INSTALLED)  ## Write docs/reference again from the command line and the docstrings
	$(call say,reference pages)
	@$(BIN)/python docs/build_reference.py

docs-check: $(INSTALLED)  ## Are the reference pages current?
	$(call say,reference pages are current)
	@$(BIN)/python docs/build_reference.py --check

lock: $(INSTALLED)  ## Choose the pinned versions again
	@{ head -1 constraints.txt; $(BIN)/uv pip compile pyproject.toml --extra pymc --group dev --group setup \
		--universal --python-version 3.12 --no-header --no-annotate --quiet; } > constraints.new
	@mv constraints.new constraints.txt

clean:  ## Remove what was built (.venv, caches, demo output)
	rm -rf .venv demo dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache
