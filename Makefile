# "make help" lists the targets. "make test" is what CI runs, and all of it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# A clone that belongs to somebody else has no version stamp that Go could read.
export GOFLAGS := $(strip -buildvcs=false $(filter-out -buildvcs=false,$(GOFLAGS)))

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

# The product is static. Building, linting and cross building share these, so
# that they share compiled packages too.
STATIC := CGO_ENABLED=0 GOFLAGS="$(GOFLAGS) -trimpath"

# Node 20 ships npm 10, which cannot install what the page is built with. The
# lock file names no registry, so that it is the same behind any mirror.
NPM_INSTALL := npx --yes npm@11 install --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved

PREFIX ?= $(HOME)/.local
FUZZTIME ?= 60s
SOAKTIME ?= 10m
TEST_TIMEOUT ?= 12m
ARGS ?=
GOVULNCHECK ?= v1.8.0

##@ Use

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: build ## Build, then try it on this machine; its state stays in .run/ (ARGS=… adds flags)
	./bin/gatelatch demo --state .run/state $(ARGS)

.PHONY: build
build: ## Build bin/gatelatch and bin/gatelatch-hook, static
	$(STATIC) go build -ldflags "$(LDFLAGS)" -o bin/gatelatch ./cmd/gatelatch
	$(STATIC) go build -ldflags "$(LDFLAGS)" -o bin/gatelatch-hook ./cmd/gatelatch-hook

.PHONY: install
install: build ## Install both binaries into PREFIX/bin (default ~/.local/bin)
	install -d $(PREFIX)/bin
	install -m 755 bin/gatelatch bin/gatelatch-hook $(PREFIX)/bin

.PHONY: man
man: build ## Write the man pages into bin/man
	./bin/gatelatch man bin/man

##@ Check

TEST_STEPS := deps build lint generate-check web-check cross test-model test-go

.PHONY: test
test: ## Everything that must pass: each step below, in order
	@for step in $(TEST_STEPS); do \
		printf '\n==> %s\n' "$$step"; \
		begin=$$SECONDS; \
		$(MAKE) --no-print-directory "$$step" || { printf '\n==> %s failed\n' "$$step" >&2; exit 1; }; \
		printf '    %s: %d s\n' "$$step" "$$((SECONDS - begin))"; \
	done; \
	printf '\n==> all passed in %d s\n' "$$SECONDS"

.PHONY: deps
deps: ## Install the programs that tests drive, where missing (apt)
	@scripts/deps.sh

.PHONY: lint
lint: ## Check formatting, then run golangci-lint
	@bad=$$(scripts/gofmt.sh -l); [ -z "$$bad" ] || { printf 'not formatted; run "make fmt":\n%s\n' "$$bad" >&2; exit 1; }
	@linter=$$(scripts/golangci.sh); $(STATIC) "$$linter" run ./...

.PHONY: generate-check
generate-check: ## Check that generated files are what "make generate" writes
	@scripts/generate-check.sh

.PHONY: web-check
web-check: web-install ## Test and typecheck the page; its committed build must be what its source gives
	cd web && npm test
	cd web && npm run check
	cd web && npm run build
	@scripts/committed.sh web/dist web/package-lock.json || { echo 'web/ is not what is committed; run "make web" and commit the result' >&2; exit 1; }

.PHONY: cross
cross: ## Compile for the other platforms
	$(STATIC) GOOS=darwin GOARCH=arm64 go build -o /dev/null ./...
	$(STATIC) GOOS=windows GOARCH=amd64 go build -o /dev/null ./...

.PHONY: test-model
test-model: ## Hold the state machine against its model, 20,000 histories
	@$(STATIC) go test -count=1 -timeout $(TEST_TIMEOUT) -v -run '^TestSoakModel$$' ./store/memory | grep -v '^=== '

# Packages that mostly wait for other processes leave room for one more. The
# longest begin, so that none is left alone at the end. lint has vetted them all.
TEST_PACKAGES ?= $(shell echo $$(($$(nproc) + 1)))
LONGEST_FIRST := ./e2e ./e2e/crash ./cmd/gatelatch ./server ./internal/hostconfig ./store/...

.PHONY: test-go
test-go: build ## Run the Go tests with the race detector, end to end included
	@scripts/go-test.sh -race -count=1 -vet=off -p $(TEST_PACKAGES) -timeout $(TEST_TIMEOUT) $(LONGEST_FIRST) ./...

##@ Change

.PHONY: fmt
fmt: ## Format the Go code
	@scripts/gofmt.sh -w

.PHONY: generate
generate: ## Write the generated files
	go generate ./...

.PHONY: web
web: web-install ## Build the page into web/dist, which is committed
	cd web && npm run build

.PHONY: web-install
web-install:
	cd web && $(NPM_INSTALL)

.PHONY: shots
shots: deps build web-install ## Take the pictures in docs/img anew
	GATELATCH_SCREENSHOTS=1 scripts/go-test.sh -count=1 -timeout $(TEST_TIMEOUT) -run '^(TestScreenshots|TestViewsAreAccessible)$$' ./e2e

##@ Look closer

.PHONY: test-newest
test-newest: deps build web-install ## Run the end-to-end tests with the agent's newest release, beside the pinned one
	@bin=$$(scripts/claude.sh newest); echo "Claude Code $$("$$bin" --version)"; \
		CLAUDE_BIN=$$bin scripts/go-test.sh -count=1 -timeout $(TEST_TIMEOUT) $(ARGS) ./e2e

.PHONY: bench
bench: ## Measure (ARGS=… adds flags)
	go run ./bench $(ARGS)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME each
	@scripts/fuzz.sh $(FUZZTIME)

.PHONY: soak
soak: build ## Run the soak tests for SOAKTIME, with the race detector
	GATELATCH_SOAK=$(SOAKTIME) scripts/go-test.sh -race -count=1 -timeout 0 -v -run '^TestSoak' ./...

.PHONY: twins
twins: ## Check that the tests notice each bad twin (ARGS=… names some)
	@scripts/twins.sh $(ARGS)

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what is called (needs vuln.go.dev)
	GOFLAGS=-mod=mod go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK) ./...

.PHONY: reproducible
reproducible: ## Build twice, in two places and without a cache, and compare
	@scripts/reproducible.sh

.PHONY: clean
clean: ## Remove what was built here, and the state of "make run"
	rm -rf bin .run web/node_modules
