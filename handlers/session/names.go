package session

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures/contracts"
	"snowglobe/fixtures/worldfile"
	"snowglobe/handlers/control"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/secp256k1"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// names knows the accounts and contracts of a world by name.
type names struct {
	world     *sim.World
	accounts  map[string]*account
	addresses map[common.Address]string
	chains    map[string]*chain
	personas  []store.Persona
	primary   map[ids.ShortID]string // see owners
}

// owners returns the names of the addresses on P and X. They are derived from keys, so only once they are needed.
func (n *names) owners() map[ids.ShortID]string {
	if n.primary != nil {
		return n.primary
	}
	n.primary = map[ids.ShortID]string{}
	for i := range n.personas {
		p := &n.personas[i]
		if a, err := ids.ToShortID(p.Primary); err == nil {
			n.primary[a] = p.Name
		} else if key, err := txs.KeyFromBytes(p.Key); err == nil {
			n.primary[key.Address()] = p.Name
		}
	}
	return n.primary
}

// account is a persona or an account of a world file.
type account struct {
	address common.Address
	key     *secp256k1.Key // nil if the world doesn't have it
}

// chain is an EVM chain with its named contracts.
type chain struct {
	*reader.Chain
	contracts map[string]*contract
	roles     map[common.Address]string
}

type contract struct {
	address common.Address
	row     store.Contract
}

// abi returns the contract's ABI, without methods if it is not known.
func (c *contract) abi() abi.ABI {
	if c.row.Artifact != "" {
		if artifact, err := contracts.Load(c.row.Artifact); err == nil {
			return artifact.ABI
		}
	}
	parsed, _ := worldfile.ParseABI(c.row.ABI) // without it, calls are written as data
	return parsed
}

func readNames(ctx context.Context, w *sim.World) (*names, error) {
	personas, err := w.DB.Personas(ctx)
	if err != nil {
		return nil, err
	}
	n := &names{world: w, accounts: map[string]*account{}, addresses: map[common.Address]string{}, chains: map[string]*chain{}, personas: personas}
	for i := range personas {
		p := &personas[i]
		if len(p.Address) == 0 || !plainName.MatchString(p.Name) {
			continue
		}
		a := &account{address: common.Address(p.Address)}
		if len(p.Key) > 0 {
			if a.key, err = secp256k1.NewKey(p.Key); err != nil {
				return nil, store.Damaged(err)
			}
		}
		n.accounts[p.Name], n.addresses[a.address] = a, p.Name
	}
	for _, c := range w.Chains {
		at := &chain{c, map[string]*contract{}, map[common.Address]string{}}
		rows, err := w.DB.Contracts(ctx, c.Row.ID)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if n.accounts[row.Role] == nil && plainName.MatchString(row.Role) {
				at.contracts[row.Role] = &contract{common.Address(row.Address), row}
				at.roles[common.Address(row.Address)] = row.Role
			}
		}
		n.chains[sim.NameOf(c)] = at
	}
	return n, nil
}

// plainName matches names that need no quotes in a line.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// on finds an EVM chain by its name.
func (n *names) on(name string) (*chain, error) {
	c, err := control.ChainNamed(n.world, name)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("the chain is missing")
	}
	return n.chains[sim.NameOf(c)], nil
}

// show returns the name of an address on a chain, which may be nil, or the address in hex if it has none.
func (n *names) show(c *chain, a common.Address) string {
	if name, known := n.addresses[a]; known {
		return name
	}
	if c != nil {
		if role, known := c.roles[a]; known {
			return role
		}
	}
	return a.Hex()
}

// resolve returns the address of a name on a chain, which may be nil.
func (n *names) resolve(c *chain, name string) (common.Address, error) {
	if a := n.accounts[name]; a != nil {
		return a.address, nil
	}
	if c != nil && c.contracts[name] != nil {
		return c.contracts[name].address, nil
	}
	if len(name) == 42 && common.IsHexAddress(name) {
		return common.HexToAddress(name), nil
	}
	return common.Address{}, fmt.Errorf("%.60q is not an account, contract or address", name)
}

var (
	quotedAddress = regexp.MustCompile(`"0x[0-9a-fA-F]{40}"`)
	quotedName    = regexp.MustCompile(`"@[@A-Za-z][A-Za-z0-9_-]*`)
)

// nameJSON replaces named addresses among the strings of a JSON value by @ and the name.
func (n *names) nameJSON(c *chain, value string) string {
	value = strings.ReplaceAll(value, `"@`, `"@@`)
	return quotedAddress.ReplaceAllStringFunc(value, func(quoted string) string {
		if shown := n.show(c, common.HexToAddress(quoted[1:43])); !strings.HasPrefix(shown, "0x") {
			return `"@` + shown + `"`
		}
		return quoted
	})
}

// unnameJSON undoes nameJSON.
func (n *names) unnameJSON(c *chain, value string) (read string, err error) {
	read = quotedName.ReplaceAllStringFunc(value, func(quoted string) string {
		if strings.HasPrefix(quoted, `"@@`) {
			return `"` + quoted[2:]
		}
		a, unknown := n.resolve(c, quoted[2:])
		if unknown != nil {
			err = unknown
		}
		return `"` + a.Hex()
	})
	return read, err
}

// path returns the node's path that serves a method on a chain.
func (n *names) path(name, method string) (string, error) {
	ref, err := worldfile.ParseChain(name)
	if err != nil {
		return "", err
	}
	family, _, _ := strings.Cut(method, ".")
	if ref.Name == "P" || ref.Name == "X" {
		at := "/" + ref.Network + "/ext/bc/" + ref.Name
		if family == "wallet" {
			at += "/wallet"
		}
		return at, nil
	}
	c, err := n.on(name)
	if err != nil {
		return "", err
	}
	last := "/rpc"
	if family == "avax" {
		last = "/avax"
	}
	return "/" + c.Row.Network + "/ext/bc/" + ids.ID(c.Row.BlockchainID).String() + last, nil
}

// method finds a method of a contract by its name and, unless they are empty, its types.
func method(a *abi.ABI, name, types string) (*abi.Method, error) {
	var found []abi.Method
	var all []string
	for _, m := range a.Methods {
		all = append(all, m.RawName)
		if m.RawName == name && (types == "" || m.Sig == name+types) {
			found = append(found, m)
		}
	}
	slices.Sort(all)
	switch {
	case len(found) == 1:
		return &found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("there are %d methods named %s: write the types before the arguments, as in transfer(address,uint256)(bob, 5)", len(found), name)
	}
	if types == "" {
		if len(all) == 0 {
			return nil, fmt.Errorf("its ABI is unknown: write the types before the arguments, as in transfer(address,uint256)(bob, 5)")
		}
		return nil, fmt.Errorf("it has no method %s, only %s", name, strings.Join(slices.Compact(all), ", "))
	}
	selector, err := abi.ParseSelector(name + types)
	if err == nil {
		err = worldfile.CheckTypes(selector.Inputs)
	}
	if err != nil {
		return nil, err
	}
	var inputs abi.Arguments
	for _, in := range selector.Inputs {
		kind, err := abi.NewType(in.Type, in.InternalType, in.Components)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, abi.Argument{Name: in.Name, Type: kind})
	}
	return new(abi.NewMethod(name, name, abi.Function, "", false, false, inputs, nil)), nil
}
