# The two commands to know: make demo, make test. `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help demo test lint format clean

VENV := .venv
# Pictures are drawn to files, whether or not there is a screen.
export MPLBACKEND := Agg

help: ## list what make can do
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## install bayesjudge in .venv and correct a judge on the data that ship with it
	@$(VENV)/bin/bayesjudge demo

test: $(VENV)/.dev ## install the tools and run every check that CI runs: lint, types, all tests
	@sh tools/checks.sh $(VENV) $(PYTEST)

lint: $(VENV)/.dev ## run the checks that need no test run: ruff, import-linter, mypy
	@sh tools/checks.sh $(VENV) --lint

format: $(VENV)/.dev ## rewrite the code as ruff wants it
	@$(VENV)/bin/ruff check --fix .
	@$(VENV)/bin/ruff format .

clean: ## remove .venv and what the tools left behind
	rm -rf $(VENV) .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: an install is repeated only where what it read has changed. The package is installed
# editable, so that a change of code needs none.
$(VENV)/.runtime: pyproject.toml tools/venv.sh
	@sh tools/venv.sh $(VENV)
	@echo "Installing bayesjudge and what it runs on (once, about a minute)"
	@$(VENV)/bin/python -m pip install -qq --editable '.[plots]'
	@touch $@

$(VENV)/.dev: pyproject.toml tools/venv.sh
	@sh tools/venv.sh $(VENV)
	@echo "Installing bayesjudge and the tools of its tests (once, about a minute)"
	@$(VENV)/bin/python -m pip install -qq --upgrade 'pip>=25.1' # the first to know --group
	@$(VENV)/bin/python -m pip install -qq --group dev --editable '.[plots]'
	@touch $(VENV)/.runtime $@
