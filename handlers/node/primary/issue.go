package primary

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers/node/jsonrpc"
)

// FormattedTx is a signed transaction as a client sends it: avalanchego's api.FormattedTx.
type FormattedTx struct {
	Tx       string           `json:"tx"`
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// TxIDReply is the id of a transaction.
type TxIDReply struct {
	TxID ids.ID `json:"txID"`
}

// Bytes decodes the transaction.
func (args *FormattedTx) Bytes() ([]byte, error) {
	raw, err := formatting.Decode(args.Encoding, args.Tx)
	if err != nil {
		return nil, fmt.Errorf("problem decoding transaction: %w", err)
	}
	return raw, nil
}
