package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/codec"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/rpc"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
)

type fetch func(ctx context.Context, owners []ids.ShortID, source string, limit uint32, address ids.ShortID, utxo ids.ID, options ...rpc.Option) ([][]byte, ids.ShortID, ids.ID, error)

// page is small enough for some owners to have several.
const page = 100

// checkOwner reads all UTXOs of an address on X and P page by page.
func (n *network) checkOwner(ctx context.Context, exchange codec.Manager, address ids.ShortID) error {
	if err := n.checkPages(ctx, n.x.GetAtomicUTXOs, exchange, address); err != nil {
		return err
	}
	return n.checkPages(ctx, n.p.GetAtomicUTXOs, txs.GenesisCodec, address)
}

func (n *network) checkPages(ctx context.Context, get fetch, c codec.Manager, address ids.ShortID) error {
	seen := map[ids.ID]bool{}
	var from ids.ShortID
	var after ids.ID
	for {
		all, endAddress, end, err := get(ctx, []ids.ShortID{address}, "", page, from, after)
		if err != nil {
			return err
		}
		for _, raw := range all {
			id, err := n.checkUTXO(c, raw, address)
			if err != nil {
				return err
			}
			if seen[id] {
				return fmt.Errorf("UTXO %s comes twice", id)
			}
			seen[id] = true
		}
		if len(all) < page {
			return nil
		}
		from, after = endAddress, end
	}
}

func (n *network) checkUTXO(c codec.Manager, raw []byte, address ids.ShortID) (ids.ID, error) {
	u := &avax.UTXO{}
	version, err := c.Unmarshal(raw, u)
	if err != nil {
		return ids.Empty, err
	}
	again, err := c.Marshal(version, u)
	if err != nil || !bytes.Equal(again, raw) {
		return ids.Empty, fmt.Errorf("UTXO %s encodes otherwise: %w", u.InputID(), err)
	}
	if !contains(u, address) {
		return ids.Empty, fmt.Errorf("UTXO %s is not the address's", u.InputID())
	}
	if made, known := n.utxos[u.InputID()]; known {
		due, err := c.Marshal(version, made)
		if err != nil || !bytes.Equal(due, raw) {
			return ids.Empty, fmt.Errorf("UTXO %s is not what its transaction made: %w", u.InputID(), err)
		}
	}
	n.seen.utxos++
	return u.InputID(), nil
}
