package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
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
	Path    string          `json:"path,omitempty" doc:"Path of a file on the server's machine, at most 32 MiB."`
	Content json.RawMessage `json:"content,omitempty" doc:"The file itself instead of its path: JSON, or text as anvil_dumpState returns it."`
	Kind    string          `json:"kind,omitempty" doc:"anvil, alloc, broadcast, ignition, tokenlist or genesis. Default: recognized from the content."`
	Chain   string          `json:"chain,omitempty" doc:"EVM chain id, name of an L1, C or fuji/C. Default: the chain that the file names, or mainnet's C-Chain."`

	Name        string          `json:"name,omitempty" doc:"Name of the L1 that starts from a genesis. Default: Chain and its EVM chain id."`
	Network     string          `json:"network,omitempty" doc:"Network of that L1. Default: mainnet."`
	Upgrade     json.RawMessage `json:"upgrade,omitempty" doc:"The L1's upgrade.json."`
	UpgradePath string          `json:"upgradePath,omitempty" doc:"Path of the upgrade.json on the server's machine."`
	Airdrop     json.RawMessage `json:"airdrop,omitempty" doc:"The accounts of the L1's airdrop."`
	AirdropPath string          `json:"airdropPath,omitempty" doc:"Path of a file with these accounts on the server's machine."`
}

// startsL1 reports whether the file is the genesis of a new L1, rather than for an existing chain.
func (b *NewImport) startsL1(file []byte) bool {
	_, starts := interchange.StartsL1(file)
	return b.Kind == string(interchange.KindGenesis) || b.Name != "" || b.Kind == "" && b.Chain == "" && starts
}

// ofL1 lists the members that apply only to the import of an L1.
func (b *NewImport) ofL1() (given []string) {
	for name, is := range map[string]bool{"name": b.Name != "", "network": b.Network != "", "upgrade": len(b.Upgrade) > 0, "upgradePath": b.UpgradePath != "", "airdrop": len(b.Airdrop) > 0, "airdropPath": b.AirdropPath != ""} {
		if is {
			given = append(given, name)
		}
	}
	slices.Sort(given)
	return given
}

// StartL1 makes a world with one more L1.
type StartL1 func(r *rest.Request, l *interchange.L1) (*ImportedL1, error)

// ImportedL1 is an L1 that started from a genesis.
type ImportedL1 struct {
	Name         string `json:"name"`
	Network      string `json:"network"`
	ChainID      string `json:"evmChainId"`
	BlockchainID string `json:"blockchainId"`
	SubnetID     string `json:"subnetId"`
	World        string `json:"world,omitempty" doc:"Name of the new world with the L1."`
	URL          string `json:"url,omitempty" format:"url" doc:"URL of that world; all its paths are below it."`
	RPCURL       string `json:"rpcUrl,omitempty" format:"url" doc:"URL of the L1's JSON-RPC there."`

	Digest string `json:"-"` // of its world
}

// ShowL1 describes the L1 with a name.
func ShowL1(w *sim.World, name string) *ImportedL1 {
	for _, c := range w.Chains {
		if c.Row.Name == name {
			return &ImportedL1{Name: name, Network: c.Row.Network, ChainID: strconv.FormatUint(c.Row.EVMID, 10), BlockchainID: ids.ID(c.Row.BlockchainID).String(), SubnetID: ids.ID(c.Row.SubnetID).String(), Digest: hex(w.Digest())}
		}
	}
	return &ImportedL1{Name: name}
}

// ShowGenesis describes the import of an L1's genesis.
func ShowGenesis(l *interchange.L1, started *ImportedL1) *Import {
	return &Import{Kind: string(interchange.KindGenesis), Accounts: l.Accounts, Contracts: []NamedContract{}, Notes: append([]string{}, l.Notes...), L1: started, Digest: started.Digest}
}

// Import is the answer of POST /sim/imports.
type Import struct {
	Kind      string          `json:"kind"`
	Accounts  int             `json:"accounts" doc:"Number of accounts in the file."`
	Values    int             `json:"values" doc:"Number of balances, nonces, codes and slots that changed."`
	Contracts []NamedContract `json:"contracts" doc:"Contracts that got a name or a logo."`
	Notes     []string        `json:"notes" doc:"What the import left out, and why."`
	L1        *ImportedL1     `json:"l1,omitempty" doc:"The L1 that started from a genesis."`
	Digest    string          `json:"digest,omitempty" doc:"SHA-256 of the whole world, hex; of the new world if there is one."`
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

// String summarizes the import in one line.
func (i *Import) String() string {
	if i.L1 != nil {
		return fmt.Sprintf("%s: L1 %s on %s, EVM chain id %s, %d accounts", i.Kind, i.L1.Name, i.L1.Network, i.L1.ChainID, i.Accounts)
	}
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
func RegisterImports(s *rest.Server, w *sim.World, start StartL1) error {
	return s.Register(rest.Sim,
		rest.Operation{ID: "import", Method: http.MethodPost, Path: "/sim/imports", Summary: "Import another tool's file",
			Doc: "A state dump of anvil, the alloc of a genesis, a broadcast file of Foundry, a journal or the deployed addresses of Hardhat Ignition, or a token list. " +
				"Example: {\"path\":\"/home/me/state.json\"}. Everything is taken over or, after an error, nothing. A revert to a snapshot takes it back. " +
				"A genesis of subnet-evm without a chain starts an L1 of its own, for which a new world is made, this one as it began and the L1 with it: " +
				"{\"path\":\"/home/me/genesis.json\",\"upgradePath\":\"/home/me/upgrade.json\",\"name\":\"Mine\"}.",
			Body: reflect.TypeFor[NewImport](), Strict: true, Slow: true, Class: permit.Control, Answer: reflect.TypeFor[Import](),
			Handle: func(r *rest.Request) (any, error) { return importFile(r, w, start) }},
		rest.Operation{ID: "getAlloc", Path: "/sim/alloc", Summary: "An EVM chain's newest state, in the format of a genesis' alloc",
			Doc: "Put it into a genesis of go-ethereum or subnet-evm. For anvil, use the method anvil_dumpState.", Live: true, Answer: reflect.TypeFor[Alloc](),
			Params: []rest.Param{{Name: "chain", Kind: schema.KindText, Doc: "EVM chain id, name of an L1, C or fuji/C. Default: mainnet's C-Chain."}},
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

func importFile(r *rest.Request, w *sim.World, start StartL1) (any, error) {
	body := rest.Body[NewImport](r)
	chain, err := ChainNamed(w, body.Chain)
	if err != nil {
		return nil, rest.BadRequest("chain: " + err.Error())
	}
	raw, err := content("path", body.Path, "content", body.Content, interchange.MostBytes)
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, rest.BadRequest("expected either path or content")
	}
	given := body.ofL1()
	switch starts := body.startsL1(raw); {
	case starts && chain != nil:
		return nil, rest.BadRequest("chain: an L1 that starts from a genesis is a new chain; use kind alloc to add the accounts to this chain")
	case starts:
		return importL1(r, body, raw, start)
	case len(given) > 0:
		return nil, rest.BadRequest(strings.Join(given, ", ") + ": only an L1 that starts from a genesis has that")
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

// content returns a file that a request contains or names, nil if it does neither.
func content(pathName, path, name string, given json.RawMessage, most int64) ([]byte, error) {
	if path != "" && len(given) > 0 {
		return nil, rest.BadRequest(fmt.Sprintf("expected either %s or %s", pathName, name))
	}
	if path == "" {
		return given, nil
	}
	raw, err := userfile.Read(path, most)
	if err != nil {
		return nil, rest.BadRequest(pathName + ": " + err.Error())
	}
	return raw, nil
}

func importL1(r *rest.Request, body *NewImport, genesis []byte, start StartL1) (any, error) {
	if start == nil {
		return nil, rest.Conflict("an L1 needs a world of its own, and this server makes none")
	}
	l := &interchange.L1{Name: body.Name, Network: body.Network, Genesis: genesis}
	var err error
	if l.Upgrade, err = content("upgradePath", body.UpgradePath, "upgrade", body.Upgrade, userfile.MostYAML); err != nil {
		return nil, err
	}
	if l.Airdrop, err = content("airdropPath", body.AirdropPath, "airdrop", body.Airdrop, userfile.MostYAML); err != nil {
		return nil, err
	}
	started, err := start(r, l)
	if errors.Is(err, interchange.ErrGenesis) {
		return nil, rest.BadRequest("the file: " + err.Error())
	}
	if err != nil {
		return nil, err
	}
	return ShowGenesis(l, started), nil
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
	c = cmp.Or(c, w.Chains[0])
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
