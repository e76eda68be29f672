package debug

import (
	"context"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/rest"
)

// witness is a block's execution witness in reth's form; go-ethereum's has its own headers in place of the bytes.
type witness struct {
	State   []hexutil.Bytes `json:"state"`
	Codes   []hexutil.Bytes `json:"codes"`
	Keys    []hexutil.Bytes `json:"keys"`
	Headers []hexutil.Bytes `json:"headers"`
}

// ExecutionWitness executes a block again and returns what that takes without a state: the nodes of the tries before it, codes, the keys of accounts
// and slots, and the headers of the parent and of ancestors whose hashes the block reads.
func (a *otherAPI) ExecutionWitness(ctx context.Context, ref eth.BlockRef) (*witness, error) {
	b, err := a.traced(ctx, &ref)
	if err != nil {
		return nil, err
	}
	if b.Pending() {
		return nil, errTracePending
	}
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return nil, err
	}
	w, err := a.chain.Witness(ctx, b)
	if err != nil {
		return nil, err
	}
	return &witness{hexes(w.Nodes), hexes(w.Codes), hexes(w.Keys), hexes(w.Headers)}, nil
}

func hexes(all [][]byte) []hexutil.Bytes {
	texts := make([]hexutil.Bytes, len(all))
	for i := range all {
		texts[i] = all[i]
	}
	return texts
}
