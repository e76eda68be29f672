help: ## show this list
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 14

contracts: ## compile fixtures/contracts (needs Node)
	cd fixtures/contracts && npm ci --silent && npm run --silent compile

.PHONY: help contracts
