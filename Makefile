# Targets for people who work on Toolcell. `make test` is the one to know.

SHELL   := bash -o pipefail
GO      ?= go
FUZZ    ?= 5s
PACK    ?= .testenv/release/python-small
ASSETS  ?= https://github.com/toolcell/toolcell/releases/download/$(shell git describe --tags --always)
RELEASE := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
NESTED  := internal/release $(patsubst %/go.mod,%,$(wildcard examples/*/go.mod examples/adapters/*/go.mod))
export PATH := $(CURDIR)/.testenv/bin:$(PATH)

# The race detector needs a C compiler, and nothing else here does. The engine of
# providers/inmemory is C turned into Go, with memory of its own that the detector does
# not watch: it would only take ten times as long.
RACE    := $(shell command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race -gcflags=modernc.org/...=-race=false)
# Packages in which the race detector is cheap.
PURE    := ./codeinterp/... ./tools/... ./workspace ./mcpserver ./shell ./files
# Packages at once: half of the time their tests wait for processes and servers.
AT_ONCE := $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))
# These take longest, so that they begin first.
LONGEST := ./providers/subprocess ./providers/jupyter . ./internal/sandbox
# Without the table of a debugger, which is a good part of a linker's work.
TEST     = $(GO) test -vet=off -ldflags=-w -p $(AT_ONCE)

.PHONY: test race nightly quick testenv testenv-full lint vuln cross bench floors fuzz release tidy

## test: set up what the tests need, then run them, in five minutes
test: testenv
	$(TEST) -tags real -timeout 12m $(LONGEST) ./...
	@printf '%s\n' $(NESTED) | xargs -P 2 -I {} sh -c 'out=$$(cd {} && $(TEST) -timeout 5m ./... 2>&1); code=$$?; printf "== %s\n%s\n" {} "$$out"; exit $$code'

## race: the race detector where it is cheap
race:
	@$(if $(RACE),echo "race: $(PURE)",echo "no C compiler: not tried with the race detector"; test -z "$$CI")
	$(if $(RACE),$(TEST) $(RACE) -timeout 5m $(PURE))

## nightly: everything, in all modes and on all servers, with the race detector
nightly: testenv-full
	$(TEST) $(RACE) -tags real,full -timeout 120m -p 2 $$($(GO) list ./... | grep -v /providers/inmemory)
	$(TEST) -tags real,full -timeout 60m ./providers/inmemory/...
	$(MAKE) --no-print-directory fuzz FUZZ=1m

## quick: the tests that need nothing but Go
quick:
	$(TEST) ./...

## testenv: install what the tests with tag real need
testenv:
	@start=$$SECONDS; printf '%s\n' internal/testenv/*.sh | xargs -P 4 -n 1 bash; echo "testenv: $$((SECONDS - start)) s"

## testenv-full: install what the tests with tag full need beside that
testenv-full: testenv
	@start=$$SECONDS; printf '%s\n' internal/testenv/full/*.sh | xargs -P 4 -n 1 bash; echo "testenv-full: $$((SECONDS - start)) s"

## bench: every benchmark, with the floors measured in the same run
bench: testenv
	$(GO) test -tags real -run '^$$' -bench . -benchmem ./...

## floors: the README's cost table, each row beside its floor, on an idle machine
floors: testenv
	@$(GO) test -count=1 -timeout 0 -run "^TestFloors$$" . -floors

## lint: gofmt, vet, staticcheck, tidiness, words, known vulnerabilities
lint: vuln
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt wants to change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	@bash internal/lint/words.sh
	$(GO) vet -tags real,full ./...
	@set -e; for m in $(NESTED); do echo "== $$m"; $(GO) -C $$m vet ./...; done
	@static=$$($(GO) -C internal/lint tool -n staticcheck) && echo staticcheck ./... && $$static -tags real,full ./...
	@set -e; for m in . internal/lint $(NESTED); do $(GO) -C $$m mod tidy -diff; done

## vuln: known vulnerabilities in what the code calls, if the database is reached
vuln:
	@vuln=$$($(GO) -C internal/lint tool -n govulncheck) && out=$$($$vuln ./... 2>&1) && echo "govulncheck: nothing found" || \
	case "$$out" in *"fetching vulnerabilities"*) echo "govulncheck: the database is not reached; not checked" ;; *) echo "$$out"; exit 1 ;; esac

## cross: vet for the platforms that are not this one
cross:
	@set -e; for p in darwin/arm64 windows/amd64 linux/arm64; do echo "== vet $$p"; GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet -tags real,full ./...; done

## fuzz: every fuzz target for a moment (FUZZ=1m for longer)
fuzz:
	@set -e; for p in $$($(GO) list ./...); do for f in $$($(GO) test -tags real,full -list '^Fuzz' $$p | grep '^Fuzz' | grep -vx FuzzEsbuild || true); do \
		echo "== $$p $$f"; $(GO) test -tags real,full -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZ) -fuzzminimizetime 10x $$p; done; done

## release: the command for five platforms below dist/, static and reproducible, with
## CycloneDX lists and checksums, and the pack of Python that it installs from ASSETS
release:
	@rm -rf dist && mkdir dist
	@ls $(PACK)*.tar.gz >/dev/null 2>&1 || $(GO) run ./cmd/toolcell engine build --out $(PACK)
	@set -e; cp $(PACK)*.tar.gz dist/; pack=$$(cd dist && ls python-*); sum=$$(sha256sum <dist/$$pack); for p in $(RELEASE); do \
		file=dist/toolcell_$${p%/*}_$${p#*/}; case $$p in windows/*) file=$$file.exe ;; esac; \
		echo $$file; CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -buildvcs=true -trimpath -ldflags "-s -w -X main.packURL=$(ASSETS)/$$pack -X main.packSHA256=$${sum%% *}" -o $$file ./cmd/toolcell; \
	done
	$(GO) -C internal/release run . $(CURDIR)/dist/toolcell_*
	cd dist && sha256sum toolcell_* python-* > SHA256SUMS

## tidy: go mod tidy in every module
tidy:
	@set -e; for m in . internal/lint $(NESTED); do $(GO) -C $$m mod tidy; done
