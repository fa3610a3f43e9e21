# The course's commands. `make` alone lists them.
PYTHON ?= python3
TORCH_INDEX ?=
WORKERS ?= 2
LAB_FLAGS ?=

BIN := .venv/bin
INSTALL = $(PYTHON) tools/install.py --torch-index "$(TORCH_INDEX)"
# JupyterLab refuses to run as root (in a container, say) unless it is told to.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
# One thread a process, so that two workers and their kernels share the cores.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS)
NBVAL := --dist loadfile --nbval --nbval-current-env --nbval-cell-timeout=180 \
	--nbval-sanitize-with=tests/course/sanitize.cfg

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help lab chat test test-gpu check lint build bench weights env clean \
	python env-test fetch plan-lab plan-test

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile
	@echo "Options: PYTHON=python3.12  TORCH_INDEX=cpu  WORKERS=2  LAB_FLAGS=--no-browser"

lab: plan-lab env fetch ## install what is missing, then open lesson 00 in JupyterLab
	$(BIN)/jupyter lab $(AS_ROOT) --ServerApp.root_dir=. \
	--LabApp.default_url=/lab/tree/notebooks/00_start.ipynb $(LAB_FLAGS)

chat: env fetch ## speak with SmolLM2 in this terminal
	@$(BIN)/python -m course_lib chat

test: plan-test env-test lint fetch ## all that CI runs: lint, library, course, every notebook
	$(PYTEST) --dist loadgroup course_lib tests
	$(PYTEST) $(NBVAL) notebooks

test-gpu: env-test fetch ## the notebooks on a CUDA device; fails where a gpu cell fell back
	@REQUIRE_CUDA=1 $(BIN)/python -c "from course_lib.hardware import device; device()" 2> /dev/null \
	|| { echo "make test-gpu needs a CUDA device that torch sees." >&2; exit 1; }
	REQUIRE_CUDA=1 CI=1 $(PYTEST) -n 1 $(NBVAL) notebooks

check: env-test lint ## the quick part of `make test`: lint and the fast tests
	$(PYTEST) --dist loadgroup -m "not slow" course_lib tests

lint: env-test ## ruff alone: style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

build: env-test ## cut the notebooks from their text, run them, store them
	$(BIN)/python tools/notebooks.py build

bench: env-test fetch ## measure against peers, write benchmarks/RESULTS.md (4 minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

weights: env ## fetch the model's weights and verify them
	@$(BIN)/python -m course_lib.pretrained fetch

env: python ## prepare .venv, as far as it is not ready
	@$(INSTALL)

clean: ## remove .venv and the caches in this folder (the weights stay)
	rm -rf .venv build *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

env-test: python
	@$(INSTALL) --extra dev

fetch:
	@$(BIN)/python -m course_lib.pretrained fetch \
	|| echo "Going on without: what needs the weights will say so. 'make weights' tries again."

python:
	@command -v $(PYTHON) > /dev/null || { echo "$(PYTHON) was not found:" \
	"install Python 3.11 or newer, or name yours, as in 'make lab PYTHON=python3.12'." >&2; exit 1; }

plan-lab:
	@echo "make lab: .venv (once, 2 minutes, 1.4 GB), weights (once, 0.1 GB), JupyterLab."

plan-test:
	@echo "make test: .venv, lint, weights, tests, every notebook (about 20 minutes, first time 22)."
