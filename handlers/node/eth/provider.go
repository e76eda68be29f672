package eth

import (
	"context"
	"math/big"
	"net/url"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
)

// providerAPI implements the methods with which an app talks to a browser wallet (EIP-1193): about chains, tokens and permissions. Nobody is
// asked: what a user could allow is allowed.
type providerAPI struct {
	node  *walletAPI // not embedded, because its methods are not in this namespace
	world *sim.World // nil for a chain without one
}

// switchRequest is the parameter of wallet_switchEthereumChain.
type switchRequest struct {
	ChainID hexutil.Uint64 `json:"chainId"`
}

// SwitchEthereumChain accepts this endpoint's own chain (EIP-3326): each chain has an endpoint of its own. For another chain of the world the error
// says where it is.
func (a *providerAPI) SwitchEthereumChain(r switchRequest) error {
	id := uint64(r.ChainID)
	if id == a.node.chain.Genesis.ChainID {
		return nil
	}
	if other := a.other(id); other != nil {
		return provider(codeDisconnected, "chain %#x (%s) is at /%s/ext/bc/%s/rpc: an endpoint serves one chain", id, other.Row.Name, other.Row.Network, ids.ID(other.Row.BlockchainID))
	}
	return provider(codeUnknownChain, "Unrecognized chain ID %#x: this world has no such chain", id)
}

// other finds another chain of the world by its EVM chain id.
func (a *providerAPI) other(id uint64) *reader.Chain {
	if a.world == nil {
		return nil
	}
	if at := slices.IndexFunc(a.world.Chains, func(c *reader.Chain) bool { return c.Genesis.ChainID == id }); at >= 0 {
		return a.world.Chains[at]
	}
	return nil
}

// addRequest is the parameter of wallet_addEthereumChain.
type addRequest struct {
	ChainID        hexutil.Uint64 `json:"chainId"`
	ChainName      string         `json:"chainName"`
	NativeCurrency *struct {
		Name, Symbol string
		Decimals     int
	} `json:"nativeCurrency"`
	RPCURLs           []string `json:"rpcUrls"`
	BlockExplorerURLs []string `json:"blockExplorerUrls"`
	IconURLs          []string `json:"iconUrls"`
}

const nativeDecimals = 18

// AddEthereumChain accepts the chains of this world (EIP-3085), with the checks that wallets make, and refuses all others.
func (a *providerAPI) AddEthereumChain(r addRequest) error {
	id := uint64(r.ChainID)
	chain := a.node.chain
	if id != chain.Genesis.ChainID {
		chain = a.other(id)
	}
	if len(r.RPCURLs) == 0 {
		return provider(codeParams, "rpcUrls is empty")
	}
	for _, text := range slices.Concat(r.RPCURLs, r.BlockExplorerURLs, r.IconURLs) {
		if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return provider(codeParams, "%q is not an http or https URL", text)
		}
	}
	if c := r.NativeCurrency; c != nil && c.Decimals != nativeDecimals {
		return provider(codeParams, "nativeCurrency.decimals is %d, want %d", c.Decimals, nativeDecimals)
	}
	if chain == nil {
		return provider(codeDisconnected, "this world has no chain %#x, and a world's chains are its own; a world file adds L1s", id)
	}
	if c := r.NativeCurrency; c != nil && c.Symbol != chain.Row.TokenSymbol {
		return provider(codeParams, "nativeCurrency.symbol is %q, but the chain's is %q", c.Symbol, chain.Row.TokenSymbol)
	}
	return nil
}

// watchRequest is the parameter of wallet_watchAsset: an object, not a list.
type watchRequest struct {
	Type    string `json:"type"`
	Options struct {
		Address  *common.Address `json:"address"`
		Symbol   *string         `json:"symbol"`
		Decimals *Quantity       `json:"decimals"`
		TokenID  *string         `json:"tokenId"`
		Image    string          `json:"image"`
	} `json:"options"`
}

// ByName marks the parameter as one that clients may give in place of the list of parameters.
func (watchRequest) ByName() {}

// WatchAsset checks a token as wallets do before they show it (EIP-747), and returns true: symbol and decimals must be the contract's (ERC20), or one
// of the node's accounts must own the token (ERC721, ERC1155). The node keeps no list of tokens.
func (a *providerAPI) WatchAsset(ctx context.Context, r watchRequest) (bool, error) {
	o := &r.Options
	if o.Address == nil {
		return false, provider(codeParams, "options.address is missing")
	}
	var err error
	switch r.Type {
	case "ERC20":
		err = a.checkERC20(ctx, &r)
	case "ERC721", "ERC1155":
		id, ok := new(big.Int), false
		if o.TokenID != nil {
			id, ok = new(big.Int).SetString(*o.TokenID, 10)
		}
		if !ok || id.Sign() < 0 || id.BitLen() > 256 {
			return false, provider(codeParams, "options.tokenId is not a decimal number")
		}
		err = a.checkOwned(ctx, *o.Address, r.Type, id)
	default:
		err = provider(codeParams, "the asset type %q is not supported: want ERC20, ERC721 or ERC1155", r.Type)
	}
	return err == nil, err
}

// tokenABI has what wallets ask of a token.
var tokenABI = func() abi.ABI {
	parsed, err := abi.JSON(strings.NewReader(`[
		{"type":"function","name":"symbol","stateMutability":"view","inputs":[],"outputs":[{"type":"string"}]},
		{"type":"function","name":"decimals","stateMutability":"view","inputs":[],"outputs":[{"type":"uint8"}]},
		{"type":"function","name":"ownerOf","stateMutability":"view","inputs":[{"type":"uint256"}],"outputs":[{"type":"address"}]},
		{"type":"function","name":"balanceOf","stateMutability":"view","inputs":[{"type":"address"},{"type":"uint256"}],"outputs":[{"type":"uint256"}]}
	]`))
	if err != nil {
		panic(err)
	}
	return parsed
}()

// ask calls a token's function. The result is nil if it has none that answers so.
func (a *providerAPI) ask(ctx context.Context, token common.Address, function string, args ...any) (any, error) {
	data, err := tokenABI.Pack(function, args...)
	if err != nil {
		return nil, err
	}
	head, err := a.node.miner.LastExecuted(ctx)
	if err != nil {
		return nil, err
	}
	result, err := a.node.chain.Call(ctx, head, &reader.Call{To: &token, Input: (*hexutil.Bytes)(&data)}, reader.Overrides{})
	if err != nil || result.Failed() {
		return nil, err
	}
	values, err := tokenABI.Unpack(function, result.Return())
	if err != nil {
		return nil, nil
	}
	return values[0], nil
}

func (a *providerAPI) checkERC20(ctx context.Context, r *watchRequest) error {
	o := &r.Options
	symbol, err := a.ask(ctx, *o.Address, "symbol")
	if err != nil {
		return err
	}
	decimals, err := a.ask(ctx, *o.Address, "decimals")
	switch {
	case err != nil:
		return err
	case symbol == nil || decimals == nil:
		return provider(codeParams, "%s is no ERC-20 token: it has no symbol or no decimals", o.Address)
	case o.Symbol != nil && *o.Symbol != symbol:
		return provider(codeParams, "the symbol in the request (%s) does not match the symbol in the contract (%s)", *o.Symbol, symbol)
	case o.Decimals != nil && uint64(*o.Decimals) != uint64(decimals.(uint8)):
		return provider(codeParams, "the decimals in the request (%d) do not match the decimals in the contract (%d)", *o.Decimals, decimals)
	}
	return nil
}

// checkOwned refuses an NFT that none of the node's accounts owns.
func (a *providerAPI) checkOwned(ctx context.Context, token common.Address, standard string, id *big.Int) error {
	accounts := a.node.Accounts()
	if standard == "ERC721" {
		owner, err := a.ask(ctx, token, "ownerOf", id)
		if err != nil {
			return err
		}
		if owner, known := owner.(common.Address); known && slices.Contains(accounts, owner) {
			return nil
		}
		return notOwned(token, id)
	}
	for _, account := range accounts {
		balance, err := a.ask(ctx, token, "balanceOf", account, id)
		if err != nil {
			return err
		}
		if balance, known := balance.(*big.Int); known && balance.Sign() > 0 {
			return nil
		}
	}
	return notOwned(token, id)
}

func notOwned(token common.Address, id *big.Int) error {
	return provider(codeParams, "none of the node's accounts owns token %s of %s", id, token)
}

// permission is a permission of EIP-2255.
type permission struct {
	ParentCapability string   `json:"parentCapability"`
	Caveats          []caveat `json:"caveats"`
}

type caveat struct {
	Type  string `json:"type"`
	Value any    `json:"value"`
}

// The capabilities that can be asked for.
const (
	seesAccounts = "eth_accounts"
	usesChains   = "endowment:permitted-chains"
)

// GetPermissions returns what every app may do: see the accounts that it can send from, and use this chain (EIP-2255).
func (a *providerAPI) GetPermissions() []permission {
	return []permission{
		{seesAccounts, []caveat{{"restrictReturnedAccounts", a.node.Accounts()}}},
		{usesChains, []caveat{{"restrictNetworkSwitching", []hexutil.Uint64{hexutil.Uint64(a.node.chain.Genesis.ChainID)}}}},
	}
}

// RequestPermissions returns the requested permissions, which every app already has, and refuses others.
func (a *providerAPI) RequestPermissions(wanted map[string]map[string]any) ([]permission, error) {
	if len(wanted) == 0 {
		return nil, provider(codeParams, "no permission is asked for")
	}
	granted := []permission{}
	for _, p := range a.GetPermissions() {
		if _, asked := wanted[p.ParentCapability]; asked {
			granted = append(granted, p)
		}
	}
	if len(granted) < len(wanted) {
		return nil, provider(codeParams, "the only permissions are %s and %s", seesAccounts, usesChains)
	}
	return granted, nil
}

// RevokePermissions only checks the names: every app keeps its permissions, because the node has no user to ask.
func (a *providerAPI) RevokePermissions(unwanted map[string]map[string]any) error {
	_, err := a.RequestPermissions(unwanted)
	return err
}
