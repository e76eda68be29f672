package avm

import (
	"errors"
	"fmt"
	"math/bits"
	"net/http"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/primary"
	"snowglobe/sim/txs"
)

// BalanceArgs asks for an address's balance of one asset.
type BalanceArgs struct {
	Address        string `json:"address"`
	AssetID        string `json:"assetID"`
	IncludePartial bool   `json:"includePartial"` // includes outputs with several owners and locked ones
}

// BalanceReply is a balance with the outputs that make it up.
type BalanceReply struct {
	Balance jsonrpc.Uint64   `json:"balance"`
	UTXOIDs []primary.UTXOID `json:"utxoIDs"`
}

// AllBalancesReply lists an address's balance of every asset that it holds.
type AllBalancesReply struct {
	Balances []AssetBalance `json:"balances"`
}

// AssetBalance is a balance of one asset, named by its alias if it has one.
type AssetBalance struct {
	Asset   string         `json:"asset"`
	Balance jsonrpc.Uint64 `json:"balance"`
}

var errOverflow = errors.New("overflow")

// GetBalance returns an address's balance of one asset.
func (a *Service) GetBalance(r *http.Request, args *BalanceArgs, reply *BalanceReply) error {
	utxos, err := a.utxosOf(r, args)
	if err != nil {
		return err
	}
	id, err := a.asset(args.AssetID)
	if err != nil {
		return err
	}
	reply.UTXOIDs = []primary.UTXOID{}
	for _, u := range utxos {
		if u.AssetID != id {
			continue
		}
		if reply.Balance, err = plus(reply.Balance, u.Amount()); err != nil {
			return err
		}
		reply.UTXOIDs = append(reply.UTXOIDs, primary.UTXOID(u.UTXOID))
	}
	return nil
}

// GetAllBalances returns an address's balance of every asset, ordered by each asset's newest output.
func (a *Service) GetAllBalances(r *http.Request, args *BalanceArgs, reply *AllBalancesReply) error {
	utxos, err := a.utxosOf(r, args)
	if err != nil {
		return err
	}
	reply.Balances = []AssetBalance{}
	index := map[ids.ID]int{}
	for _, u := range utxos {
		at, known := index[u.AssetID]
		if !known {
			at = len(reply.Balances)
			index[u.AssetID] = at
			reply.Balances = append(reply.Balances, AssetBalance{Asset: a.assetName(u.AssetID)})
		}
		reply.Balances[at].Balance = jsonrpc.Saturated(reply.Balances[at].Balance, u.Amount())
	}
	return nil
}

func (a *Service) assetName(id ids.ID) string {
	if id == a.Network.Rules.AVAXAssetID {
		return avaxAlias
	}
	return id.String()
}

// utxosOf returns an address's outputs of an asset, newest first: the outputs that it alone can spend now, or every output of which it is an
// owner.
func (a *Service) utxosOf(r *http.Request, args *BalanceArgs) ([]*txs.UTXO, error) {
	owner, err := a.Address(args.Address)
	if err != nil {
		return nil, fmt.Errorf("problem parsing address '%s': %w", args.Address, err)
	}
	all, err := a.Unspent(r.Context(), []ids.ShortID{owner})
	return slices.DeleteFunc(all, func(u *txs.UTXO) bool {
		out, ok := u.Out.(*txs.TransferOutput)
		return !ok || !args.IncludePartial && (len(out.Addresses) != 1 || out.Locktime > uint64(a.Network.Clock.Unix()))
	}), err
}

func plus(sum jsonrpc.Uint64, amount uint64) (jsonrpc.Uint64, error) {
	total, carry := bits.Add64(uint64(sum), amount, 0)
	if carry != 0 {
		return 0, errOverflow
	}
	return jsonrpc.Uint64(total), nil
}
