# Targets for people who work on Toolcell. `make test` is the one to know: it
# sets up what the tests need below .testenv/ and runs them.

SHELL   := bash -o pipefail
GO      ?= go
FUZZ    ?= 5s
RELEASE := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
NESTED  := internal/release $(patsubst %/go.mod,%,$(wildcard examples/*/go.mod examples/adapters/*/go.mod))
# behind the shim of a version manager, which takes longer than most programs
PYTHON  := $(shell case "$$(command -v python3)" in (*/shims/*) python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' ;; esac)
PATH    := $(CURDIR)/.testenv/bin:$(if $(PYTHON),$(PYTHON):)$(PATH)
export PATH

# What people wait for: the tests at the size and in the set-ups that say most, of long
# tables some rows, and no race detector, for which everything is compiled again and what
# handles much data takes ten times as long. `make test SHORT=` has it, and takes all
# sizes, rows, modes, users and kinds of server, as .ci/run does.
SHORT   ?= -short

# The race detector needs a C compiler, and nothing else here does. The engine of
# providers/inmemory is C turned into Go, with memory of its own that the detector
# does not watch: it only takes ten times as long with it, so it goes without.
# `make race` instruments the engine too.
ENGINE  := -gcflags=modernc.org/...=-race=false
DETECT  := $(shell command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race $(ENGINE))
RACE     = $(if $(SHORT),,$(DETECT))

# With it each process sleeps for a second at its end, and the tests end thousands.
export GORACE := atexit_sleep_ms=0

# What takes longest comes first, and two packages run beside each other and the
# command's, which have a pass of their own: that keeps two processors busy, and with
# more beside each other everything takes longer.
ALL      = ./providers/jupyter ./providers/subprocess ./internal/sandbox ./conformance ./providers/inmemory $$($(GO) list ./... | grep -v '/cmd/toolcell$$')

TESTS   = $$($(GO) -C $(CURDIR)/internal/lint tool -n gotestsum) --format pkgname-and-test-fails --format-icons text --format-hide-empty-pkg \
	--rerun-fails=2 --rerun-fails-max-failures=30

# vet is lint's, and what debuggers read is a good part of the work of a linker.
BUILD   = -vet=off -ldflags=-w $(SHORT)

# A pass of make test: TESTS that leave what they say to the report at the end.
PASS    = $(TESTS) $(if $(RESULTS),--hide-summary=skipped --jsonfile="$(RESULTS)/$(1).json")

# What the race detector is too slow for, or sees nothing in, is tried without it:
# where there is none, everything was. The engine needs no test parts, so its tests run
# while these are set up, and the rest beside the first pass, which waits for servers.
PASSES  := tests-all tests-command $(if $(RACE),tests-shapes tests-server) tests-modules

# What programs do to the host by way of the driver, in the mode that is set.
FAULTS  := ^Test(InterpreterInHome|Roots|ServerChildren|WarmOutcomes|DriverThatReadsNothing|TypeScriptHostile|BoundedShows|ForgedShows|FramesInFlight|CwdReplaced|ThreadDisplays|ForkedDisplays|BoundedErrors|LargeLatePrint|WarmServerStopped|ArtifactsInTime|DescribeIsTrue|BrokenDriver)$$

# An ordinary user, who has to be able to reach this directory.
AS_USER := setpriv --reuid=65533 --regid=65533 --clear-groups env -i HOME=/ PATH=$(PATH)

.PHONY: attack test early tests-engine $(PASSES) race testenv compile quick bench floors lint cross fuzz cover release vuln tidy test262

## test: set up the test parts, then run the tests (SHORT= for all of them, and with the
## race detector). What fails beside the others is tried again, one after the other, and
## has to pass then: real servers and processes on a busy machine are not always on
## time. It ends with what no pass tried and why, and with what failed, also where it
## passed later.
test:
ifeq ($(SHORT)$(DETECT),)
	@echo "no C compiler: the tests run without the race detector"; test -z "$$CI"
endif
	@results=$$(mktemp -d) && trap 'rm -rf "$$results"' EXIT; run="$(MAKE) --no-print-directory RESULTS=$$results -j2"; \
	$$run testenv early || exit; \
	$$run -k $(PASSES); status=$$?; \
	$(GO) run ./internal/testsum "$$results"/*.json && test ! -e "$$results/failed" && exit $$status

# what there is to do while testenv waits for the network
early: compile
	@$(if $(RACE),$(MAKE) --no-print-directory tests-engine || touch "$(RESULTS)/failed")

# the passes of test, each of which can be run alone
tests-all:
	$(call PASS,all) --packages="$(ALL)" -- $(BUILD) $(RACE) -p 2 -shuffle=on -timeout 60m

tests-engine: # what the race detector is too slow for
	$(call PASS,engine) --packages='./conformance ./providers/inmemory ./internal/typescript' -- $(BUILD) -p 3 -timeout 40m -run 'Toy|Faults|NaiveProvider|CheckReports|FewPrograms|Hostile|Conformance|Hammer|ManyContexts|JobsLeft|LargeCalls|HostCopies'

tests-shapes: # all of what it tried one in ten of
	$(call PASS,shapes) --packages=./providers/subprocess -- $(BUILD) -timeout 40m -run TypeScriptHostile

tests-command:
	$(call PASS,command) --packages=./cmd/toolcell -- $(BUILD) $(RACE) -shuffle=on -timeout 40m

tests-server: # of the memory that users' have, and as fast
	$(call PASS,server) --packages=./cmd/toolcell -- $(BUILD) -timeout 40m -run 'TestSmallHost|TestStress|TestOutside|TestKeptRunsAreTheSame'

tests-modules:
	@status=0; for m in $(NESTED); do echo "== $$m"; \
		(cd $$m && $(call PASS,$$(echo $$m | tr / -)) --packages=./... -- $(BUILD) -timeout 40m) || status=1; done; exit $$status

## race: with the race detector what make test has no time for: the embedded
## engine instrumented too, every set-up of the suite's own tests, every clause in
## every mode and on every kind of Jupyter server, all programs of HumanEval, whole
## sizes and counts; and ten minutes of random programs compared with node
race: export TOOLCELL_TEST_FULL = 1
race: SHORT :=
race: testenv
	$(TESTS) --packages=./conformance -- $(BUILD) $(RACE) -timeout 60m -run 'Conformance|Toy|Faults|CheckReports|FewPrograms'
	$(TESTS) --packages=./providers/jupyter -- $(BUILD) $(RACE) -timeout 90m
	$(TESTS) --packages=./providers/subprocess -- $(BUILD) $(RACE) -timeout 40m -run 'HumanEval|Conformance|ThousandAtOnce|Cycles'
	$(TESTS) --packages='. ./shell ./internal/rootfs ./cmd/toolcell' -- $(BUILD) $(RACE) -timeout 40m -run 'Agree|Service|Files|HumanEval|KeptRuns'
	$(TESTS) --packages=./providers/inmemory/... -- $(BUILD) -race -shuffle=on -timeout 40m
	$(TESTS) --packages=./providers/inmemory -- $(BUILD) -timeout 40m -run NodeFuzz -args -fuzzfor 10m

## quick: the tests without the race detector and without setting anything up
quick:
	$(GO) test ./...

## attack: every attack on the sandbox, in every mode, as root and as a user;
## prints what held. The tests run each of them too.
attack: testenv
	TOOLCELL_ATTACK=1 $(GO) test -count=1 -timeout 40m -v -run '^TestTable$$' ./internal/sandbox
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; chmod 755 "$$dir"; $(GO) test -c -o "$$dir/faults" ./providers/subprocess; cd providers/subprocess; \
	for as in env $(if $(filter 0,$(shell id -u)),'$(AS_USER)'); do for mode in bwrap landlock none; do \
		echo "== programs against their host, $$mode, $${as%% *}"; $$as TOOLCELL_TEST_MODE=$$mode "$$dir/faults" -test.v -test.run '$(FAULTS)' | grep -E '^ *(--- |PASS|FAIL)'; \
	done; done
	TOOLCELL_ATTACK=1 $(GO) test -count=1 -timeout 60m -run 'TestOutside|TestSmallHost' ./cmd/toolcell
	$(GO) test -count=1 -run 'Hostile|Hammer|ManyContexts|Revoked|Detached|Faked|JobsLeft|TypeScriptMemory|Stress' ./providers/inmemory
	TOOLCELL_CALLS=100000 $(GO) test -count=1 -timeout 60m -v -run '^(TestManyCalls|TestFunctionHammer)$$' ./providers/inmemory ./providers/subprocess ./providers/jupyter

## testenv: install the real servers and interpreters that the tests use
testenv:
	@printf '%s\n' internal/testenv/*.sh | xargs -P 4 -n 1 bash

# compile the tests, without linking them
compile:
	@$(GO) list -export -test -deps $(RACE) ./... > /dev/null

## bench: every benchmark, with the floors measured in the same run
bench: testenv
	$(GO) test -run '^$$' -bench . -benchmem ./...

## floors: the README's cost table, each row beside its floor, in a few minutes and
## on a machine that does nothing else
floors: testenv
	@$(GO) run ./internal/floors

## lint: gofmt, vet, staticcheck, tidiness, known vulnerabilities
lint: vuln
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt wants to change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	@set -e; for m in $(NESTED); do echo "== $$m"; $(GO) -C $$m vet ./...; done
	@static=$$($(GO) -C internal/lint tool -n staticcheck) && echo staticcheck ./... && $$static ./...
	$(GO) mod tidy -diff
	@set -e; for m in internal/lint $(NESTED); do $(GO) -C $$m mod tidy -diff; done

## vuln: known vulnerabilities in what the code calls, where the database is reached
vuln:
	@vuln=$$($(GO) -C internal/lint tool -n govulncheck) && out=$$($$vuln ./... 2>&1) && echo "govulncheck: nothing found" || \
	case "$$out" in \
	*"fetching vulnerabilities"*) echo "govulncheck: the vulnerability database is not reached from here; not checked" ;; \
	*) echo "$$out"; exit 1 ;; esac

## cross: vet for the platforms that are not this one
cross:
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) vet ./...
	GOOS=linux GOARCH=arm64 $(GO) vet ./...

## release: the command for five platforms, static, below dist/, with what is in
## each as a CycloneDX list, and checksums of all; twice the same from one commit
release:
	@rm -rf dist && mkdir dist
	@set -e; for p in $(RELEASE); do \
		file=dist/toolcell_$${p%/*}_$${p#*/}; case $$p in windows/*) file=$$file.exe ;; esac; \
		echo $$file; CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -buildvcs=true -trimpath -ldflags '-s -w' -o $$file ./cmd/toolcell; \
	done
	$(GO) -C internal/release run . $(CURDIR)/dist/toolcell_*
	cd dist && sha256sum toolcell_* > SHA256SUMS

# before Go 1.27 a target whose time is over may fail with the deadline alone, no
# input to blame: https://go.dev/issue/75804

## fuzz: every fuzz target for a moment (FUZZ=1m for longer). FuzzEsbuild compares
## with another translator, which has ways of its own: what it finds is for people to
## judge, so that CI leaves it out (NOFUZZ=FuzzEsbuild)
fuzz:
	@set -e; for p in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' | grep -vxF '$(NOFUZZ)' || true); do \
			echo "== $$p $$f"; \
			if out=$$($(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZ) -fuzzminimizetime 10x $$p 2>&1); then echo "$$out" | tail -1; \
			elif echo "$$out" | grep -q '^    context deadline exceeded$$' && ! echo "$$out" | grep -q 'Failing input'; then echo "found nothing, and ended late"; \
			else echo "$$out"; exit 1; fi; \
		done; done

## test262: the language's conformance suite, from a checkout of tc39/test262 (DIR=path)
test262:
	$(GO) test ./providers/inmemory -run Test262 -v -timeout 60m -args -test262 $(abspath $(DIR))

## cover: coverage of all packages by all tests
cover: testenv
	$(GO) test -coverpkg=./... -coverprofile=coverage.txt ./...
	$(GO) tool cover -func=coverage.txt | tail -1

## tidy: go mod tidy in every module
tidy:
	$(GO) mod tidy
	@set -e; for m in internal/lint $(NESTED); do $(GO) -C $$m mod tidy; done
