# make demo    convert the six examples, train them on the simulated device, say where the report is
# make test    all checks (about 26 minutes on two quiet cores, 30 with PyTorch); LEGS="core torch" or make test-tf2: those of a front end (tests/legs.toml)
# make test-times where the processor time of make test goes, by kind and folder of tests
# make quick   lint, and the tests that belong to the files that differ from main (a minute for one rule or kernel)
# make regen   everything that is generated: the API table and its pages, docs/generated, the picture of the packages
# make docs    the documents as a site, with pictures of real reports, in build/site (a minute); nothing in it is loaded from outside
# make new-rule NAME=frozen_graphs TOPIC=session [ID=NPU9xx] [MATCH=tensorflow.some.api]     a rule to fill in, and what else it needs
# make new-command NAME=levels [TOPIC="This machine"]                a command to fill in, and what else it needs
# make new-kernel OP=Dawsn TOPIC=elementwise [FILE=special]            a kernel to fill in, and what else it needs
# make whole   the tests of make test with all their examples, seeds and cases, and those that only repeat
# make graphs  21 training graphs, 20 steps of each beside TensorFlow (make test runs 2)
# make networks 1,000 networks made at random, three steps of training each beside TensorFlow (make test makes 10)
# make conditions 3,000 programs of nested control flow made at random, each beside TensorFlow (make test makes 15)
# make kernels 6,000 generated calls of kernels and gradient graphs beside TensorFlow (make test draws about 500)
# make fuzz    20,000 random and randomly edited programs through the converter (SEED=N, CODE="DIR ..." with real code to edit)
# make fuzz-readers 20,000 damaged files through each reader of files that others write (make test has 20 each)
# make bench   step times of the examples and of ten models of full size, device against TensorFlow; overhead and memory
# make acceptance CORPORA="--bert DIR ... --sdists"   ranks, graphs, networks, kernels, fuzz, soak, suites, precision, faults, estimates and the converter on every
#              Python (four hours), then over public code that is brought; exit 77 where it is absent
# make suites  the tests inside tf_slim's wheel, on the device and on TensorFlow (10 to 25 minutes)
# Everything is set up on first use; only Python 3.10 or 3.11 and make must be there.

VENV ?= .venv
PYTHON = $(VENV)/bin/python
STAMP = $(VENV)/.installed
DOCS_STAMP = $(VENV)/.docs-installed
# A worker that has nothing left takes tests from the other; else the suite's last minute is one worker alone.
WORKERS = -n 2 --dist worksteal
DURATIONS = $(if $(CI),--durations=10)
CONVERTER_TESTS = $(wildcard tests/converter tests/converter_api tests/converter_detectors tests/project tests/cli tests/report tests/prediction tests/profiles tests/accuracy_check)
EACH_PYTHON = $(shell grep -rl --include='test_*.py' 'mark\.each_python' tests)
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: setup demo test test-core test-times quick regen docs new-rule new-kernel new-command lint ruff mypy imports layout dead-code unit shim converter-environments converter-suite whole acceptance rank-checkpoints rank-launchers tensorflow2-scripts pytorch-scripts torch-releases rank-training graphs networks conditions suites soak comparing profiling profiling-parser profiling-adviser precision faults checks effort report-scale converter-everywhere kernels bench loop-memory spreads fuzz fuzz-readers clean

# A leg is a front end that is tested in a pytest call of its own (tests/legs.toml): make test LEGS="core torch", or make test-tf2 alone.
LEGS ?= core tf2 mindspore $(if $(wildcard .venv-torch),torch)

# The environments of the legs that are named, too: make setup LEGS="core torch" is where PyTorch is asked for.
setup: $(STAMP)
	@for leg in $(LEGS); do $(PYTHON) .ci/legs.py set-up $$leg || exit 1; done

$(STAMP): pyproject.toml .ci/setup
	.ci/setup $(VENV)
	@touch $@

demo: $(STAMP)
	$(PYTHON) -m benchmarks.demo demo-out

test: $(LEGS:%=test-%)
	@$(if $(filter torch,$(LEGS)),:,echo 'left out: the tests of PyTorch, which is not installed: make setup LEGS="core torch"')

# All of it is run, whatever fails on the way. Installers wait for disks and networks, while lint wants a processor.
test-core: $(STAMP)
	@failed=0; \
	$(MAKE) --no-print-directory --keep-going --jobs 2 converter-environments lint || failed=1; \
	$(MAKE) --no-print-directory --keep-going unit shim converter-suite || failed=1; \
	exit $$failed
	@echo "all green"

test-%: $(STAMP)
	$(PYTHON) .ci/legs.py run $*

test-times: $(STAMP)
	$(MAKE) --no-print-directory --keep-going unit shim WORKERS="$(WORKERS) -p tests.processor_times"

quick: $(STAMP)
	$(PYTHON) tools/quick.py

regen: $(STAMP)
	$(PYTHON) tools/build_api_table.py
	$(PYTHON) tools/build_mindspore_names.py
	$(PYTHON) tools/build_not_simulated.py
	$(PYTHON) -m tests.report.message_templates --write
	$(PYTHON) tools/draw_packages.py
	$(PYTHON) docs/generate.py

docs: $(DOCS_STAMP)
	$(PYTHON) -m tools.site

$(DOCS_STAMP): $(STAMP)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@

new-rule: $(STAMP)
	$(PYTHON) tools/new_rule.py $(NAME) $(if $(ID),--id $(ID)) $(if $(TOPIC),--topic $(TOPIC)) $(if $(MATCH),--match $(MATCH))

new-command: $(STAMP)
	$(PYTHON) -m tools.new_command $(NAME) $(if $(TOPIC),--topic "$(TOPIC)")

new-kernel: $(STAMP)
	$(PYTHON) -m tools.new_kernel $(OP) $(if $(TOPIC),--topic $(TOPIC)) $(if $(FILE),--file $(FILE))

lint: ruff mypy imports layout dead-code

ruff: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

mypy: $(STAMP)
	$(VENV)/bin/mypy

imports: $(STAMP)
	$(VENV)/bin/lint-imports

layout: $(STAMP)
	$(PYTHON) -m tools.layout

dead-code: $(STAMP)
	$(PYTHON) -m tools.dead_code

unit: $(STAMP)
	$(PYTHON) -m pytest $(WORKERS) $(DURATIONS) --ignore=tests/shim --ignore=tests/legs

# In processes of their own: importing npu_bridge changes the meaning of `import tensorflow` for all of a process.
shim: $(STAMP)
	$(PYTHON) -m pytest $(WORKERS) $(DURATIONS) tests/shim

converter-environments: $(STAMP)
	.ci/converter_environments $(PYTHON)

# Other Pythons read source text in other ways: the tests of that have a mark (acceptance runs all of the converter's there).
converter-suite: $(STAMP)
	.ci/converter_suite $(PYTHON) -m each_python $(EACH_PYTHON)

# All that tests/how_many.py leaves out of make test (an hour and a half).
whole: export TF2NPU_WHOLE_TESTS = 1
whole: unit shim test-tf2

acceptance: $(STAMP) whole rank-checkpoints rank-training graphs networks conditions kernels fuzz soak suites precision faults comparing checks effort report-scale converter-everywhere torch-releases
	$(PYTHON) -m benchmarks.corpora $(CORPORA)

# Two ranks that save in one folder, twenty times: it was a race.
rank-checkpoints: $(STAMP)
	TF2NPU_WHOLE_TESTS=1 TF2NPU_CHECKPOINT_RUNS=20 $(PYTHON) -m pytest tests/shim/test_rank_checkpoints.py

# Published launchers of eight ranks, with two and with eight, on synthetic data: ZOO=DIR is a checkout of the vendor's model zoo; 77 without.
rank-launchers: $(STAMP)
	$(PYTHON) -m benchmarks.published_launchers $(ZOO)

# Other people's scripts for TensorFlow 2 (an hour): ZOO=DIR as above, SCRIPTS='DIR ...' checkouts of tutorials; 77 without any.
tensorflow2-scripts: $(STAMP)
	$(PYTHON) -m benchmarks.tensorflow2_conversion $(if $(ZOO),--model-zoo $(ZOO)) $(if $(SCRIPTS),--scripts $(SCRIPTS))

# Public scripts for CUDA on the simulated NPU and on PyTorch's CPU (15 minutes), with a Python that has PyTorch (TORCH_PYTHON):
# CHECKOUTS='minGPT=DIR ...', which it names without; 77 where one is not there.
TORCH_PYTHON ?= .venv-torch/bin/python
pytorch-scripts:
	$(TORCH_PYTHON) -m benchmarks.pytorch_scripts $(CHECKOUTS)

.PHONY: pytorch-converted-scripts pytorch-conversion same-outputs
# The same scripts, converted and run with --strict (25 minutes).
pytorch-converted-scripts:
	$(TORCH_PYTHON) -m benchmarks.pytorch_scripts --converted $(CHECKOUTS)

# Conversions of other people's PyTorch code: CHECKOUTS as above; PROJECTS and OTHERS are folders of repositories with and without PyTorch,
# VENDOR is the vendor's converter, and VENDOR_PYTHON a Python with its packages; 77 where something is not there.
pytorch-conversion: $(STAMP)
	$(PYTHON) -m benchmarks.pytorch_conversion $(CHECKOUTS) $(if $(PROJECTS),--projects $(PROJECTS)) $(if $(OTHERS),--others $(OTHERS)) \
	  $(if $(VENDOR),--vendor $(VENDOR)) $(if $(VENDOR_PYTHON),--vendor-python $(VENDOR_PYTHON))

# Whether this checkout and OTHER, an older one, write the same bytes for CORPORA, and how long both take, eleven times by turns.
same-outputs: $(STAMP)
	$(PYTHON) -m benchmarks.same_outputs $(OTHER) $(CORPORA) --turns 11

# The leg torch under the oldest and the newest PyTorch of the extra (builds for CUDA of gigabytes); a release that cannot be had is named.
torch-releases: $(STAMP)
	$(PYTHON) .ci/torch_releases.py || [ $$? -eq 77 ]

# Eight ranks on both engines, three times each, beside one process with the batch of all (half an hour).
rank-training: $(STAMP)
	TF2NPU_WHOLE_TESTS=1 TF2NPU_RANK_TRAINING=8 $(PYTHON) -m pytest -s -v tests/shim/test_rank_training.py

# Twenty-one training graphs, step by step beside TensorFlow.
graphs: $(STAMP)
	TF2NPU_WHOLE_TESTS=1 TF2NPU_GRAPH_STEPS=20 $(PYTHON) -m pytest tests/graphs

# Convolutional networks and sequence models of random layers and optimizers (half an hour).
networks: $(STAMP)
	TF2NPU_RANDOM_NETWORKS=1000 $(PYTHON) -m pytest $(WORKERS) tests/graphs/test_random_networks.py

# Nested control flow of both versions beside TensorFlow (an hour).
conditions: $(STAMP)
	TF2NPU_CONTROL_FLOW_PROGRAMS=3000 $(PYTHON) -m pytest $(WORKERS) tests/runtime/test_control_flow_programs.py

kernels: $(STAMP)
	TF2NPU_GENERATED_CASES=6000 $(PYTHON) -m pytest tests/kernels/test_generated.py

# A kill before each change of a file, full disks, two conversions at once, hostile entries at every path, killed commands and dumps, and
# damaged files through every reader.
faults: $(STAMP)
	$(PYTHON) -m benchmarks.kill_conversion --each-write
	$(PYTHON) -m benchmarks.kill_conversion --kills 200
	$(PYTHON) -m benchmarks.full_disk --trials 200
	$(PYTHON) -m benchmarks.simultaneous_conversions --pairs 40
	$(PYTHON) -m benchmarks.planted_trees --plantings 2000 --runs 60
	$(PYTHON) -m benchmarks.kill_commands --kills 20
	$(PYTHON) -m benchmarks.kill_dump --kills 200 $(if $(PACKAGE),--package $(PACKAGE))
	$(MAKE) --no-print-directory fuzz-readers

# The converter's tests on every Python that it runs on; make test takes the oldest and the newest.
converter-everywhere: $(STAMP)
	VERSIONS="3.10 3.11 3.12 3.13" .ci/converter_suite $(PYTHON) $(CONVERTER_TESTS)

# Tests that others wrote, in an environment of their own.
suites: $(STAMP)
	$(PYTHON) -m benchmarks.slim_tests

# Ten thousand steps of four threads.
soak: $(STAMP)
	$(PYTHON) -m benchmarks.soak

# Profiles in the vendor's public parser and adviser (MSPROF=DIR, ADVISER=COMMAND; 77 where one is absent), and a large one.
profiling: $(STAMP)
	$(PYTHON) -m benchmarks.profiling.large_run
	$(PYTHON) -m benchmarks.profiling.step_overhead
	@$(MAKE) --no-print-directory --keep-going profiling-parser profiling-adviser

profiling-parser: $(STAMP)
	$(PYTHON) -m benchmarks.profiling.vendor_parser $(if $(MSPROF),--msprof $(MSPROF))

profiling-adviser: $(STAMP)
	$(PYTHON) -m benchmarks.profiling.adviser $(if $(ADVISER),--adviser $(ADVISER))

# Comparisons beside the vendor's program (PACKAGE=DIR where it is unpacked; else it is downloaded), damaged files, speed, the page.
comparing: $(STAMP)
	$(PYTHON) -m benchmarks.damaged_dumps
	$(PYTHON) -m benchmarks.compare_page
	$(PYTHON) -m benchmarks.compare_speed $(if $(PACKAGE),--package $(PACKAGE))
	$(PYTHON) -m benchmarks.vendor_comparison $(if $(PACKAGE),--package $(PACKAGE)) || [ $$? -eq 77 ]

# How long a report of 19,000 files takes, and its pages in Chromium (ten minutes on a quiet machine).
report-scale: $(STAMP)
	$(PYTHON) -m benchmarks.report_scale

# What the report says of work: the estimate beside lines that people changed (PAIRS=FILE names pairs of local copies), and decisions
# for each 100 places (ZOO=DIR is a checkout of the vendor's model zoo). Each says what is missing where it is not brought.
effort: $(STAMP)
	$(PYTHON) -m benchmarks.effort_calibration $(PAIRS) || [ $$? -eq 77 ]
	$(PYTHON) -m benchmarks.decisions_per_place $(ZOO) || [ $$? -eq 77 ]

# Forty planted errors that a check has to name, and twenty scripts without one.
checks: $(STAMP)
	$(PYTHON) -m benchmarks.planted_checks

# Accuracy in 16 bits beside that in 32.
precision: $(STAMP)
	$(PYTHON) -m benchmarks.mixed_precision

# Peak memory of the tools over that of the plain run, for loops: about an hour.
loop-memory: $(STAMP)
	$(PYTHON) -m benchmarks.loop_memory

bench: $(STAMP)
	$(PYTHON) -m benchmarks.step_time
	$(PYTHON) -m benchmarks.model_step_time
	$(PYTHON) -m benchmarks.tensorflow2_step_time
	$(PYTHON) -m benchmarks.overhead

SEED ?= 1
fuzz: $(STAMP)
	$(PYTHON) -m benchmarks.fuzz_converter --programs 20000 --seed $(SEED) --corpora $(CODE)

# Damaged files through every reader of files that others write (make test has 20 each).
fuzz-readers: $(STAMP)
	$(PYTHON) -m benchmarks.fuzz_readers --trials 20000 --seed $(SEED)

# How far TensorFlow is from itself; the parity tests take their tolerance from it.
spreads: $(STAMP)
	$(PYTHON) -m tests.e2e.record_spreads
	$(PYTHON) -m tests.legs.tf2.record_spreads

clean:
	rm -rf $(VENV) .venv-converter-* demo-out build *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
