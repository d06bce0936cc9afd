# Everything happens in .venv, which is set up once and again only when the build changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What a process imports is compiled then; pip would compile all that it installs, by one process.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
READY := $(VENV)/.ready
READY_TEST := $(VENV)/.ready-test
# Folders change when modules come or go, which an editable installation must be told.
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/*.?pp cpp/pair_sums/*.hpp cpp/svmlight/*.?pp) \
  src/ranksvm $(filter-out %__pycache__/,$(wildcard src/ranksvm/*/ src/ranksvm/*/*/))

# Many a test starts processes, which would compile again all that they import where Python is told
# to keep no bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-oldest test-bench explore lint format docs fuzz sanitize clang clean \
  coverage wheel check-files \
  bench bench-fig1 bench-convergence bench-dual bench-pswx bench-path bench-auto bench-quality \
  bench-survival bench-docs bench-revisions bench-shapes bench-gpu bench-gpu-choice
.DELETE_ON_ERROR:

demo: $(READY)
	@$(BIN)/ranksvm demo demo

# The same examples everywhere, on every processor; TESTS=tests/pairs names some of the tests.
TESTS ?= tests
PYTEST := $(BIN)/python -m pytest -q -n auto --maxprocesses 8 --dist worksteal --ignore tests/benchmarks

test: $(READY_TEST) lint
	@$(PYTEST) $(TESTS)
	@mkdir -p build
	@if printf 'int main() {}' | c++ -fsanitize=address,undefined -x c++ -o build/sanitized - 2>/dev/null; \
	then $(MAKE) --no-print-directory fuzz FUZZ_SECONDS=5; \
	else echo "the compiler has no sanitizers: the parser was not fuzzed"; fi

# Other examples every time, FACTOR times as many, and hostile text for so many seconds.
FACTOR ?= 20
EXPLORE_SECONDS ?= 600

explore: $(READY_TEST)
	@EXPLORE=$(FACTOR) $(PYTEST) $(TESTS)
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=$(EXPLORE_SECONDS)
	@$(BIN)/python tests/files/fuzz_files.py $(EXPLORE_SECONDS)
	@$(MAKE) --no-print-directory sanitize

lint: $(READY_TEST)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/clang-format --dry-run --Werror cpp/*.?pp cpp/*/*.?pp

format: $(READY_TEST)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/clang-format -i cpp/*.?pp cpp/*/*.?pp

# Hostile text for the parser, under the address and undefined-behaviour sanitizers.
FUZZ_SECONDS ?= 60
FUZZER := build/fuzz_svmlight

fuzz: $(FUZZER)
	@$(FUZZER) $(FUZZ_SECONDS) cpp/fuzz/seeds/*

$(FUZZER): $(wildcard cpp/fuzz/*.?pp cpp/svmlight/*.?pp cpp/parallel.?pp cpp/thread_pool.?pp)
	@mkdir -p build
	@c++ -std=c++20 -O1 -g -Icpp -fsanitize=address,undefined -fno-sanitize-recover=all -pthread \
	  cpp/fuzz/fuzz_svmlight.cpp cpp/svmlight/*.cpp cpp/parallel.cpp cpp/thread_pool.cpp -o $@

# The native tests, under sanitizers. All but the bindings, and no parser: that is for `fuzz`.
SANITIZE_SECONDS ?= 5
CORE := $(filter-out %bindings.cpp,$(wildcard cpp/*.cpp)) $(wildcard cpp/tests/*.cpp)
HEADERS := $(wildcard cpp/*.hpp cpp/pair_sums/*.hpp cpp/tests/*.hpp)
NATIVE := -std=c++20 -g -Icpp -Wall -Wextra -Werror -pthread

sanitize: build/native-address/run build/native-thread/run
	@build/native-address/run $(SANITIZE_SECONDS)
	@build/native-thread/run $(SANITIZE_SECONDS)

# The same by Clang with its own library, and with the portable stand-ins of compiler.hpp.
clang: build/native-clang/run build/native-portable/run
	@build/native-clang/run $(SANITIZE_SECONDS)
	@build/native-portable/run $(SANITIZE_SECONDS)

build/native-address/run: FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all
build/native-thread/run: FLAGS := -O1 -fsanitize=thread
build/native-clang/run: FLAGS := -O1 -stdlib=libc++
build/native-portable/run: FLAGS := -O1 -stdlib=libc++ -DRANKSVM_PORTABLE
build/native-clang/run build/native-portable/run: private CXX := clang++
build/native-address/run build/native-thread/run: private CXX := c++

build/native-%/run: $(CORE) $(HEADERS)
	@mkdir -p $(@D)
	@echo "compiling $(@D)"
	@printf '%s\n' $(CORE) | xargs -P 2 -I '{}' sh -c \
	  '$(CXX) $(NATIVE) $(FLAGS) -c {} -o $(@D)/$$(echo {} | tr / -).o'
	@$(CXX) $(NATIVE) $(FLAGS) $(@D)/*.o -o $@

# Branch coverage of src/ranksvm by the tests, which take half as long again.
coverage: $(READY_TEST) $(VENV)/.ready-coverage
	@$(PYTEST) --cov --cov-report=term:skip-covered $(TESTS)

# A source distribution and, from that, a wheel, which each Python on the path installs and uses;
# WHEEL_TESTS names tests that it runs, too.
WHEELS := build/wheels
WHEEL_TESTS ?=

wheel: $(WHEELS)/.ready
	@$(BIN)/python tools/check_wheel.py $(WHEELS)/*.whl $(if $(WHEEL_TESTS),--tests $(WHEEL_TESTS))

$(WHEELS)/.ready: $(SOURCES) $(VENV)/.ready-package
	@rm -rf $(WHEELS)
	@$(BIN)/python -m build --outdir $(WHEELS) .
	@touch $@

# The wheel with the lowest versions of what it needs, in an environment of its own.
OLDEST := build/oldest

test-oldest: $(OLDEST)/.ready
	@$(OLDEST)/bin/python -m pytest -q -n auto --maxprocesses 8 --dist worksteal \
	  --ignore tests/benchmarks $(TESTS)

$(OLDEST)/.ready: $(WHEELS)/.ready tools/lower_bounds.py
	@rm -rf $(OLDEST)
	@$(PYTHON) -m venv $(OLDEST)
	@$(BIN)/python tools/lower_bounds.py > build/lower_bounds.txt
	@$(OLDEST)/bin/python -m pip install --quiet --constraint build/lower_bounds.txt \
	  "$$(echo $(WHEELS)/*.whl)[test]"
	@$(OLDEST)/bin/python -m pip check
	@touch $@

# Files that other programs read, by their schemas: workflows, forms, the citation, the recipe.
SCHEMA := $(BIN)/check-jsonschema --builtin-schema

check-files: $(VENV)/.ready-package
	@$(SCHEMA) vendor.github-workflows .github/workflows/*.yml
	@$(SCHEMA) vendor.dependabot .github/dependabot.yml
	@$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	@$(SCHEMA) vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	@$(SCHEMA) vendor.readthedocs .readthedocs.yaml
	@$(SCHEMA) vendor.citation-file-format CITATION.cff
	@$(BIN)/zizmor --offline --quiet .github
	@$(BIN)/pre-commit validate-config
	@$(BIN)/python tools/check_recipe.py recipe/recipe.yaml
	@$(BIN)/python -m cibuildwheel --print-build-identifiers --platform linux --archs auto64

# The site, in build/docs; every warning is an error, and every example is run.
docs: $(READY_TEST) $(VENV)/.ready-docs
	@$(BIN)/python -m sphinx --builder html --nitpicky --fail-on-warning --keep-going --quiet \
	  --jobs auto docs build/docs
	@echo "Written: build/docs/index.html"

# What is added to the installed package, without another compilation.
$(VENV)/.ready-%: $(READY)
	@$(PIP) "ranksvm[$*]"
	@touch $@

# Into build/benchmarks: everything, one published figure or table; or figures from there into docs.
bench: SCRIPT := all
bench-fig1: SCRIPT := airola_fig1
bench-convergence: SCRIPT := lee_lin_convergence
bench-dual: SCRIPT := lee_lin_dual
bench-pswx: SCRIPT := jin_lin_pswx
bench-path: SCRIPT := zapien_path
bench-auto: SCRIPT := auto
bench-quality: SCRIPT := ranking_quality
bench-survival: SCRIPT := survival
bench-docs: SCRIPT := publish

bench: test-bench
bench bench-fig1 bench-convergence bench-dual bench-pswx bench-path bench-auto bench-quality \
  bench-survival bench-docs: $(VENV)/.ready-bench
	@$(BIN)/python -m benchmarks.$(SCRIPT) $(ARGS)

test-bench: $(READY_TEST) $(VENV)/.ready-bench
	@$(BIN)/python -m pytest -q tests/benchmarks

# On a GPU, by PyTorch or CuPy, whichever is installed; a sentence where there is none.
bench-gpu: $(READY)
	@$(BIN)/python -m benchmarks.gpu $(ARGS)

bench-gpu-choice: $(READY)
	@$(BIN)/python -m benchmarks.gpu_choice $(ARGS)

# The revision BASE against the last commit: hot paths by themselves, and fits of whole shapes of data.
bench-revisions: SCRIPT := revisions
bench-shapes: SCRIPT := shapes
bench-revisions bench-shapes: $(READY)
	@test -n "$(BASE)" || { echo "name the revision to compare with: make $@ BASE=..."; exit 1; }
	@$(BIN)/python -m benchmarks.$(SCRIPT) $(BASE) $(HEAD) $(ARGS)

$(READY): $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "ranksvm needs Python 3.10 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv, sysconfig, os; open(sysconfig.get_path("include") + "/Python.h")' \
	  2>/dev/null || { echo "Python's venv or headers are missing; on Debian: apt install python3-venv python3-dev"; exit 1; }
	@c++ --version >/dev/null 2>&1 || \
	  { echo "a C++ compiler is missing; on Debian: apt install g++"; exit 1; }
	@echo "setting up $(VENV) (about a minute; once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --config-settings=cmake.define.RANKSVM_WERROR=ON --editable ".[plot]"
	@cp $(VENV)/lib/python*/site-packages/ranksvm/_core.pyi src/ranksvm/  # for mypy
# Or each `ranksvm` would compile NumPy, too, for a second, in a shell that keeps no bytecode. Some
# packages ship files for later Pythons, which this one cannot compile and never imports.
	@$(BIN)/python -m compileall -qq -j 0 src $(VENV)/lib/python*/site-packages || true
	@touch $@

clean:
	rm -rf $(VENV) build demo .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  docs/api/generated docs/gallery
