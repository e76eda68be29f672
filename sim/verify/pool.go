package verify

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim"
	"snowglobe/sim/evm"
)

// verifyPools checks that each transaction that waited when the world was closed has its sender's signature, or comes from an impersonated
// account.
func verifyPools(ctx context.Context, w *sim.World, found Findings) error {
	for _, m := range w.Miners {
		rows, err := w.DB.PooledTxs(ctx, m.Chain.Row.ID)
		if err != nil {
			return err
		}
		for i, row := range rows {
			tx := new(types.Transaction)
			err := tx.UnmarshalBinary(row.Raw)
			if err == nil && row.Arrival != i {
				err = fmt.Errorf("it came as %d", row.Arrival)
			}
			if err == nil && !evm.Impersonates(tx, common.BytesToAddress(row.Sender)) {
				var sender [20]byte
				sender, err = types.Sender(types.LatestSigner(m.Chain.Genesis.ChainConfig()), tx)
				if err == nil && !bytes.Equal(sender[:], row.Sender) {
					err = fmt.Errorf("its sender is %x, the signature's is %x", row.Sender, sender)
				}
			}
			if err != nil {
				return fmt.Errorf("chain %d: pooled transaction %d: %w", m.Chain.Row.EVMID, i, err)
			}
			found["pooled_tx"].Add(1)
		}
	}
	return nil
}
