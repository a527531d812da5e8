# The two commands to know: make demo, make test. `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help demo test fast near studies faults mutants test-lowest test-newest docs links lint format index clean

VENV := .venv
# Pictures are drawn to files, whether or not there is a screen.
export MPLBACKEND := Agg

help: ## list what make can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## install bayesjudge in .venv and correct a judge on the data that ship with it
	@$(VENV)/bin/bayesjudge demo

test: $(VENV)/.dev ## install the tools and run every check that CI runs: lint, types, tests (THIRD=all: each in every setting)
	@sh tools/checks.sh $(VENV) $(PYTEST)

fast: $(VENV)/.dev ## run the tests that sample and compile nothing (a bare pytest does the same in one process)
	@$(VENV)/bin/python -m pytest -q --numprocesses 2 --dist worksteal $(PYTEST)

near: $(VENV)/.dev ## run the fast tests of the files that differ from main (FILES= names others)
	@$(VENV)/bin/python tools/near.py $(FILES) -- $(PYTEST)

studies: $(VENV)/.dev ## run the long tests, which show what a benchmark shows in full
	@$(VENV)/bin/python -m pytest -m study $(PYTEST)
	@$(VENV)/bin/python benchmarks/core/faults.py

faults: $(VENV)/.dev ## plant every fault of benchmarks/core/faults.toml and print those that no test catches
	@$(VENV)/bin/python benchmarks/core/faults.py $(FAULTS)

mutants: $(VENV)/.dev ## draw N=200 mutants of the package by SEED= and print those that no test notices
	@$(VENV)/bin/python benchmarks/core/mutants.py --count $(or $(N),200) --seed $(or $(SEED),0)

test-lowest: ## run fast, compiling and saving tests with the lowest versions that are allowed
	@sh tools/bounds.sh lowest $(PYTEST)

test-newest: ## the same with the newest versions there are, upper bounds or not
	@sh tools/bounds.sh newest $(PYTEST)

docs: $(VENV)/.dev ## build the site in docs/_build/html; a warning is an error
	@$(VENV)/bin/python -m pip install -qq --group docs
	@$(VENV)/bin/python -m sphinx -E -W --keep-going -q -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

links: $(VENV)/.dev ## look whether the links of the site lead somewhere; needs the internet
	@$(VENV)/bin/python -m pip install -qq --group docs
	@$(VENV)/bin/python -m sphinx -q -b linkcheck -d docs/_build/doctrees docs docs/_build/links

lint: $(VENV)/.dev ## run the checks that need no test run: ruff, import-linter, mypy
	@sh tools/checks.sh $(VENV) --lint

format: $(VENV)/.dev ## rewrite the code as ruff wants it
	@$(VENV)/bin/ruff check --fix .
	@$(VENV)/bin/ruff format .

index: $(VENV)/.dev ## write the index of the studies, benchmarks/README.md, and the picture of the modules, in CONTRIBUTING.md
	@$(VENV)/bin/python tools/index_benchmarks.py
	@$(VENV)/bin/python tools/structure.py --picture

clean: ## remove .venv and what the tools left behind
	rm -rf $(VENV) .coverage docs/_build docs/_copied docs/_reports docs/api docs/notebooks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
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
