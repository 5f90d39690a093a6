# make run    sets everything up, runs the first two experiments and prints their tables
# make test   sets everything up and runs all tests
# make test-provision     provisions a clean Debian as the Vagrant VM is; minutes, so no part of make test
# make test-stock-kernel  native mode on the kernel that Debian ships, under QEMU (apt-get install qemu-system-x86); likewise
# make soak   the tests again and again beside a busy program on each processor; hours (ROUNDS=50 WHOLE=3 NICE=0)
# make trust  do verdicts, intervals and T0 hold beside busy programs? hours (ROUNDS=10 ONLY="t0 aa" EXPERIMENTS="oltp")
# make bench  prints the figures that the project wants to reach; asserts nothing (ONLY="building clocks": some of them)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Each worker and each command would compile all it imports anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test check unit lab-tests e2e bench soak trust lab test-stock-kernel test-provision clean
.DELETE_ON_ERROR:

run: lab
	$(BIN)/slownet run client_delay database_delay

# The tests in the lab and those of the commands side by side: a lab is one process. Two workers have the commands, so
# that no processor idles when the lab is done.
test: check unit
	$(MAKE) --jobs=2 --output-sync=line lab-tests e2e

check: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit: $(VENV)/dev
	$(BIN)/pytest -q -n 2 --dist worksteal tests/unit

lab-tests: $(VENV)/dev lab
	$(BIN)/slownet lab exec --tdf inf -- python -m pytest -q -p no:cacheprovider -m 'not charged' tests/lab
	$(BIN)/slownet lab exec -- python -m pytest -q -p no:cacheprovider -m charged tests/lab

e2e: $(VENV)/dev lab
	$(BIN)/pytest -q -n 2 --dist loadfile tests/e2e

bench: $(VENV)/dev lab
	$(BIN)/python tests/bench.py $(ONLY)

soak: $(VENV)/dev lab
	$(BIN)/python tests/soak.py --rounds $(or $(ROUNDS),50) --whole $(or $(WHOLE),3) --nice $(or $(NICE),0)

trust: $(VENV)/dev lab
	cd tests && $(abspath $(BIN))/python -m trust --rounds $(or $(ROUNDS),10) --experiments "$(EXPERIMENTS)" $(ONLY)

test-stock-kernel: $(VENV)/dev lab
	$(BIN)/pytest -q -rP tests/stock_kernel

test-provision: $(VENV)/dev
	$(BIN)/pytest -q tests/provision

lab: $(VENV)/ready
	$(BIN)/slownet lab build

$(VENV)/ready: pyproject.toml setup.py lib/slownet/lab/host-packages.txt lib/slownet/lab/setup-host
	lib/slownet/lab/setup-host
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/dev: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist slownet.egg-info
