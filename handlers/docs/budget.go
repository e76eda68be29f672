package docs

import (
	"fmt"
	"strings"
)

// Budget is an upper or lower limit for a figure of `make bench` on two cores. The manual lists all budgets, and `make bench` prints them next
// to its measurements.
type Budget struct {
	Part  string // of `make bench`
	Name  string
	Limit string
	Unit  string
	Least bool
}

// Budgets lists the budgets in the order of `make bench`.
var Budgets = []Budget{
	{Part: "size", Name: "binary, stripped", Limit: "40", Unit: "MiB"},
	{Part: "generation", Name: "generating a world, everything included", Limit: "10,000", Unit: "EVM transactions/s", Least: true},
	{Part: "generation", Name: "the world's file, per EVM transaction", Limit: "2,048", Unit: "bytes"},
	{Part: "generation", Name: "memory while generating a world", Limit: "256", Unit: "MiB"},
	{Part: "rollups", Name: "generating a world with roll-ups of metrics, against generating it without", Limit: "1.15", Unit: "×"},
	{Part: "starts", Name: "first start, tiny, to the first answer", Limit: "150", Unit: "ms"},
	{Part: "starts", Name: "first start, default, to the first answer", Limit: "1,500", Unit: "ms"},
	{Part: "starts", Name: "start with a file of any size, to the first answer", Limit: "40", Unit: "ms"},
	{Part: "serving", Name: "one object, requested again", Limit: "0.7", Unit: "× of a bare HTTP server", Least: true},
	{Part: "serving", Name: "list, requested again", Limit: "0.6", Unit: "× of a bare HTTP server", Least: true},
	{Part: "serving", Name: "list of 10, each request different", Limit: "0.4", Unit: "× of a bare HTTP server", Least: true},
	{Part: "serving", Name: "eth_blockNumber, eth_getBalance, a full block", Limit: "0.7", Unit: "× of a bare HTTP server", Least: true},
	{Part: "serving", Name: "first page of a list, against the deepest", Limit: "1.5", Unit: "×"},
	{Part: "serving", Name: "memory while serving default", Limit: "100", Unit: "MiB"},
	{Part: "newWords", Name: "eth_getBalance, eth_getStorageAt, each for a different account or slot", Limit: "0.4", Unit: "× of a bare HTTP server", Least: true},
	{Part: "newWords", Name: "eth_call, each for a different account", Limit: "0.3", Unit: "× of a bare HTTP server", Least: true},
	{Part: "newWords", Name: "full blocks, a different one each time", Limit: "0.3", Unit: "× of a bare HTTP server", Least: true},
	{Part: "journaling", Name: "serving with the journal of requests, against serving without", Limit: "0.95", Unit: "×", Least: true},
	{Part: "ownNames", Name: "a request at the network's own names, against ours", Limit: "0.3", Unit: "ms more"},
	{Part: "signing", Name: "aggregate signature of more than a thousand validators", Limit: "5", Unit: "ms"},
	{Part: "growth", Name: "the same request, in a world of a million transactions against default", Limit: "1.2", Unit: "×"},
	{Part: "growth", Name: "memory while serving large", Limit: "160", Unit: "MiB"},
	{Part: "firsts", Name: "any first answer of a large world", Limit: "50", Unit: "ms"},
	{Part: "sending", Name: "transactions of one client that waits for receipts", Limit: "1,500", Unit: "transactions/s", Least: true},
	{Part: "sending", Name: "transactions of eight clients that wait for receipts", Limit: "3,000", Unit: "transactions/s", Least: true},
	{Part: "undoing", Name: "snapshot", Limit: "5", Unit: "ms"},
	{Part: "undoing", Name: "revert of what one test did", Limit: "20", Unit: "ms"},
	{Part: "undoing", Name: "revert of 10,000 transactions", Limit: "300", Unit: "ms"},
	{Part: "undoing", Name: "reset after 30,000 transactions", Limit: "500", Unit: "ms"},
	{Part: "undoing", Name: "undo log, per transfer", Limit: "512", Unit: "bytes"},
	{Part: "undoing", Name: "file, per transfer sent", Limit: "2,048", Unit: "bytes"},
	{Part: "undoing", Name: "copy of tiny", Limit: "20", Unit: "ms"},
	{Part: "searching", Name: "each run of a search, besides the command", Limit: "50", Unit: "ms"},
	{Part: "clock", Name: "moving the clock of default by ten years", Limit: "10,000", Unit: "ms"},
	{Part: "clock", Name: "memory of large after a month of moved time", Limit: "160", Unit: "MiB"},
	{Part: "abuses", Name: "memory under mixed load", Limit: "120", Unit: "MiB"},
	{Part: "abuses", Name: "memory under abuse", Limit: "300", Unit: "MiB"},
	{Part: "webPages", Name: "first load of a page, with everything that it loads", Limit: "300", Unit: "kB"},
	{Part: "webPages", Name: "first load of a page from a server that has just started", Limit: "200", Unit: "ms"},
}

func budgets() string {
	b := new(strings.Builder)
	b.WriteString("| figure | `make bench ROWS=` | budget |\n|---|---|---|\n")
	for _, of := range Budgets {
		bound := "at most"
		if of.Least {
			bound = "at least"
		}
		fmt.Fprintf(b, "| %s | `%s` | %s %s %s |\n", of.Name, of.Part, bound, of.Limit, of.Unit)
	}
	return b.String()
}
