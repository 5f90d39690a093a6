PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Each worker and each command would compile all it imports anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help run test check unit lab-tests e2e bench soak trust nightly nightly-status lab test-stock-kernel test-provision \
	test-kernels clean
.DELETE_ON_ERROR:

help: ## prints this list
	@sed -n 's/^\([a-z0-9.-]*\):.*## /\1 /p' $(MAKEFILE_LIST) | while read -r name text; do printf '%-18s%s\n' "$$name" "$$text"; done

run: lab ## sets everything up, runs the first two experiments and prints their tables
	$(BIN)/slownet run client_delay database_delay

# The tests in the lab and those of the commands side by side: a lab is one process. Two workers have the commands, so
# that no processor idles when the lab is done.
test: check unit ## sets everything up and runs all tests but the long ones
	$(MAKE) --jobs=2 --output-sync=line lab-tests e2e

check: $(VENV)/dev ## what reads the sources only: ruff, mypy, reuse
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/reuse lint --lines

unit: $(VENV)/dev ## the tests that need no lab
	$(BIN)/pytest -q -n 2 --dist worksteal tests/unit

lab-tests: $(VENV)/dev lab ## the tests that need a network, inside one lab
	$(BIN)/slownet lab exec --tdf inf -- python -m pytest -q -p no:cacheprovider -m 'not charged' tests/lab
	$(BIN)/slownet lab exec --cpu time -- python -m pytest -q -p no:cacheprovider -m charged tests/lab

e2e: $(VENV)/dev lab ## the tests of the commands, which boot labs
	$(BIN)/pytest -q -n 2 --dist loadfile tests/e2e

bench: $(VENV)/dev lab ## prints the figures that the project wants to reach; asserts nothing (ONLY="building clocks")
	$(BIN)/python tests/bench.py $(ONLY)

nightly: $(VENV)/dev lab ## the five below, each to its end, and when each ran last; many hours (ONLY="provision soak")
	$(BIN)/python tests/nightly.py $(ONLY)

nightly-status: $(VENV)/dev ## when each of them ran last here, and how it ended
	@$(BIN)/python tests/nightly.py --status $(ONLY)

test-stock-kernel: $(VENV)/dev lab ## native mode on the kernel that Debian ships, under QEMU (apt-get install qemu-system-x86)
	$(BIN)/pytest -q -rP tests/stock_kernel

test-provision: $(VENV)/dev ## provisions a clean Debian as the Vagrant VM is; minutes
	$(BIN)/pytest -q tests/provision

test-kernels: $(VENV)/dev lab ## builds the lab's kernel of each series of patches, as it is and with its checks; an hour
	$(BIN)/pytest -q tests/kernels

soak: $(VENV)/dev lab ## the tests again and again beside a busy program on each processor; hours (ROUNDS=50 WHOLE=3 NICE=0)
	$(BIN)/python tests/soak.py --rounds $(or $(ROUNDS),50) --whole $(or $(WHOLE),3) --nice $(or $(NICE),0)

trust: $(VENV)/dev lab ## do verdicts, intervals and T0 hold beside busy programs? hours (ROUNDS=10 ONLY="t0 aa" EXPERIMENTS="oltp")
	cd tests && $(abspath $(BIN))/python -m trust --rounds $(or $(ROUNDS),10) --experiments "$(EXPERIMENTS)" $(ONLY)

lab: $(VENV)/ready ## builds the lab's kernel and image, once per machine
	$(BIN)/slownet lab build

$(VENV)/ready: pyproject.toml setup.py lib/slownet/lab/host-packages.txt lib/slownet/lab/setup-host
	lib/slownet/lab/setup-host
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/dev: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean: ## removes what these targets made here; the cache stays
	rm -rf $(VENV) build dist slownet.egg-info
