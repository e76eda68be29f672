package export

import (
	"fmt"
	"slices"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/export"
)

// exportBody requests an export.
type exportBody struct {
	Type      string        `json:"type" enum:"TRANSACTION_EXPORT_EVM,TRANSACTION_EXPORT_PRIMARY_NETWORK,TRANSACTION_EXPORT_PRIMARY_NETWORK_STAKING,TRANSACTION_EXPORT_PRIMARY_NETWORK_SIMPLE"`
	FirstDate *string       `json:"firstDate,omitempty" doc:"YYYY-MM-DD, inclusive. Default: the beginning of the chains."`
	LastDate  *string       `json:"lastDate,omitempty" doc:"YYYY-MM-DD, inclusive. Default: now."`
	StartDate *string       `json:"startDate,omitempty" deprecated:"true" doc:"The deprecated name of firstDate."`
	EndDate   *string       `json:"endDate,omitempty" deprecated:"true" doc:"The deprecated name of lastDate."`
	Options   exportOptions `json:"options"`
}

// exportOptions selects the addresses and chains to export.
type exportOptions struct {
	Addresses          []string `json:"addresses,omitempty" doc:"EVM addresses, required for TRANSACTION_EXPORT_EVM; for the other types, bech32 addresses of either network, with or without a chain's prefix. At most 1000."`
	CChainEvmAddresses []string `json:"cChainEvmAddresses,omitempty" doc:"For the other types: EVM addresses whose C-Chain imports and exports to include. At most 1000."`
	IncludeChains      []string `json:"includeChains" doc:"EVM chain ids; for the other types, blockchain ids of the primary network, or p-chain, x-chain and c-chain, which mean the addresses' networks. At most 1000."`
}

const (
	maxExportAddresses = 1000
	maxExportChains    = 1000
)

// exportRequest is a body on its way to becoming a scope.
type exportRequest struct {
	world    *sim.World
	body     *exportBody
	scope    export.Scope
	problems []string
}

// exportScope reads a body and reports all its faults at once.
func (a *exportAPI) exportScope(body *exportBody) (export.Scope, []string) {
	q := &exportRequest{world: a.World, body: body, scope: export.Scope{Type: export.Type(body.Type), Owners: map[string][]ids.ShortID{}}}
	q.dates()
	if q.scope.Type == export.EVM {
		q.readEVM()
	} else {
		q.readPrimary()
	}
	return q.scope, q.problems
}

// exportNetworks returns the networks of the chains that a body names.
func (a *exportAPI) exportNetworks(r *rest.Request) []string {
	scope, _ := a.exportScope(rest.Body[exportBody](r))
	return networksOf(&scope)
}

func networksOf(scope *export.Scope) (networks []string) {
	for _, l := range scope.Chains {
		networks = append(networks, l.Network)
	}
	return networks
}

func (q *exportRequest) fail(format string, args ...any) {
	q.problems = append(q.problems, fmt.Sprintf(format, args...))
}

func (q *exportRequest) dates() {
	first := q.date("firstDate", q.body.FirstDate, "startDate", q.body.StartDate)
	last := q.date("lastDate", q.body.LastDate, "endDate", q.body.EndDate)
	if first != nil {
		q.scope.From = first.Unix()
	}
	if last == nil {
		return
	}
	q.scope.Until = last.AddDate(0, 0, 1).Unix()
	if first != nil && last.Before(*first) {
		q.fail("lastDate %s is before firstDate %s", last.Format(time.DateOnly), first.Format(time.DateOnly))
	}
}

// date reads a date under its present or its former name; nil if neither is given.
func (q *exportRequest) date(name string, text *string, old string, oldText *string) *time.Time {
	t, older := q.day(name, text), q.day(old, oldText)
	if t != nil && older != nil && !t.Equal(*older) {
		q.fail("%s %s and %s %s disagree: %s is the deprecated name of %s; set only one", name, *text, old, *oldText, old, name)
	}
	if t == nil {
		return older
	}
	return t
}

func (q *exportRequest) day(name string, text *string) *time.Time {
	if text == nil {
		return nil
	}
	t, problem := rest.ReadItem[time.Time](name, schema.KindDate, *text)
	if problem != "" {
		q.problems = append(q.problems, problem)
		return nil
	}
	if t.Unix() < 0 {
		q.fail("%s %s is not allowed: expected a date not before 1970-01-01", name, *text)
		return nil
	}
	return &t
}

// items reads a list of the options. Without problems, it returns one item per text.
func items[T any](q *exportRequest, name string, texts []string, kind *schema.Kind, literals ...string) (all []T) {
	if len(texts) > maxExportAddresses {
		q.fail("options.%s has %d items: expected at most %d", name, len(texts), maxExportAddresses)
		return nil
	}
	for i, text := range texts {
		item, problem := rest.ReadItem[T](fmt.Sprintf("options.%s[%d]", name, i), kind, text, literals...)
		if problem != "" {
			q.problems = append(q.problems, problem)
		} else {
			all = append(all, item)
		}
	}
	return all
}

// accounts reads EVM addresses and drops duplicates.
func (q *exportRequest) accounts(name string, texts []string) {
	for _, account := range items[common.Address](q, name, texts, schema.KindAddress) {
		if !slices.Contains(q.scope.Accounts, account) {
			q.scope.Accounts = append(q.scope.Accounts, account)
		}
	}
}

func (q *exportRequest) readEVM() {
	o := &q.body.Options
	if len(o.Addresses) == 0 {
		missing := "options.addresses is"
		if len(o.IncludeChains) == 0 {
			missing = "options.addresses and options.includeChains are"
		}
		q.fail("%s required for %s: expected at least one EVM address on at least one chain", missing, q.scope.Type)
	}
	if len(o.CChainEvmAddresses) > 0 {
		q.fail("options.cChainEvmAddresses does not apply to %s: expected EVM addresses in options.addresses", q.scope.Type)
	}
	q.accounts("addresses", o.Addresses)
	if !q.needChains() {
		return
	}
	for i, name := range o.IncludeChains {
		where := fmt.Sprintf("options.includeChains[%d]", i)
		id, problem := rest.ReadItem[schema.ChainID](where, schema.KindChain, q.world.Alias("", name))
		if problem != "" {
			q.problems = append(q.problems, problem)
			continue
		}
		c := q.world.ChainNamed(id.String())
		if c == nil {
			q.fail("%s %q is not allowed: chain %s does not exist", where, name, id)
			continue
		}
		q.include(export.ChainRef{Kind: export.KindEVM, Network: c.Row.Network, ChainID: c.Row.EVMID})
	}
}

// needChains reports whether the body names chains, and no more than allowed.
func (q *exportRequest) needChains() bool {
	n := len(q.body.Options.IncludeChains)
	switch {
	case n == 0:
		q.fail("options.includeChains is empty: expected at least one chain")
	case n > maxExportChains:
		q.fail("options.includeChains has %d items: expected at most %d", n, maxExportChains)
	}
	return n > 0 && n <= maxExportChains
}

// include adds a chain unless it is already included.
func (q *exportRequest) include(l export.ChainRef) {
	if !slices.Contains(q.scope.Chains, l) {
		q.scope.Chains = append(q.scope.Chains, l)
	}
}
