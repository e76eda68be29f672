STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
FUZZTIME = 5m
KILLS = 500
SOAK = 1h
PACKAGES = ./...
TESTS = .
SAMPLE = 0
SEED = 0
EXHAUSTIVE = TestLongTextsAreAnsweredAtOnce|TestDamageIsASentence|TestDamagedPagesAreASentence|TestEveryProfileCanBeMade
GO = CGO_ENABLED=0 go
# Only release builds have flags of their own; everything else shares the packages that CGO_ENABLED=0 go run . compiled. Debug information is
# a fifth of a compiler's work, and would be stripped. .ci/run sets the same flags for everything, and so compiles once.
dist image: export GOFLAGS += -trimpath -gcflags=all=-dwarf=false
# Without garbage collection while memory lasts, compilers, linkers and tests do a quarter less work.
BUSY = GOGC=off GOMEMLIMIT=1GiB $(GO)
# Many tests wait for subprocesses, so more of them run than there are processors.
BESIDE = -p $$((2 * $$(getconf _NPROCESSORS_ONLN)))
# Linkers of tests without symbols do a quarter less work; stack traces stay as they are.
STRIPPED = -ldflags='-s -w'
# The detector would spend most of its time in the database engine and the curves, which are not our code.
RACE = -race -gcflags='modernc.org/...=-race=false -dwarf=false' -gcflags='github.com/consensys/gnark-crypto/...=-race=false -dwarf=false'

# Keep temporary files in memory if there is room.
IN_MEMORY = sh testdata/memory.sh env

# Packages with concurrent goroutines.
RACED = . ./handlers/control ./handlers/fault ./handlers/intercept ./handlers/journal ./handlers/node/eth ./handlers/rest ./handlers/textlog ./handlers/webhook \
	./sim ./sim/cache ./sim/evm/reader ./sim/evm/txpool ./sim/export ./sim/store
# They have some long tests of a single goroutine.
UNRACED_TESTS = TestLimitedFilesEndWithADay|TestFilesAreAsMeasured|TestTheSameExportsGiveTheSameFiles|TestIssuedTransactionsInTime|TestSnapshotsAreBounded|TestScriptsEnd|TestLogsAreBounded|TestLogsAreTheReceipts|TestLawsOfTheHouse|TestDependenciesPointOneWay|TestAReorganisationComesOnceOrTwice|TestTheOrderOfRequestsDecidesNothing|TestLongRunsHaveNoMoreFaults|TestAChainGoesBackAlone|TestStepsAreLoggedAsGoEthereumDoes|TestTransactionsAreCountedAndListed|TestOneWayOut
# Of the whole-server and whole-world tests, only those with concurrent requests and changes: others find no races, and are slow under the detector.
RACED_TESTS = Clock|PeopleLive|NoticesDamage|NoticedSoon|GoesBack|Streamed|TakenDown|Faults|WorkEnds|GivesWay|Health|LargeAnswers|Messages|ADevnet|Waits|BlocksAreMade|Reorg|WorldIsMade|WebSocket|GoingBack|Undone|UsageIsCounted|BesideEachOther|UnderLoad|TimePasses|BesideAWriter|ExecutionLags

help: ## show this list
	@grep -E '^[a-z0-9-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 14

build: ## build ./snowglobe
	$(BUSY) build -ldflags "-s -w" -o snowglobe .

test: ## run the tests, with repetitive ones on small worlds; needs only Go
	$(IN_MEMORY) $(BUSY) test $(BESIDE) $(STRIPPED) -short -vet=off -timeout 10m ./...

test-all: ## run the full tests of PACKAGES, by default all, whose names match TESTS
	$(IN_MEMORY) $(BUSY) test $(BESIDE) $(STRIPPED) -vet=off -timeout 30m -run '$(TESTS)' $(PACKAGES)

exhaustive: ## try every damage to a file, every long text and many profiles; test-all samples these (half an hour)
	$(BUSY) test -tags long -count=1 -vet=off -timeout 3h -run '^($(EXHAUSTIVE))$$' ./handlers ./seed

mutants: ## put small mistakes into PACKAGES, or SAMPLE of each drawn by SEED; see whether its own tests notice, or those of ALSO
	$(IN_MEMORY) $(BUSY) run ./testdata/mutants -sample $(SAMPLE) -seed $(SEED) -tests '$(ALSO)' $(PACKAGES)

lint: ## gofmt, go vet, staticcheck
	@! git ls-files -co --exclude-standard '*.go' | xargs gofmt -l | grep . # not what npm put beside it
	$(BUSY) vet ./...
	$(BUSY) vet -tags long ./handlers ./seed
	$(BUSY) run $(STATICCHECK) -checks inherit,-ST1005 ./... # errors may begin with a chain's name, such as P-Chain

race: ## run the tests on small worlds with the race detector (needs cgo)
	CGO_ENABLED=1 GOGC=400 go test $(RACE) -short -vet=off -timeout 20m -skip '^($(UNRACED_TESTS))$$' $(RACED)
	CGO_ENABLED=1 GOGC=400 go test $(RACE) -short -vet=off -timeout 20m -run '$(RACED_TESTS)' ./handlers ./seed

determinism: ## compare digests with the committed ones on 386 (which amd64 runs) and arm64 (needs qemu-user)
	GOARCH=386 $(BUSY) test -vet=off -count=1 -short -tags digests -run TestDeterminism ./seed ./handlers/session
	GOARCH=arm64 $(BUSY) test -vet=off -count=1 -short -tags digests -exec qemu-aarch64 -run TestDeterminism ./seed ./handlers/session

fuzz: ## fuzz every parser that clients reach, for FUZZTIME each
	sh testdata/fuzz.sh $(FUZZTIME)

crash: ## kill the program KILLS times while it works, and check what remains
	$(GO) test -tags long -count=1 -timeout 3h -run '^TestCrashes$$' -v ./handlers -args -kills $(KILLS)

soak: ## run clients of every kind for SOAK, and compare resource use
	$(GO) test -tags long -count=1 -timeout 5h -run '^TestSoak$$' -v ./handlers -args -soak $(SOAK)

bench: ## measure speed, size and memory, only ROWS if given, with worlds kept in WORLDS (half an hour on a quiet machine)
	$(GO) test -run '^$$' -bench '^BenchmarkReport$$/^$(ROWS)' -benchtime 1x -timeout 60m ./handlers $(if $(WORLDS),-args -worlds $(abspath $(WORLDS)))

golden: ## regenerate transcripts, digests and row sums
	$(GO) test -count=1 ./handlers/node ./seed ./sim/primary -run 'Transcripts|TestDeterminism|TestRowsAndBack' -update

contracts: ## compile fixtures/contracts (needs Node)
	cd fixtures/contracts && npm ci --silent && npm run --silent compile

web: ## copy the npm files that the pages use (needs Node)
	cd fixtures/web && npm ci --silent --ignore-scripts && npm run --silent copy

dist: ## write archives and packages for PLATFORMS to ./dist with checksums, licences and bills of materials; build one twice and compare
	$(BUSY) run ./testdata/dist dist $(PLATFORMS)

image: ## write a container image, ./dist/snowglobe-image.tar, without a daemon
	mkdir -p dist
	$(BUSY) run ./testdata/dist -image dist/snowglobe-image.tar linux/$$(go env GOARCH)

.PHONY: help build test test-all exhaustive mutants lint race determinism fuzz crash soak bench golden contracts web dist image
