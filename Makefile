# Needs Python 3.11 or newer with its venv module, and make. Everything else is installed into .venv.

VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet install
# An environment that uv made has no pip.
WITH_PIP = $(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
USABLE := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))

# The first Python of this machine that will do; asked for only while .venv is being made.
FIND_PYTHON = for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if "$$python" -c '$(USABLE)' >/dev/null 2>&1; then echo "$$python"; exit; fi; done

.PHONY: predict check test test-slow browser matrix readme schemas site release-check lint ci clean
.NOTPARALLEL:

predict: $(VENV)/.installed
	@$(BIN)/podsim predict bert --pod 512

# Format, types, floors, and the tests that take milliseconds each: what a change needs while it is written.
QUICK = physics lowering engines tiles topology workloads convergence report
check: lint
	@$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow" tests/test_units.py $(QUICK:%=tests/%)

test: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not browser"

# What `make test` leaves out: fits without each group, all published rows, second cases of what takes a second, killed
# processes and injected faults; and each property with eight times the examples.
test-slow: $(VENV)/.installed-dev
	@HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n auto --dist worksteal -m "slow or hypothesis"

# podsim app in Debian's Chromium without a window; skipped with a word where there is none.
browser: $(VENV)/.installed-dev
	@$(PIP) --editable '.[browser]'
	@$(BIN)/python -m pytest -m browser tests/browser

# The tests on every Python that uv finds here, with the newest and the lowest dependencies declared, one after the other.
PYTHONS = 3.11 3.12 3.13 3.14
matrix:
	@for python in $(PYTHONS); do for resolution in highest lowest-direct; do \
		folder=build/matrix/$$python-$$resolution; \
		uv python find --no-python-downloads $$python >/dev/null 2>&1 || { echo "no Python $$python here" >&2; break; }; \
		echo "=== Python $$python, $$resolution dependencies" >&2; \
		uv venv --quiet --clear --no-python-downloads --python $$python $$folder && \
		uv pip install --quiet --python $$folder --resolution $$resolution --editable '.[dev]' && \
		$$folder/bin/python -m pytest -n auto --dist worksteal -p no:cacheprovider -m "not browser" || exit 1; \
	done; done

# What pages show of podsim, written anew; `make test` compares.
readme: $(VENV)/.installed-dev
	@PODSIM_UPDATE=1 $(BIN)/python -m pytest --quiet tests/architecture/test_shown.py tests/site/test_site.py

# JSON Schemas, pages of the file formats and words to complete, written anew from the code; `make test` compares.
schemas: $(VENV)/.installed-dev
	@$(BIN)/python docs/hooks/write.py

# The site, in build/site: a strict build, then its links, what it would fetch, and its search.
site: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build
	@$(BIN)/python docs/hooks/check_site.py

# Whether all is ready for a person to publish; docs/how-to/release.md says what comes before and after.
release-check: $(VENV)/.installed-docs
	@$(BIN)/python docs/hooks/release.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

ci:
	.ci/run

clean:
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find podsim tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@python=$$($(FIND_PYTHON)); \
	if [ -z "$$python" ]; then \
		echo "make: podsim needs Python 3.11 or newer with its venv module, and found none." >&2; \
		echo "make: on Debian and Ubuntu: apt install python3-venv; or name one: make PYTHON=/path/to/python3.12" >&2; \
		exit 1; \
	fi; \
	echo "making $(VENV) with $$("$$python" --version)" >&2; \
	"$$python" -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "installing podsim into $(VENV)" >&2
	@$(WITH_PIP)
	@$(PIP) --editable .
	@touch $@

# The development installation contains the other one, so it marks both as done.
$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@echo "installing podsim and its development tools into $(VENV)" >&2
	@$(WITH_PIP)
	@$(PIP) --editable '.[dev]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/.installed-dev
	@echo "installing what the site is built with" >&2
	@$(PIP) --editable '.[dev,docs]'
	@touch $@
