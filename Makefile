# Each target sets up what it needs in .venv; only Python >= 3.11 and make must be there.
.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin
ORACLES := .venv-oracles
SPARK := .venv-spark
LOCK := .venv-lock
# the first interpreter on the path that is new enough
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
# what an import needs is compiled when it is first imported
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
DEMO_OUT ?= demo-out
TESTS ?=
# a file's tests stay together, and files that take long come first (tests/conftest.py)
WORKERS := -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: help demo quick test test-slow test-spark check wheel docs bench reproduce kernels oracles mutants lock names format clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/'

demo: $(VENV)/.core  ## synthetic data: attack, anonymize, check, attack again, utility
	@rm -rf "$(DEMO_OUT)" "$(DEMO_OUT)"-report*.html
	@$(BIN)/starshade demo --out "$(DEMO_OUT)"

quick: $(VENV)/.dev  ## before each commit: rules, golden values, units, contracts; no command line, few examples
	@HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -q $(WORKERS) -m "not slow" --ignore=tests/system $(TESTS)

test: $(VENV)/.dev  ## the everyday test suite
	@$(BIN)/python -m pytest $(WORKERS) -m "not slow" $(TESTS)

test-slow: $(VENV)/.dev  ## what takes long: browsers, kills, whole reproductions, guides and tutorials, large sizes
	@$(BIN)/python -m pytest $(WORKERS) -m slow $(TESTS)

# what is missing is named, with how to install it
test-spark:  ## the engine spark on real clusters of this machine; pyspark stays in an environment of its own
	@java="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	command -v "$$java" > /dev/null || { [ -z "$$JAVA_HOME" ] && command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ] && \
		{ apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -qq -y openjdk-17-jre-headless; }; } > /dev/null 2>&1; \
	version=$$("$$java" -version 2>&1 | sed -nE 's/.*version "(1\.)?([0-9]+).*/\2/p' | head -n 1); \
	if [ "$${version:-0}" -lt 17 ]; then echo "skipped: Spark needs Java 17 or later, and $$java is $${version:+version }$${version:-not there} (Debian: apt-get install openjdk-17-jre-headless)"; \
	elif ! $(MAKE) $(SPARK)/.ready; then echo "skipped: pyspark could not be installed (pip install 'starshade[spark]')"; \
	else $(SPARK)/bin/python -m pytest -p no:cacheprovider $(WORKERS) tests/contract/test_spark.py tests/system/test_spark.py "tests/system/test_benchmarks.py::test_smallest_size[spark]"; fi

check: $(VENV)/.dev  ## lint, format, types, import floors
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -m "not slow" tests/house

wheel:  ## build the wheel, install it with nothing else in an environment of its own, run the demo with it
	@rm -rf dist && $(PYTHON) -m venv dist/env
	@dist/env/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@dist/env/bin/python -m pip install --quiet --disable-pip-version-check dist/starshade-*.whl
	@cd dist && env -u PYTHONPATH env/bin/starshade demo --out demo --seed 1
	@du -sm dist/env/lib/python3*/site-packages/* | sort -rn | head -12; du -sm dist/env/lib/python3*/site-packages

docs: $(VENV)/.docs  ## the documentation as a site, in site/
	@$(BIN)/python -m mkdocs build --strict --site-dir site

bench: $(VENV)/.dev  ## the benchmarks, beside their rivals (long; see benchmarks/README.md)
	@for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# a run that was cut short goes on; the documentation shows the site of made-up ratings
reproduce: $(VENV)/.dev  ## what holds of the papers, as a site for each data set under STARSHADE_DATA, else of made-up ratings, in reproduction/ (minutes to an hour)
	@mkdir -p reproduction; \
	names=$$(cd "$${STARSHADE_DATA:-/nowhere}" 2>/dev/null && ls -d ml-100k ml-latest-small 2>/dev/null); \
	for name in $${names:-made-up}; do \
		rm -rf "reproduction/$$name"; \
		[ -z "$$names" ] || set -- --data "$$STARSHADE_DATA/$$name"; \
		$(BIN)/starshade reproduce all "$$@" --out "reproduction/$$name" --resume --seed 1 || exit 1; \
	done; \
	rm -rf reproduction/compared; \
	(cd reproduction && ../$(BIN)/starshade reproduce compare $${names:-made-up} --out compared)

oracles: $(ORACLES)/.ready  ## ask pyCANON again; the tests compare with the values it stores
	@$(ORACLES)/bin/python tests/oracles/pycanon_values.py

kernels: $(VENV)/.dev  ## list anew what the first commands compile, to be compiled ahead
	@$(BIN)/python -m tests.ahead

# HYPOTHESIS_PROFILE=quick takes less time; a survivor is tried again with ARGS='--at FILE:LINE'
mutants: $(VENV)/.dev  ## small changes that make the code wrong: which do the tests not notice? (long; SEED=1 N=60 ARGS='--nearest --json')
	@$(BIN)/python -m tests.mutants --seed $(or $(SEED),1) -n $(or $(N),60) $(ARGS)

lock:  ## resolve the versions in constraints.txt anew, for every platform; run the suite before they are committed
	@$(PYTHON) -m venv $(LOCK) && $(LOCK)/bin/python $(INSTALL) 'uv>=0.5,<1'
	@printf 'hatchling>=1.27\neditables\n' | $(LOCK)/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
		--generate-hashes --no-annotate --custom-compile-command 'make lock' --extra dev --output-file constraints.txt pyproject.toml -

names: $(VENV)/.dev  ## write the public names down for type checkers, after something was registered
	@$(BIN)/python -m tests.public_names

format: $(VENV)/.dev  ## rewrite the sources in the house format
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks

clean:  ## remove what the targets made
	rm -rf $(VENV) $(ORACLES) $(SPARK) $(LOCK) dist site reproduction test-out demo-out* bench-out .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "starshade needs Python 3.11 or later on the path"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	@echo "setting up $(VENV) (once)"
	@$(BIN)/python $(INSTALL) --editable '.[report]'
	@touch $@

# the versions that the suite passes on, by their hashes (`make lock`); what users get stands in pyproject.toml
$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "setting up $(VENV) with the developers' tools (once)"
	@$(BIN)/python $(INSTALL) --no-deps --require-hashes --requirement constraints.txt
	@$(BIN)/python $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.core $(VENV)/.docs

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	@echo "setting up $(VENV) with what writes the documentation (once)"
	@$(BIN)/python $(INSTALL) --editable '.[docs,report]'
	@touch $@ $(VENV)/.core

$(SPARK)/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "starshade needs Python 3.11 or later on the path"; exit 1; }
	@echo "setting up $(SPARK) (once)"
	@$(PYTHON) -m venv $(SPARK)
	@$(SPARK)/bin/python $(INSTALL) --editable '.[spark,test]'
	@touch $@

# pyCANON pins its world: an environment of its own, without starshade
$(ORACLES)/.ready:
	@test -n "$(PYTHON)" || { echo "starshade needs Python 3.11 or later on the path"; exit 1; }
	@echo "setting up $(ORACLES) (once)"
	@$(PYTHON) -m venv $(ORACLES)
	@$(ORACLES)/bin/python $(INSTALL) 'pycanon>=1.3,<2'
	@touch $@
