# Every target makes the environment it needs; a bare machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev
READY_BENCH := $(VENV)/.ready-bench
READY_DOCS := $(VENV)/.ready-docs
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: quickstart show test test-all test-web test-wheel bench models docs lint clean

quickstart: $(READY)
	$(BIN)/mam quickstart

show: $(READY_DEV)
	$(BIN)/mam show --browser

test: $(READY_DEV)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" mam tests

test-all: $(READY_BENCH) lint docs
	$(BIN)/python -m pytest -n 2 --dist worksteal mam tests

# The page in a real browser; where there is no Chromium, playwright brings one (see test_browser.py).
test-web: $(READY_DEV)
	command -v chromium || command -v google-chrome || $(BIN)/playwright install --with-deps chromium
	$(BIN)/python -m pytest tests/web

# The first afternoon of a user, with the wheel, in an environment and a folder of its own.
WHEEL := build/wheel
test-wheel:
	rm -rf $(WHEEL) && mkdir -p $(WHEEL)/first_afternoon
	$(PYTHON) -m venv $(WHEEL)/venv
	$(WHEEL)/venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir $(WHEEL) .
	$(WHEEL)/venv/bin/python -m pip install --quiet --disable-pip-version-check pytest hypothesis \
		beartype scikit-learn "$$(echo $(WHEEL)/*.whl)[draw,interchange]"
	cp tests/conftest.py tests/first_afternoon/wheel.ini $(WHEEL)/
	cp tests/first_afternoon/*.py $(WHEEL)/first_afternoon/
	cd $(WHEEL) && venv/bin/python -m pytest -c wheel.ini --rootdir . first_afternoon

lint: $(READY_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: $(READY_BENCH)
	$(BIN)/python -m bench

# The bundled models, learned from the project's own generators.
models: $(READY)
	mkdir -p build
	$(BIN)/mam make pathfinder --level hard --count 10 --seed 7 --out build/contours.parquet
	$(BIN)/mam learn parts build/contours.parquet --out mam/bundled/pathfinder-parts.safetensors \
		--picture docs/pictures/pathfinder-parts.png
	$(BIN)/mam make pathfinder --level hard --count 300 --seed 8 --out build/contours-300.parquet
	$(BIN)/mam learn contours build/contours-300.parquet --images 300 \
		--out mam/bundled/contours.safetensors
	$(BIN)/python -c "from pathlib import Path; from mam.data import encode_png, make_row, recipe; \
		row = make_row(recipe('pathfinder', 'hard', 1), 24); \
		Path('mam/bundled/hard.png').write_bytes(encode_png(row.image))"
	$(BIN)/mam make cabc --level hard --count 5 --seed 7 --out build/letters.parquet
	$(BIN)/mam learn parts build/letters.parquet --count 1 --size 9 \
		--out mam/bundled/cabc-parts.safetensors --picture docs/pictures/cabc-parts.png
	$(BIN)/mam learn curves --seed 7 --count 3000 --out mam/bundled/curves.safetensors
	$(BIN)/mam make cabc --level hard --count 1200 --seed 8 --out build/letters-hard.parquet
	$(BIN)/mam learn objects build/letters-hard.parquet --out mam/bundled/letters.safetensors

# The pages of docs/ and a reference from the docstrings; a broken link is an error.
docs: $(READY_DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("mam needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml $(VENV)/bin/python
	$(PIP) -e .
	touch $@

$(READY_DEV): pyproject.toml $(VENV)/bin/python
	$(PIP) -e ".[dev]"
	touch $@ $(READY)

$(READY_DOCS): $(READY_DEV)
	$(PIP) -e ".[docs]"
	touch $@

# PGMax is an outside oracle and a rival in the benchmarks, never a dependency: its own list of
# dependencies holds much that it does not need here.
$(READY_BENCH): $(READY_DEV)
	$(PIP) numba && $(PIP) --no-deps pgmax==0.6.1 || \
		echo "PGMax cannot be installed here; its comparisons are skipped"
	touch $@
