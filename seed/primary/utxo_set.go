package primary

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// utxoKey names the outputs of one kind that the same owners may spend on the same chain.
type utxoKey struct {
	chain  int // where they can be spent
	source int // the creating chain; another when they were exported
	asset  ids.ID
	kind   reflect.Type
	owner  ids.ShortID
	owners string // all owners, with threshold and locktime, unless it is simply the owner
}

// utxoSet holds unspent outputs, oldest first under each key, as wallets keep them.
type utxoSet map[utxoKey][]*txs.UTXO

func utxoKeyOf(chain, source int, asset ids.ID, out txs.Output, owners *txs.OutputOwners) utxoKey {
	key := utxoKey{chain: chain, source: source, asset: asset, kind: reflect.TypeOf(out)}
	if len(owners.Addresses) == 1 && owners.Threshold == 1 && owners.Locktime == 0 {
		key.owner = owners.Addresses[0]
	} else {
		key.owners = ownersText(owners)
	}
	return key
}

func ownersText(o *txs.OutputOwners) string {
	all := store.OutputOwners{Threshold: o.Threshold, Locktime: o.Locktime}
	for _, a := range o.Addresses {
		all.Addresses = append(all.Addresses, a[:])
	}
	return string(all.Bytes())
}

func (s utxoSet) add(chain, source int, u *txs.UTXO) {
	key := utxoKeyOf(chain, source, u.AssetID, u.Out, u.Owners())
	s[key] = append(s[key], u)
}

func (s utxoSet) remove(chain, source int, u *txs.UTXO) {
	key := utxoKeyOf(chain, source, u.AssetID, u.Out, u.Owners())
	held := s[key]
	for i := len(held) - 1; i >= 0; i-- {
		if held[i].UTXOID == u.UTXOID {
			s[key] = slices.Delete(held, i, i+1)
			return
		}
	}
}

// gather takes a key's newest outputs, mostly the change of the last payment, until they suffice. It takes only as many as keep a
// transaction small; if those do not suffice, it takes the largest ones.
func (s utxoSet) gather(key utxoKey, want uint64) (chosen []*txs.UTXO, sum uint64, enough bool) {
	const most = 60
	held := s[key]
	if len(held) > most && want < math.MaxUint64 && sumOf(held[len(held)-most:]) < want {
		held = slices.Clone(held)
		slices.SortStableFunc(held, func(a, b *txs.UTXO) int { return cmp.Compare(a.Amount(), b.Amount()) })
	}
	for i := len(held) - 1; i >= 0 && (sum < want || len(chosen) == 0) && len(chosen) < most; i-- {
		chosen = append(chosen, held[i])
		sum += held[i].Amount()
	}
	return chosen, sum, sum >= want && len(chosen) > 0
}

func sumOf(utxos []*txs.UTXO) (sum uint64) {
	for _, u := range utxos {
		sum += u.Amount()
	}
	return sum
}
