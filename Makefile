# The course's commands. `make` alone lists them.
PYTHON ?= python3
TORCH_INDEX ?=
WORKERS ?= 2
LAB_FLAGS ?=
FILE ?=
NAME ?=
CAPTIONS_FLAGS ?=
DEMO_FLAGS ?=

# what the lessons need from the start, and what lesson 14 adds
MODEL := smollm2
MODELS := smollm2 whisper-tiny.en

# the newest of JupyterHub's proxy that runs on Debian 12's Node.js, 18
PROXY := 5.1.0

BIN := .venv/bin
INSTALL = $(PYTHON) tools/install.py --torch-index "$(TORCH_INDEX)"
# JupyterLab refuses to run as root (in a container, say) unless it is told to.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
# One thread a process, so that two workers and their kernels share the cores.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --no-loadscope-reorder
# the fast ones first
TESTS := course_lib tests/library tests/feedback tests/course tests/grading tests/deploy \
	tests/browser
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout=300 \
	--nbval-sanitize-with=tests/course/sanitize.cfg

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help lab chat captions demo slides test test-gpu check lint build release bench long mutants \
	weights env clean python env-teach env-grade env-hub env-test fetch fetch-all plan-lab \
	plan-test hub image nbgrader collect test-hub

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile
	@echo "Options: PYTHON=python3.12  TORCH_INDEX=cpu  WORKERS=2  LAB_FLAGS=--no-browser"

lab: plan-lab env fetch ## install what is missing, then open lesson 00 in JupyterLab
	$(BIN)/jupyter lab $(AS_ROOT) --ServerApp.root_dir=. \
	--LabApp.default_url=/lab/tree/notebooks/00_start.ipynb $(LAB_FLAGS)

chat: env fetch ## speak with SmolLM2 in this terminal
	@$(BIN)/python -m course_lib chat

captions: env ## write down what a recording says: make captions FILE=talk.wav
	@$(BIN)/python -m course_lib.pretrained fetch whisper-tiny.en
	@$(BIN)/python -m course_lib captions "$(or $(FILE),example)" $(CAPTIONS_FLAGS)

demo: env-teach fetch-all ## show a demo as a page, for a projector: make demo NAME=masks
	@$(BIN)/python tools/demo.py "$(NAME)" $(DEMO_FLAGS)

slides: env-teach ## cut slides from lessons and demos into slides/, for no network: all, or NAME=02_masks
	@$(BIN)/python tools/slides.py $(NAME)

test: plan-test env-test lint fetch-all ## all that CI runs: lint, library, course, every notebook
	$(PYTEST) --durations=25 $(TESTS)
	$(PYTEST) $(NBVAL) notebooks
	$(PYTEST) $(NBVAL:--nbval=--nbval-lax) exercises solutions

test-hub: env-hub ## a real server for a class, from the login to the marks (5 minutes)
	@$(INSTALL) --extra test --extra grade
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -rs tests/deploy

test-gpu: env-test fetch-all ## the notebooks on a CUDA device; fails where a gpu cell fell back
	@REQUIRE_CUDA=1 $(BIN)/python -c "from course_lib.hardware import device; device()" 2> /dev/null \
	|| { echo "make test-gpu needs a CUDA device that torch sees." >&2; exit 1; }
	REQUIRE_CUDA=1 CI=1 $(PYTEST) -n 1 $(NBVAL) notebooks

check: env-test lint ## the quick part of `make test`: lint and the fast tests
	$(PYTEST) -m "not slow" $(TESTS)

lint: env-test ## ruff alone: style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

build: env-test ## cut the notebooks from their text, run them, store them
	$(BIN)/python tools/notebooks.py build

release: env-test ## cut the exercises from the solutions
	$(BIN)/python tools/exercises.py release

bench: env-test fetch-all ## measure against peers, write benchmarks/RESULTS.md (30 minutes)
	$(BIN)/python -m pip install --quiet --no-deps -r benchmarks/peers.txt
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

long: env-test ## what `make test` leaves out: planted faults, three seeds, a grader killed (50 minutes)
	COURSE_LONG=1 $(PYTEST) tests/course/test_lessons.py tests/feedback \
	tests/browser/test_exported_lessons.py tests/grading/test_kills.py

mutants: env-test ## do the checks notice small faults in right answers? (12 minutes)
	OMP_NUM_THREADS=1 $(BIN)/python tools/mutants.py

nbgrader: env-grade ## take an exercise through nbgrader, and compare: make nbgrader NAME=02_masks
	@$(BIN)/python tools/nbgrader_route.py $(NAME)

weights: env ## fetch the weights of both models and verify them
	@$(BIN)/python -m course_lib.pretrained fetch $(MODELS)

env: python ## prepare .venv, as far as it is not ready
	@$(INSTALL)

hub: env-hub ## serve the class at http://127.0.0.1:8000 (INSTRUCTORS.md says how)
	$(BIN)/jupyterhub -f deploy/jupyterhub_config.py

image: ## build the image of a student's server; needs Docker
	docker build --tag decoder-course --file deploy/Dockerfile .

collect: ## copy what the class handed in: make collect NAME=02_masks
	@$(BIN)/python deploy/collect.py "$(NAME)"

clean: ## remove .venv and the caches in this folder (the weights stay)
	rm -rf .venv build *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

env-teach: python
	@$(INSTALL) --extra teach

env-grade: python ## prepare .venv for `python -m course_lib grade`
	@$(INSTALL) --extra grade

env-hub: python
	@$(INSTALL) --extra hub
	@test -x $(BIN)/configurable-http-proxy || { command -v npm > /dev/null || { \
	echo "The hub's proxy needs npm: sudo apt-get install npm" >&2; exit 1; }; \
	npm install --silent --global --prefix $(BIN)/.. configurable-http-proxy@$(PROXY); }

env-test: python
	@$(INSTALL) --extra dev

fetch-all: MODEL = $(MODELS)
fetch fetch-all:
	@$(BIN)/python -m course_lib.pretrained fetch $(MODEL) \
	|| echo "Going on without: what needs the weights will say so. 'make weights' tries again."

python:
	@command -v $(PYTHON) > /dev/null || { echo "$(PYTHON) was not found:" \
	"install Python 3.11 or newer, or name yours, as in 'make lab PYTHON=python3.12'." >&2; exit 1; }

plan-lab:
	@echo "make lab: .venv (once, 2 minutes, 1.4 GB), weights (once, 0.1 GB), JupyterLab."

plan-test:
	@echo "make test: .venv, lint, weights, tests, every notebook (about 45 minutes, first time 47)."
