package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures"
	"snowglobe/fixtures/interchange"
	"snowglobe/fixtures/userfile"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// NewImport is the body of POST /sim/imports.
type NewImport struct {
	Path    string          `json:"path,omitempty" doc:"Of a file on the server's machine, of at most 32 MiB."`
	Content json.RawMessage `json:"content,omitempty" doc:"The file itself instead of its path: JSON, or a text such as anvil_dumpState returns."`
	Kind    string          `json:"kind,omitempty" doc:"anvil, alloc, broadcast, ignition or tokenlist. Recognized unless given."`
	Chain   string          `json:"chain,omitempty" doc:"EVM chain id, name of an L1, C or fuji/C. Unless given, the chain that the file names, or mainnet's C-Chain."`
}

// Import is the answer of POST /sim/imports.
type Import struct {
	Kind      string          `json:"kind"`
	Accounts  int             `json:"accounts" doc:"Of the file."`
	Values    int             `json:"values" doc:"Balances, nonces, codes and slots that changed."`
	Contracts []NamedContract `json:"contracts" doc:"That got a name or a logo."`
	Notes     []string        `json:"notes" doc:"What was left out, and why."`
	Digest    string          `json:"digest,omitempty" doc:"SHA-256 of the whole world, hex."`
}

// NamedContract is a contract with its name in the world.
type NamedContract struct {
	Name    string `json:"name"`
	Address string `json:"address" format:"address"`
}

// ShowImport describes an import.
func ShowImport(kind interchange.Kind, done *sim.Imported) *Import {
	i := &Import{Kind: string(kind), Accounts: done.Accounts, Values: done.Values, Contracts: []NamedContract{}, Notes: append([]string{}, done.Notes...)}
	for _, c := range done.Contracts {
		i.Contracts = append(i.Contracts, NamedContract{c.Role, common.BytesToAddress(c.Address).Hex()})
	}
	return i
}

// String says it in a line.
func (i *Import) String() string {
	if i.Kind == string(interchange.KindAnvil) || i.Kind == string(interchange.KindAlloc) {
		return fmt.Sprintf("%s: %d accounts, %d values changed", i.Kind, i.Accounts, i.Values)
	}
	return fmt.Sprintf("%s: %d contracts got a name or a logo", i.Kind, len(i.Contracts))
}

// ChainNamed finds an EVM chain by its id, by the name of an L1, or as C or fuji/C. It returns nil for an empty name.
func ChainNamed(w *sim.World, name string) (*reader.Chain, error) {
	if name == "" {
		return nil, nil
	}
	var names []string
	for _, c := range w.Chains {
		all := []string{strconv.FormatUint(c.Row.EVMID, 10)}
		switch {
		case c.Row.Kind != "C":
			all = append(all, c.Row.Name)
		case c.Row.Network == fixtures.Networks[0].Name:
			all = append(all, "C", c.Row.Network+"/C")
		default:
			all = append(all, c.Row.Network+"/C")
		}
		if slices.Contains(all, name) {
			return c, nil
		}
		names = append(names, all...)
	}
	return nil, fmt.Errorf("there is no EVM chain %.40q; there are %s", name, strings.Join(names, ", "))
}

// RegisterImports registers the operations that move state and names between the world and other tools.
func RegisterImports(s *rest.Server, w *sim.World) error {
	return s.Register(rest.Sim,
		rest.Operation{ID: "import", Method: http.MethodPost, Path: "/sim/imports", Summary: "Take over a file of another tool",
			Doc: "A state dump of anvil, the alloc of a genesis, a broadcast file of Foundry, a journal or the deployed addresses of Hardhat Ignition, or a token list. " +
				"Example: {\"path\":\"/home/me/state.json\"}. Everything is taken over or, after an error, nothing. A revert to a snapshot takes it back.",
			Body: reflect.TypeFor[NewImport](), Strict: true, Class: permit.Control, Answer: reflect.TypeFor[Import](),
			Handle: func(r *rest.Request) (any, error) { return importFile(r, w) }},
		rest.Operation{ID: "getAlloc", Path: "/sim/alloc", Summary: "The newest state of an EVM chain, as a genesis allocates it",
			Doc: "For the alloc of a genesis of go-ethereum or subnet-evm. For anvil there is the method anvil_dumpState.", Live: true, Answer: reflect.TypeFor[Alloc](),
			Params: []rest.Param{{Name: "chain", Kind: schema.KindText, Doc: "EVM chain id, name of an L1, C or fuji/C. Unless given, mainnet's C-Chain."}},
			Handle: func(r *rest.Request) (any, error) {
				of, err := ChainNamed(w, r.Text("chain"))
				if err != nil {
					return nil, rest.BadRequest("chain: " + err.Error())
				}
				a, err := alloc(r.Context(), w, of)
				if errors.Is(err, reader.ErrLargeState) {
					err = rest.Conflict(err.Error())
				}
				return a, err
			}},
		rest.Operation{ID: "getAddresses", Path: "/sim/addresses", Summary: "The addresses of the personas and of the named contracts", Live: true, Answer: reflect.TypeFor[Addresses](),
			Handle: func(r *rest.Request) (any, error) { return addresses(r.Context(), w, nil) }})
}

func importFile(r *rest.Request, w *sim.World) (any, error) {
	body := rest.Body[NewImport](r)
	chain, err := ChainNamed(w, body.Chain)
	if err != nil {
		return nil, rest.BadRequest("chain: " + err.Error())
	}
	raw := []byte(body.Content)
	if (body.Path == "") == (len(raw) == 0) {
		return nil, rest.BadRequest("expected either path or content")
	}
	if body.Path != "" {
		if raw, err = userfile.Read(body.Path, interchange.MostBytes); err != nil {
			return nil, rest.BadRequest("path: " + err.Error())
		}
	}
	file, err := interchange.Read(raw, interchange.Kind(body.Kind))
	if err != nil {
		return nil, rest.BadRequest("the file: " + err.Error())
	}
	done, err := w.Import(r.Context(), file, chain)
	switch {
	case errors.Is(err, sim.ErrNoChain):
		return nil, rest.BadRequest("chain: " + err.Error())
	case errors.Is(err, evm.ErrChange):
		return nil, rest.Conflict(err.Error())
	case err != nil:
		return nil, err
	}
	answer := ShowImport(file.Kind, done)
	answer.Digest = hex(w.Digest())
	return answer, nil
}

// Alloc is a chain's accounts by address, as a genesis has them.
type Alloc map[string]AllocatedAccount

// AllocatedAccount is an account in a genesis.
type AllocatedAccount struct {
	Balance string            `json:"balance" doc:"In wei, hexadecimal."`
	Nonce   string            `json:"nonce,omitempty" doc:"Hexadecimal."`
	Code    string            `json:"code,omitempty"`
	Storage map[string]string `json:"storage,omitempty" doc:"By slot."`
}

// alloc returns the newest state of a chain, or of mainnet's C-Chain.
func alloc(ctx context.Context, w *sim.World, c *reader.Chain) (Alloc, error) {
	if c == nil {
		c = w.Chains[0]
	}
	head, err := w.MinerOf(c).LastExecuted(ctx)
	if err != nil {
		return nil, err
	}
	accounts, err := c.Alloc(ctx, head, interchange.MostValues)
	if err != nil {
		return nil, err
	}
	all := make(Alloc, len(accounts))
	for address, a := range accounts {
		shown := AllocatedAccount{Balance: hexutil.EncodeBig(a.Balance)}
		if a.Nonce > 0 {
			shown.Nonce = hexutil.EncodeUint64(a.Nonce)
		}
		if len(a.Code) > 0 {
			shown.Code = hexutil.Encode(a.Code)
		}
		if len(a.Storage) > 0 {
			shown.Storage = make(map[string]string, len(a.Storage))
		}
		for slot, value := range a.Storage {
			shown.Storage[slot.Hex()] = value.Hex()
		}
		all[address.Hex()] = shown
	}
	return all, nil
}

// Addresses is the world's address book.
type Addresses struct {
	Accounts  map[string]string            `json:"accounts" doc:"Personas and accounts of the world file by name."`
	Contracts map[string]map[string]string `json:"contracts" doc:"By EVM chain id and name."`
}

// addresses returns the address book of a chain, or of all.
func addresses(ctx context.Context, w *sim.World, of *reader.Chain) (*Addresses, error) {
	personas, err := w.DB.Personas(ctx)
	if err != nil {
		return nil, err
	}
	all := &Addresses{map[string]string{}, map[string]map[string]string{}}
	for _, p := range personas {
		if len(p.Address) > 0 {
			all.Accounts[p.Name] = common.BytesToAddress(p.Address).Hex()
		}
	}
	for _, c := range w.Chains {
		if of != nil && c != of {
			continue
		}
		rows, err := w.DB.Contracts(ctx, c.Row.ID)
		if err != nil {
			return nil, err
		}
		named := make(map[string]string, len(rows))
		for _, r := range rows {
			named[r.Role] = common.BytesToAddress(r.Address).Hex()
		}
		all.Contracts[strconv.FormatUint(c.Row.EVMID, 10)] = named
	}
	return all, nil
}

// Export returns what the verb export prints: alloc, tokenlist or addresses, of a chain or of the usual ones. base is the URL of logos.
func Export(ctx context.Context, w *sim.World, of *reader.Chain, what, base string) (any, error) {
	switch what {
	case "alloc":
		return alloc(ctx, w, of)
	case "tokenlist":
		return tokenList(ctx, w, of, base)
	}
	return addresses(ctx, w, of)
}
