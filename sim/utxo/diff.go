package utxo

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

// Diff holds the changes that one transaction, or the passing of time between blocks, made to a chain's outputs. TxID is the zero id if no
// transaction caused the change.
type Diff struct {
	TxID     ids.ID
	Burned   uint64      // nAVAX
	Spent    []*txs.UTXO // outputs of this chain
	Created  []*txs.UTXO // outputs on this chain, rewards and refunds included
	Peer     ids.ID      // the other chain of an import or export
	Imported []*txs.UTXO // outputs that Peer exported
	Exported []*txs.UTXO // outputs handed to Peer
}
