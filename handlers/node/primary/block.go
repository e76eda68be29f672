package primary

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// BlockArgs names a block by its id.
type BlockArgs struct {
	BlockID  ids.ID           `json:"blockID"`
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// BlockHeightArgs names a block by its height.
type BlockHeightArgs struct {
	Height   jsonrpc.Uint64   `json:"height"`
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// BlockReply is a block as hex or as an object.
type BlockReply struct {
	Block    stdjson.RawMessage `json:"block"`
	Encoding jsonrpc.Encoding   `json:"encoding"`
}

// GetBlock returns the block with an id.
func (a *Service) GetBlock(r *http.Request, args *BlockArgs, reply *BlockReply) error {
	row, err := a.Network.DB.PrimaryBlockByHash(r.Context(), a.StoreChain(), args.BlockID[:])
	if err != nil {
		return fmt.Errorf("couldn't get block with id %s: %w", args.BlockID, err)
	}
	return a.block(r.Context(), row, args.Encoding, reply)
}

// GetBlockByHeight returns the block at a height.
func (a *Service) GetBlockByHeight(r *http.Request, args *BlockHeightArgs, reply *BlockReply) error {
	row, err := a.Network.DB.PrimaryBlock(r.Context(), a.StoreChain(), uint64(args.Height))
	if err != nil {
		return fmt.Errorf("couldn't get block at height %d: %w", args.Height, err)
	}
	return a.block(r.Context(), row, args.Encoding, reply)
}

func (a *Service) block(ctx context.Context, row *store.PrimaryBlock, encoding jsonrpc.Encoding, reply *BlockReply) error {
	transactions, err := a.Network.DB.PrimaryTxs(ctx, row.ID)
	if err != nil {
		return err
	}
	raw := row.Bytes(transactions)
	reply.Encoding = encoding
	reply.Block, err = encode(encoding, raw, func() (stdjson.RawMessage, error) {
		b, err := txs.ParseBlock(a.chain, raw)
		if err != nil {
			return nil, err
		}
		return txs.BlockJSON(a.chain, a.Network.Rules.HRP, b)
	})
	return err
}

// encode encodes bytes as a string, or their contents as an object.
func encode(encoding jsonrpc.Encoding, raw []byte, object func() (stdjson.RawMessage, error)) (stdjson.RawMessage, error) {
	if encoding == formatting.JSON {
		return object()
	}
	text, err := formatting.Encode(encoding, raw)
	if err != nil {
		return nil, err
	}
	return stdjson.Marshal(text)
}
