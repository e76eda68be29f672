package platform

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// AddressesArgs names addresses.
type AddressesArgs struct {
	Addresses []string `json:"addresses"`
}

// BalanceReply is the balance of addresses by its state: spendable, locked or staked.
type BalanceReply struct {
	Balance             jsonrpc.Uint64            `json:"balance"`
	Unlocked            jsonrpc.Uint64            `json:"unlocked"`
	LockedStakeable     jsonrpc.Uint64            `json:"lockedStakeable"`
	LockedNotStakeable  jsonrpc.Uint64            `json:"lockedNotStakeable"`
	Balances            map[ids.ID]jsonrpc.Uint64 `json:"balances"`
	Unlockeds           map[ids.ID]jsonrpc.Uint64 `json:"unlockeds"`
	LockedStakeables    map[ids.ID]jsonrpc.Uint64 `json:"lockedStakeables"`
	LockedNotStakeables map[ids.ID]jsonrpc.Uint64 `json:"lockedNotStakeables"`
	UTXOIDs             []primary.UTXOID          `json:"utxoIDs"`
}

// GetBalance returns the balance of addresses, including outputs that they share.
func (a *Service) GetBalance(r *http.Request, args *AddressesArgs, reply *BalanceReply) error {
	owners, err := a.Addresses(args.Addresses)
	if err != nil {
		return err
	}
	utxos, err := a.Unspent(r.Context(), owners)
	if err != nil {
		return fmt.Errorf("couldn't get UTXO set of %v: %w", args.Addresses, err)
	}
	reply.Balances, reply.Unlockeds = map[ids.ID]jsonrpc.Uint64{}, map[ids.ID]jsonrpc.Uint64{}
	reply.LockedStakeables, reply.LockedNotStakeables = map[ids.ID]jsonrpc.Uint64{}, map[ids.ID]jsonrpc.Uint64{}
	for _, u := range utxos {
		kind := reply.kind(u, uint64(a.Network.Clock.Unix()))
		kind[u.AssetID] = jsonrpc.Saturated(kind[u.AssetID], u.Amount())
		reply.Balances[u.AssetID] = jsonrpc.Saturated(reply.Balances[u.AssetID], u.Amount())
		reply.UTXOIDs = append(reply.UTXOIDs, primary.UTXOID(u.UTXOID))
	}
	avax := a.Network.Rules.AVAXAssetID
	reply.Balance, reply.Unlocked = reply.Balances[avax], reply.Unlockeds[avax]
	reply.LockedStakeable, reply.LockedNotStakeable = reply.LockedStakeables[avax], reply.LockedNotStakeables[avax]
	return nil
}

// kind decides which part of the balance an output belongs to at a time.
func (b *BalanceReply) kind(u *txs.UTXO, now uint64) map[ids.ID]jsonrpc.Uint64 {
	switch {
	case u.Owners().Locktime > now:
		return b.LockedNotStakeables
	case u.StakeableUntil() > now:
		return b.LockedStakeables
	}
	return b.Unlockeds
}

// RewardUTXOsReply lists outputs that pay rewards.
type RewardUTXOsReply struct {
	NumFetched jsonrpc.Uint64   `json:"numFetched"`
	UTXOs      []string         `json:"utxos"`
	Encoding   jsonrpc.Encoding `json:"encoding"`
}

// GetRewardUTXOs lists the outputs that rewarded a staking transaction.
func (a *Service) GetRewardUTXOs(r *http.Request, args *primary.TxIDArgs, reply *RewardUTXOsReply) error {
	rows, err := a.Network.DB.UTXOsOfTx(r.Context(), a.StoreChain(), args.TxID[:])
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("couldn't get reward UTXOs: %w", err)
	}
	rewards := slices.DeleteFunc(rows, func(row store.UTXO) bool { return !row.Reward })
	reply.UTXOs = make([]string, len(rewards))
	for i := range rewards {
		if reply.UTXOs[i], err = formatting.Encode(args.Encoding, rewards[i].Bytes()); err != nil {
			return fmt.Errorf("couldn't encode utxo as %s: %w", args.Encoding, err)
		}
	}
	reply.NumFetched, reply.Encoding = jsonrpc.Uint64(len(rewards)), args.Encoding
	return nil
}
