# Needs python3 ≥ 3.11, git and make; everything else is fetched into .venv, build and frontend/node_modules.

PYTHON ?= python3
BOOTSTRAP = $(PYTHON) deploy/dev/bootstrap.py
BIN = .venv/bin
ONLY ?=

.PHONY: help up test verify lint fuzz bench demo-reset screenshots

help:
	@echo "make up           run the whole platform here (Ctrl-C stops it)"
	@echo "make test         the Python tests; ARGS='tests/cli -x' narrows them"
	@echo "make lint         ruff, mypy, import rules"
	@echo "make verify       everything that CI runs"
	@echo "make fuzz         the random tests, at random; what fails is kept in tests/seeds"
	@echo "make bench        measure and print; ONLY=prefix narrows it"
	@echo "make demo-reset   throw the demo's data away"
	@echo "make screenshots  pictures of the pages for the guide"

up:
	@$(BOOTSTRAP) base
	@exec $(BIN)/muster up

test:
	@$(BOOTSTRAP) dev
	@$(BIN)/pytest $(ARGS)

lint:
	@$(BOOTSTRAP) dev --no-front
	@deploy/dev/lint

verify:
	@$(BOOTSTRAP) dev
	@deploy/dev/verify

fuzz:
	@$(BOOTSTRAP) dev
	@deploy/dev/fuzz

bench:
	@$(BOOTSTRAP) dev
	@$(BIN)/python -m tests.perf $(ONLY)

demo-reset:
	@$(BOOTSTRAP) base --no-front
	@$(BIN)/python -m muster.cli.up.reset

screenshots:
	@$(BOOTSTRAP) dev
	@$(BIN)/python -m tests.e2e.screenshots
