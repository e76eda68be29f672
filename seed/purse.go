package seed

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// pocket is where outputs of one kind lie that the same owners may spend on the same chain.
type utxoKey struct {
	chain  int // where they can be spent
	source int // which chain made them; another when they were exported
	asset  ids.ID
	kind   string
	owners string
}

// purse holds unspent outputs, oldest first in each pocket, as wallets keep them.
type utxoSet map[utxoKey][]*primary.UTXO

func utxoKeyOf(chain, source int, asset ids.ID, out primary.Output, owners *primary.OutputOwners) utxoKey {
	return utxoKey{chain: chain, source: source, asset: asset, kind: fmt.Sprintf("%T", out), owners: ownersText(owners)}
}

func ownersText(o *primary.OutputOwners) string {
	all := store.Owners{Threshold: o.Threshold, Locktime: o.Locktime}
	for _, a := range o.Addresses {
		all.Addresses = append(all.Addresses, a[:])
	}
	return string(all.Bytes())
}

func (p utxoSet) put(chain, source int, u *primary.UTXO) {
	at := utxoKeyOf(chain, source, u.AssetID, u.Out, u.Owners())
	p[at] = append(p[at], u)
}

func (p utxoSet) take(chain, source int, u *primary.UTXO) {
	at := utxoKeyOf(chain, source, u.AssetID, u.Out, u.Owners())
	held := p[at]
	for i := len(held) - 1; i >= 0; i-- {
		if held[i].UTXOID == u.UTXOID {
			p[at] = append(held[:i:i], held[i+1:]...)
			return
		}
	}
}

// gather takes the newest outputs of a pocket until they suffice: mostly the change of the last payment. At most so many
// that a transaction stays small.
func (p utxoSet) gather(at utxoKey, want uint64) (chosen []*primary.UTXO, sum uint64, enough bool) {
	const most = 60
	held := p[at]
	for i := len(held) - 1; i >= 0 && (sum < want || len(chosen) == 0) && len(chosen) < most; i-- {
		chosen = append(chosen, held[i])
		sum += held[i].Amount()
	}
	return chosen, sum, sum >= want && len(chosen) > 0
}

// observe learns from what a block of a chain changed.
func (r *primaryNetwork) observe(chain int, d *primary.Diff) {
	peer, _ := r.rules.ChainOf(d.Peer)
	for _, u := range d.Spent {
		r.utxoSet.take(chain, chain, u)
	}
	for _, u := range d.Imported {
		r.utxoSet.take(chain, int(peer), u)
	}
	for _, u := range d.Created {
		r.utxoSet.put(chain, chain, u)
	}
	for _, u := range d.Exported {
		r.utxoSet.put(int(peer), chain, u)
	}
	for _, s := range d.Stakers {
		r.observeStaker(s)
	}
}

// observeStaker notes since when a node validates.
func (r *primaryNetwork) observeStaker(s *primary.Staker) {
	m := r.byNode[s.NodeID]
	if m == nil || s.Delegator || s.SubnetID != ids.Empty {
		return
	}
	if s.Status == primary.Active {
		m.start, m.end = s.Start, s.End
	}
}
