# `make` without a target lists the targets.
# The first Python that is new enough; else plain python3, so that the message below names it.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v $$name; exit; }; \
  done; command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Every package with its digests, pip and setuptools too; requirements*.txt say what is asked for.
INSTALL_LOCK := infra/packaging/install-lock.txt
# A PYTHON of another version than that of .venv recreates .venv.
PRINT_VERSION := -c 'import sys; print(*sys.version_info[:2])'
ifneq ($(filter command environment,$(firstword $(origin PYTHON))),)
  ifneq ($(shell $(PYTHON) $(PRINT_VERSION) 2>/dev/null),$(shell $(BIN)/python $(PRINT_VERSION) 2>/dev/null))
    .PHONY: $(INSTALLED)
  endif
endif
DATA ?= ../shared/data
MODEL_DIR := $(or $(PRESAGE_MODEL_DIR),.models)
ARCH ?= x86_64
SCRIPTS := chalicelib/assets/console chalicelib/assets/docs
ARGS ?=
# The last commit of version 0.2.0, whose data `make test-update` opens.
BEFORE := af96b00b

.DEFAULT_GOAL := help
.PHONY: help system install models fast-models run aws-env format check test test-fast test-busy lock audit release cover test-localstack fuzz test-deploy test-openapi chromium test-browser test-console console-pictures test-proxies test-update test-pythons kills clocks turns growth histories bench-backup bench-restarts bench-turns bench-versions bench-runtime bench-telemetry bench-batches bench-rankings bench-client bench-cold bench-http bench-warm bench-uploads bench-text bench-text-scale bench-vision bench-ocr costs package dist test-dist deploy destroy clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

system: # report missing programs with the command that installs them
	@command -v git >/dev/null || { echo "git is missing. Install it: apt-get install git" >&2; exit 1; }
	@test -n "$(PYTHON)" || { echo "Python is missing. Install it: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed, $(PYTHON) is older. Install a newer one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "Python's venv module is missing. Install it: apt-get install python3-venv" >&2; exit 1; }

$(INSTALLED): $(INSTALL_LOCK) | system
	@echo "Installing Python packages into $(VENV) (1.1 GB, a minute or two at the first time)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --require-hashes -r $(INSTALL_LOCK)
	@touch $@

install: $(INSTALLED) ## create .venv with all packages

models: $(INSTALLED) ## download, verify and convert missing model files
	@$(BIN)/python -m infra.models install --dir $(MODEL_DIR)

fast-models: $(INSTALLED) # the same without the large encoders of the accurate text profile
	@$(BIN)/python -m infra.models install --dir $(MODEL_DIR) --set fast

run: $(INSTALLED) ## start the service with a demo; Ctrl-C stops it (ARGS="--no-demo" skips the demo)
	@$(BIN)/python -m infra.local $(ARGS)

aws-env: $(INSTALLED) ## print commands that set the address and keys of the emulated AWS, to be evaluated
	@$(BIN)/python -m infra.local.variables

format: $(INSTALLED) ## format the code
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .
	@$(BIN)/oxfmt $(SCRIPTS) >/dev/null

check: $(INSTALLED) ## check format, lint, types, import direction, docstrings and templates
	@$(BIN)/ruff format --check --quiet . || { echo "Run: make format" >&2; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/oxfmt --check $(SCRIPTS) >/dev/null || { echo "Run: make format" >&2; exit 1; }
	@$(BIN)/oxlint --quiet $(SCRIPTS)
	@$(BIN)/mypy
	@cd client && ../$(BIN)/mypy && ../$(BIN)/python tools/write_sync.py --check
	@$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports
	@$(BIN)/interrogate --quiet app.py entry.py chalicelib infra
	@$(BIN)/python -m tests.infra.template.lint

test: $(INSTALLED) fast-models $(if $(ARGS),check) ## run all checks and tests that must pass (ARGS="tests/web -x" runs some)
	@$(BIN)/python -m $(if $(ARGS),pytest $(ARGS),tests.parts --check)

test-fast: $(INSTALLED) ## run the tests that need neither emulator nor model files
	@$(BIN)/python -m $(if $(ARGS),pytest --fast $(ARGS),tests.parts --fast)

test-busy: fast-models ## run each part three times next to two busy loops (ARGS="engines service --times 1")
	@$(BIN)/python -m tests.busy $(ARGS)

cover: check fast-models ## run the tests with branch coverage
	@$(BIN)/python -m pytest -p pytest_cov --cov=chalicelib --cov=infra --cov-branch --cov-report=term-missing:skip-covered $(ARGS)

# With its checks of signatures, LocalStack accepts only the secret `test`, which a public origin refuses.
test-localstack: fast-models ## run the flow tests and the CloudFormation tests on LocalStack
	@$(BIN)/python -m tests.emulators run $(BIN)/python -m pytest tests/localstack tests/flows \
	  --ignore tests/flows/kills --ignore tests/flows/test_kept_state.py \
	  --ignore tests/flows/test_public_origin.py --timeout 300 $(ARGS)
	@S3_SKIP_SIGNATURE_VALIDATION=1 $(BIN)/python -m tests.emulators run $(BIN)/python -m pytest \
	  tests/flows/test_public_origin.py --timeout 300

fuzz: check fast-models ## send 10,000 generated calls and compare the answers with the OpenAPI document
	@for seed in 1 2 3 4 5; do PRESAGE_FUZZ_CALLS=2000 PRESAGE_FUZZ_SEED=$$seed \
	  $(BIN)/python -m pytest tests/schemathesis --timeout 1800 $(ARGS) || exit 1; done

test-deploy: fast-models ## test the packaged functions on an emulated AWS (x86-64 only)
	@$(BIN)/python -m tests.emulators.ministack
	@$(BIN)/python -m infra.build --arch x86_64 --if-changed
	@PRESAGE_PACKAGE=build/package/x86_64 $(BIN)/python -m pytest tests/deployed --timeout 1800 $(ARGS)

build/generated/.installed: tests/generated/requirements.txt | $(INSTALLED)
	@$(BIN)/python -m venv --clear build/generated
	@build/generated/bin/python -m pip install --disable-pip-version-check --quiet -r $< || { \
	  echo "openapi-python-client could not be installed: is there a network to the package index?" >&2; exit 3; }
	@touch $@

test-openapi: fast-models build/generated/.installed ## test the service with a client generated from the OpenAPI document
	@PRESAGE_GENERATOR=build/generated $(BIN)/python -m pytest tests/generated --timeout 600 $(ARGS)

build/browser/.installed: requirements-browser.txt | $(INSTALLED)
	@rm -rf build/browser
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --target build/browser -r $< || { \
	  echo "playwright could not be installed: is there a network to the package index?" >&2; exit 3; }
	@touch $@

CHROMIUM ?= chromium
IN_BROWSER = PRESAGE_BROWSER="$$(command -v $(CHROMIUM))" PYTHONPATH=build/browser $(BIN)/python -m pytest
chromium:
	@command -v $(CHROMIUM) >/dev/null || { \
	  echo "There is no $(CHROMIUM). Install it: apt-get install chromium, or name one: make test-browser CHROMIUM=/path" >&2; exit 3; }

test-browser: chromium fast-models build/browser/.installed ## test the API docs page and pages of other origins in Chromium ([CHROMIUM=/path/to/a/browser])
	@$(IN_BROWSER) tests/browser/test_docs.py tests/browser/test_other_origins.py --timeout 600 $(ARGS)

test-console: chromium fast-models build/browser/.installed ## test the console in Chromium ([CHROMIUM=/path/to/a/browser])
	@$(IN_BROWSER) tests/browser/console --timeout 600 $(ARGS)

console-pictures: chromium fast-models build/browser/.installed ## take the screenshots of docs/console.md again
	@$(IN_BROWSER) tests/browser/console/screenshots.py --timeout 600 $(ARGS)

test-proxies: fast-models ## test uploads, exports and the console by TLS through Caddy and nginx; root installs them
	@for name in caddy nginx; do PATH="$$PATH:/usr/sbin" command -v $$name >/dev/null || \
	  apt-get install --yes -qq --no-install-recommends $$name >/dev/null || { \
	  echo "There is no $$name. Install it: apt-get install $$name" >&2; exit 3; }; done
	@PRESAGE_PROXIES=1 $(BIN)/python -m pytest tests/proxies --timeout 600 $(ARGS)

test-update: fast-models ## open a state folder and restore a backup that version 0.2.0 has just written ([BEFORE=<commit>])
	@rm -rf build/before && mkdir -p build/before && git archive $(BEFORE) | tar -x -C build/before
	@ln -sfn $(abspath $(VENV)) build/before/.venv
	@ln -sfn $(abspath $(MODEL_DIR)) build/before/.models
	@$(BIN)/python -m tests.flows.kept_state build/before build/state_before.zip --large
	@PRESAGE_KEPT_STATE=build/state_before.zip $(BIN)/python -m pytest tests/flows/test_kept_state.py $(ARGS)

test-pythons: fast-models ## test the client on every supported Python of this machine
	@$(BIN)/python -m tests.pythons $(ARGS)

bench-cold: fast-models ## measure cold starts of the packaged functions (x86-64 only)
	@$(BIN)/python -m infra.build --arch x86_64 --if-changed
	@$(BIN)/python -m bench.bench_cold $(ARGS)

kills: check fast-models ## kill the stack and its processes twenty times under load and check that no data is lost
	@PRESAGE_KILL_ROUNDS=20 $(BIN)/python -m pytest tests/flows/kills $(ARGS)

clocks: check fast-models ## set the clock of a working stack ahead and back by two hours; needs gcc
	@$(BIN)/python -m pytest tests/flows/long_clock_jumps.py --timeout 1800 $(ARGS)

turns: check fast-models ## check that accounts take turns, with a hundred crowds of uploads and trainings
	@PRESAGE_TURN_TRIALS=100 $(BIN)/python -m pytest tests/flows/test_turns.py tests/flows/long_turns.py --timeout 7200 $(ARGS)

growth: check fast-models ## check that large amounts stay cheap: 10,000 waiting trainings, 100,000 accounts and so on
	@PRESAGE_FULL_SIZE=1 $(BIN)/python -m pytest tests/services/test_backlog.py tests/stores/datasets/test_pages.py \
	  tests/stores/models/test_places.py tests/stores/examples/test_digest_index.py tests/stores/jobs/test_capacity.py \
	  tests/api/test_throttles.py tests/formats/pictures/test_reading.py tests/formats/pictures/test_shrinking.py \
	  tests/formats/texts/test_language_file.py tests/formats/archives/test_archive_cost.py \
	  tests/formats/exports/test_tables.py tests/services/exports/test_graphs.py \
	  tests/formats/pdf/test_document.py tests/infra/test_repair.py \
	  tests/formats/archives/test_zip_archive.py tests/spec/conformance --timeout 3600 $(ARGS)

histories: check fast-models ## compare 10,000 random operations with a model of the specification (PRESAGE_HISTORY_SEED=n repeats one)
	@$(BIN)/python -m pytest -s tests/flows/long_histories.py --timeout 3600 $(ARGS)

bench-backup: $(INSTALLED) fast-models ## measure dump and restore of 100,000 texts and 50 models
	@$(BIN)/python -m bench.bench_backup $(ARGS)

bench-restarts: $(INSTALLED) ## measure start and stop of the local stack with 400,000 examples
	@$(BIN)/python -m bench.bench_restarts $(ARGS)

bench-turns: $(INSTALLED) fast-models ## count jobs before those of another account: slow webhooks, a large batch
	@$(BIN)/python -m bench.bench_turns $(ARGS)

bench-versions: $(INSTALLED) fast-models ## measure whether serve=if-better keeps a model from wrong labels and takes good ones
	@$(BIN)/python -m bench.bench_versions --data $(DATA) $(ARGS)

bench-runtime: $(INSTALLED) fast-models ## measure the cold start of presage-runtime with an exported model
	@$(BIN)/python -m bench.bench_runtime $(ARGS)

bench-telemetry: $(INSTALLED) fast-models ## measure what metrics and traces cost when they are off
	@$(BIN)/python -m bench.bench_telemetry $(ARGS)

bench-batches: $(INSTALLED) fast-models ## compare batches with single calls: answers, processor time, rate, memory, latency (ARGS="--only speed")
	@$(BIN)/python -m bench.bench_batches --data $(DATA) $(ARGS)

bench-rankings: $(INSTALLED) fast-models ## measure the gain of ranked labels over random ones
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench.bench_rankings --data $(DATA) $(ARGS)

bench-http: $(INSTALLED) fast-models ## measure latency, throughput, metering and uploads over HTTP
	@$(BIN)/python -m bench.bench_http --data $(DATA) $(ARGS)

bench-warm: $(INSTALLED) fast-models ## compare warm predictions of HEAD with those of another commit: make bench-warm BASE=<commit>
	@$(BIN)/python -m bench.bench_warm $(or $(BASE),$(error BASE=<commit> is needed)) $(ARGS)

bench-client: $(INSTALLED) fast-models ## measure the client: import time, size, one call, memory of a 500 MB upload
	@$(BIN)/python -m bench.bench_client $(ARGS)

bench-uploads: $(INSTALLED) fast-models ## measure a 2 GB image archive and the validation of the largest files
	@$(BIN)/python -m bench.bench_uploads $(ARGS)

bench-text: $(INSTALLED) models ## measure accuracy and calibration of text models
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench.bench_text --data $(DATA) $(ARGS)

bench-text-scale: $(INSTALLED) models ## measure large trainings and many models; compare artifacts between processors
	@$(BIN)/python -m bench.text_scale --data $(DATA) $(ARGS)

bench-vision: $(INSTALLED) fast-models ## measure accuracy and speed of image models (ARGS="--plot" draws PNG files)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench.bench_vision --data $(DATA) $(ARGS)

bench-ocr: $(INSTALLED) fast-models ## compare OCR with Tesseract (ARGS="--plot" draws pages with boxes); needs OCR-B: apt-get install fonts-ocr-b
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench.bench_ocr --data $(DATA) $(ARGS)

lock: $(INSTALLED) ## write the locks of all packages again, after a change of requirements*.txt (needs a network)
	@$(BIN)/python -m infra.build --lock
	@$(PYTHON) -m venv --clear build/lock
	@build/lock/bin/python -m pip install --disable-pip-version-check --quiet uv==0.13.9
	@printf '%s\n' "# Every package of .venv with its digests, for each Python from 3.11 on." \
	  "# Made from requirements-dev.txt by: make lock" >build/lock/head.txt
	@cp $(INSTALL_LOCK) build/lock/lock.txt
	@build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --constraint infra/packaging/locks/py311.txt \
	  --output-file build/lock/lock.txt requirements-dev.txt
	@cat build/lock/head.txt build/lock/lock.txt >$(INSTALL_LOCK)
	@$(MAKE) --no-print-directory install

audit: $(INSTALLED) ## check every shipped package for known vulnerabilities (needs a network)
	@$(BIN)/python -m venv --clear build/audit
	@build/audit/bin/python -m pip install --disable-pip-version-check --quiet pip-audit==2.10.1 || { \
	  echo "pip-audit could not be installed, so nothing was checked." >&2; exit 3; }
	@build/audit/bin/python -m infra.advisories

dist: $(INSTALLED) ## build the distributions of client, server and runtime into build/dist and check them (needs a network)
	@rm -rf build/dist && $(BIN)/python -m venv --clear build/twine
	@build/twine/bin/python -m pip install --disable-pip-version-check --quiet twine==7.0.0
	@for folder in client deploy/server deploy/runtime; do \
	  (cd $$folder && $(CURDIR)/$(BIN)/python -m hatchling build --target wheel --directory $(CURDIR)/build/dist) || exit 1; done
	@build/twine/bin/twine check --strict build/dist/*

test-dist: dist fast-models ## install the distributions in empty environments, run the server, predict with and without it (ARGS=--with-models downloads them; needs a network)
	@PRESAGE_MODEL_DIR=$(abspath $(MODEL_DIR)) $(BIN)/python -m tests.distributions build/dist $(ARGS)
	@PRESAGE_MODEL_DIR=$(abspath $(MODEL_DIR)) $(BIN)/python -m tests.distributions.image

release: $(INSTALLED) ## check versions, changelog and all tests, then tag the commit (VERSION=x.y.z)
	@test -n "$(VERSION)" || { echo "Name the version: make release VERSION=1.2.3" >&2; exit 1; }
	@$(BIN)/python -m infra.release check "$(VERSION)"
	@$(MAKE) --no-print-directory test ARGS=
	@$(BIN)/python -m infra.release tag "$(VERSION)"

costs: $(INSTALLED) ## print what a deployment costs, from noted list prices; warn if they are a year old
	@$(BIN)/python -m infra.costs $(ARGS)

package: $(INSTALLED) ## build the zip of the functions for the Python of .venv ([PYTHON= ARCH=x86_64|arm64])
	@$(BIN)/python -m infra.build --arch $(ARCH) $(ARGS)

deploy: models ## deploy a stage into your AWS account (STAGE=prod [PYTHON= REGION= DOMAIN= CERT= SIZE=small SET="NAME=VALUE" WATCH=minutes YES=1])
	@test -n "$(STAGE)" || { echo "Name the stage: make deploy STAGE=dev" >&2; exit 1; }
	@$(BIN)/python -m infra.build --arch $(ARCH) --if-changed $(ARGS)
	@$(BIN)/python -m infra.deploy deploy --stage "$(STAGE)" --region "$(REGION)" --models $(MODEL_DIR) \
	  --package build/package/$(or $(ARCH),x86_64) --domain "$(DOMAIN)" --certificate "$(CERT)" \
	  --watch $(or $(WATCH),0) --size "$(SIZE)" $(if $(YES),--yes) $(if $(SET),--set $(SET))

destroy: $(INSTALLED) ## remove a stage but not its data (STAGE=prod [REGION= DELETE_DATA=1 YES=1])
	@test -n "$(STAGE)" || { echo "Name the stage: make destroy STAGE=dev" >&2; exit 1; }
	@$(BIN)/python -m infra.deploy destroy --stage "$(STAGE)" --region "$(REGION)" \
	  $(if $(YES),--yes) $(if $(DELETE_DATA),--delete-data)

clean: ## remove generated files, except models and state
	@rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
