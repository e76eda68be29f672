help: ## show this list
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 14

bench: ## measure speed, size and memory of the built program
	CGO_ENABLED=0 go test -run '^$$' -bench '^BenchmarkReport$$' -benchtime 1x ./handlers/server

contracts: ## compile fixtures/contracts (needs Node)
	cd fixtures/contracts && npm ci --silent && npm run --silent compile

.PHONY: help bench contracts
