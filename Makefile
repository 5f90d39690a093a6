PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Otherwise each worker and each command would compile all imported modules anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help run sums test check unit lab-tests e2e bench fuzz soak trust nightly nightly-status lab wheel release docs docs-figures docs-live docs-test proof delays \
	examples walls kills test-experiments test-report test-commands test-compose-go test-web-vitals test-workflows test-tshark test-wide test-why test-exact test-long test-packaging test-mininet test-theory test-stock-kernel test-vagrant \
	test-provision test-kernels test-chromium clean
.DELETE_ON_ERROR:

help: ## print this list
	@sed -n 's/^\([a-z0-9.-]*\):.*## /\1 /p' $(MAKEFILE_LIST) | while read -r name text; do printf '%-18s%s\n' "$$name" "$$text"; done

# Takes the lab that SLOWNET_LAB_FROM or the project's file offers; what builds one is installed only if none is there.
LAB_OR_BUILDERS = $(BIN)/python -m slownet.transfer.offered || lib/slownet/lab/host/setup-host

run: $(VENV)/ready ## set everything up, run the first two experiments and print their tables (SLOWNET_LAB_FROM=FOLDER, which has a built lab)
	$(LAB_OR_BUILDERS)
	$(BIN)/slownet lab build --quick
	$(BIN)/slownet run client_delay database_delay

# Two steps, of what can run side by side: the unit tests begin when the checks are done, beside the rest of the documentation, so
# that no processor idles; the tests in the lab, which is one process, run beside those of the commands. These have three workers,
# some of whose tests wait for a real clock.
test: $(VENV)/dev ## set everything up and run all tests but the long ones
	$(MAKE) --jobs=2 --output-sync=target check docs unit
	$(MAKE) --jobs=2 --output-sync=line lab-tests e2e

check: $(VENV)/dev ## run the static checks: ruff, mypy, reuse, and the count of odd English
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/reuse lint --lines
	$(BIN)/python tests/english.py

# Without the plugin, which would collect all these tests once more, in a third process, to see whether one needs a lab.
NO_LAB := -p no:slownet.pytest_plugin -W ignore::pytest.PytestUnknownMarkWarning

unit: $(VENV)/dev ## run the tests that need no lab
	$(BIN)/pytest -q -n 2 --dist worksteal $(NO_LAB) tests/unit tests/docs/test_docs_blocks.py tests/docs/test_docs_errors.py tests/docs/test_docs_install.py tests/docs/test_docs_reference.py

lab-tests: $(VENV)/dev lab ## run the tests that need a network, inside one lab
	$(BIN)/slownet lab exec --tdf inf -- python -m pytest -q -p no:cacheprovider -m 'not charged and not distances and not strict' tests/lab
	$(BIN)/slownet lab exec --cpu time -- python -m pytest -q -p no:cacheprovider -m charged tests/lab

e2e: $(VENV)/dev lab ## run the tests of the commands, which boot labs, one of them in QEMU
	lib/slownet/lab/host/setup-host qemu-system-x86
	$(BIN)/pytest -q --durations=15 -n 3 --dist loadfile -m 'not long' tests/e2e 'tests/examples/test_examples.py::test_example[node]' \
		tests/exact/test_exact_run.py::test_a_hypothesis_is_checked_in_one_boot \
		tests/docs/test_docs_executed.py::test_a_quick_page \
		'tests/walls/test_run_directory_attacks.py::test_nothing_can_be_planted_where_the_host_acts[root-Landlock-run]'

bench: $(VENV)/dev lab ## measure performance and print it next to the targets (ONLY="building clocks", or AGAINST=REV for CPU beside it)
	AGAINST=$(AGAINST) $(BIN)/python tests/bench.py $(ONLY)

nightly: $(VENV)/dev lab ## run the long tests below, each to its end; many hours (ONLY="provision soak")
	$(BIN)/python tests/nightly.py $(ONLY)

nightly-status: $(VENV)/dev ## show when each long test last ran here, and how it ended
	@$(BIN)/python tests/nightly.py --status $(ONLY)

docs: $(VENV)/dev ## build the documentation: docs/_build/html/index.html, and the man page
	$(BIN)/sphinx-build -n -W --keep-going -q -d docs/_build/doctrees -b html docs docs/_build/html
	$(BIN)/sphinx-build -n -W --keep-going -q -t man -d docs/_build/doctrees-man -b man docs docs/_build/man

docs-figures: $(VENV)/dev lab ## measure what the documentation shows, and draw it: docs/figures; an hour
	$(BIN)/python docs/figures.py docs/_build/runs
	$(BIN)/python docs/repeats.py
	$(BIN)/python docs/growth.py
	$(BIN)/python docs/calls.py

proof: $(VENV)/dev lab ## reproduce all experiments, and write into README what that came to: docs/proof.json; half an hour
	$(BIN)/slownet reproduce --all --runs docs/_build/runs
	$(BIN)/python docs/proof.py docs/_build/runs

delays: $(VENV)/dev lab ## measure what a delay costs, by program and operation, for the documentation's page of that name; an hour
	$(BIN)/python docs/costs.py

docs-live: $(VENV)/dev lab ## draw the page of slownet live for the documentation: docs/figures/live.png (apt-get install chromium npm)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	$(BIN)/python docs/live_page.py

docs-test: docs lab ## run every command and every piece of code of the documentation, twice, and look at its pages; half an hour
	lib/slownet/lab/host/setup-host default-jdk-headless maven npm
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	$(BIN)/pytest -q tests/docs --deselect tests/docs/test_docs_executed.py::test_a_quick_page

test-report: $(VENV)/dev ## test reports and the page of slownet live in a browser, in minutes; nothing to measure (apt-get install chromium npm)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	$(BIN)/pytest -q -rs tests/browser

test-chromium: $(VENV)/dev lab ## load pages in Chromium in a lab, which gets it as a layer; ten minutes
	$(BIN)/pytest -q -rP tests/chromium

test-commands: $(VENV)/dev ## look the table of missing commands up in their Debian packages; minutes, and some 200 MB from Debian's mirror
	$(BIN)/python tests/packages_of_commands.py

test-wide: $(VENV)/dev lab ## run the tests of the wide kernel, which it builds the first time: as long as the base kernel twice over
	cd tests/wide && ../../$(BIN)/slownet lab build
	$(BIN)/slownet lab exec --kernel wide --tdf inf -- python -m pytest -q -p no:cacheprovider tests/lab/test_kernel_features.py tests/lab/test_multicast.py
	cd tests/wide && ../../$(BIN)/slownet lab exec --tdf inf -- python -m pytest -q -p no:cacheprovider inside
	$(BIN)/python -m pytest -q -n 0 tests/wide/test_wide_kernel.py

test-compose-go: $(VENV)/dev ## compare what is expected of compose files with compose's own library; a minute, Go and its module proxy
	$(BIN)/pytest -q -rs tests/compose_go

test-web-vitals: $(VENV)/dev ## compare what a page counts of itself with npm's web-vitals, in Chromium; a minute (apt-get install chromium npm)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	$(BIN)/pytest -q -rs -n 0 tests/vitals

test-workflows: ## check .github/workflows and the one that a project gets, by actionlint; a minute, Go and its module proxy
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.7 .github/workflows/*.yml
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.7 -stdin-filename slow-network.yml - <lib/slownet/cli/starter/github.yml.txt

test-why: $(VENV)/dev lab ## the accounts of all experiments' cells add up; half an hour, or ONLY=fairness
	$(BIN)/pytest -q -n 0 tests/why $(if $(ONLY),-k '$(ONLY)')

test-tshark: $(VENV)/dev ## compare captures, those of tcpdump's tests, with tshark; a quarter of an hour, tshark and Debian's sources
	lib/slownet/lab/host/setup-host tshark
	$(BIN)/pytest -q -rs -s tests/tshark

walls: $(VENV)/dev lab ## attack the host from labs, as root and as an ordinary user, with Landlock and without it; half an hour
	$(BIN)/pytest -q -n 2 --dist loadscope tests/walls

kills: $(VENV)/dev lab ## kill runs, sweeps, hunts, imports and what writes files at random moments (KILLS=100)
	KILLS=$(or $(KILLS),100) $(BIN)/pytest -q -n 2 tests/walls/test_kills.py

examples: $(VENV)/dev lab ## run the examples as their pages say, with images for the shop, layers for Node.js, Java, Go, git, rsync and npm; a quarter of an hour
	$(BIN)/pytest -q -rs tests/examples

test-experiments: $(VENV)/dev lab ## run all experiments; all their claims must be supported; ten minutes
	$(BIN)/pytest -q tests/experiments

test-exact: $(VENV)/dev lab ## test labs on the exact clock, in QEMU (apt-get install qemu-system-x86); minutes
	$(BIN)/pytest -q -rs tests/exact

test-long: $(VENV)/dev lab ## run the tests of the commands that `make test` leaves out, because they take long; minutes
	$(BIN)/pytest -q -n 2 --dist loadfile -m long tests/e2e

test-theory: $(VENV)/dev lab ## compare the formulas of slownet.theory with a lab from 1 to 600 ms of round trip; minutes
	$(BIN)/slownet lab exec --tdf inf -- python -m pytest -q -p no:cacheprovider -m distances tests/lab

test-mininet: $(VENV)/dev lab ## run Mininet's own examples and its walk-through, from the package in the lab's image; half an hour
	$(BIN)/pytest -q -n 2 tests/mininet_examples

test-stock-kernel: $(VENV)/dev lab ## test native mode on Debian's own kernel, in QEMU (apt-get install qemu-system-x86)
	$(BIN)/pytest -q -rP tests/stock_kernel

test-vagrant: $(VENV)/dev ## test `vagrant up` and what it is for; needs vagrant, half an hour emulated (tests/vagrant/prepare)
	$(BIN)/pytest -q -rP tests/vagrant

wheel: docs lab ## make dist/ a wheel that carries the lab's kernel, its WordPress site and the documentation, and the source archive; the same bytes each time
	rm -rf build dist
	$(BIN)/python -m slownet.transfer.bundle build/bundle
	SLOWNET_BUNDLE=$(abspath build/bundle) $(BIN)/python -m build --wheel
	rm -rf build
	$(BIN)/python -m build --sdist

sums: $(VENV)/dev lab ## write the SHA-256 of this machine's lab into lib/slownet/data/lab-sums.txt, by which slownet trusts it
	$(BIN)/python -m slownet.transfer.release

release: sums wheel ## make dist/ all that a release publishes: wheel, source archive, lab file, notes, checksums; nothing is uploaded
	$(BIN)/python -m slownet.transfer.release dist
	cd dist && sha256sum --check --quiet SHA256SUMS

test-packaging: $(VENV)/dev lab ## install the wheel in clean Debian 12, 13, 14 and Ubuntu 24.04 roots, Python 3.11 to 3.14; a quarter of an hour
	$(BIN)/pytest -q -rP tests/packaging

test-provision: $(VENV)/dev ## provision a clean Debian like the Vagrant VM; minutes
	$(BIN)/pytest -q tests/provision

test-kernels: $(VENV)/dev lab ## build and test the lab's kernel with each patch series, with and without debugging checks; an hour
	lib/slownet/lab/host/setup-host sparse
	$(BIN)/pytest -q tests/kernels

soak: $(VENV)/dev lab ## repeat the tests next to a busy program on each processor; hours (ROUNDS=50 WHOLE=3 NICE=0)
	$(BIN)/python tests/soak.py --rounds $(or $(ROUNDS),50) --whole $(or $(WHOLE),3) --nice $(or $(NICE),0)

trust: $(VENV)/dev lab ## test whether verdicts, intervals and T0 hold under load; hours (ROUNDS=10 ONLY="t0 aa" EXPERIMENTS="oltp")
	cd tests && $(abspath $(BIN))/python -m trust --rounds $(or $(ROUNDS),10) --experiments "$(EXPERIMENTS)" $(ONLY)

fuzz: $(VENV)/dev ## feed all readers of files, parsers and decoders random input for some time (MINUTES=60 ONLY="tests/unit/tools")
	$(BIN)/python tests/fuzz.py --minutes $(or $(MINUTES),60) $(ONLY)

lab: $(VENV)/ready ## build the lab's kernel and image, once per machine
	$(LAB_OR_BUILDERS)
	$(BIN)/slownet lab build

$(VENV)/ready: pyproject.toml setup.py lib/slownet/lab/host/host-packages.txt lib/slownet/lab/host/setup-host lib/slownet/lab/host/install-python
	@lib/slownet/lab/host/setup-says
	lib/slownet/lab/host/setup-host --to-run
	$(PYTHON) -m venv $(VENV)
	lib/slownet/lab/host/install-python $(VENV) --editable .
	touch $@

$(VENV)/dev: $(VENV)/ready
	lib/slownet/lab/host/setup-host libcairo2
	lib/slownet/lab/host/install-python $(VENV) --editable '.[dev]'
	touch $@

clean: ## remove what these targets created here, but not the cache
	rm -rf $(VENV) build dist slownet.egg-info
