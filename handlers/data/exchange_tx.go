package data

import (
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/primary"
)

// ExchangeTransaction is a transaction of the X-Chain.
type ExchangeTransaction struct {
	TxHash           string        `json:"txHash" format:"cb58"`
	ChainFormat      string        `json:"chainFormat" enum:"linear" doc:"Blocks hold it, not vertices."`
	Timestamp        int64         `json:"timestamp"`
	TxType           string        `json:"txType" enum:"BaseTx,CreateAssetTx,OperationTx,ImportTx,ExportTx,UNKNOWN"`
	Memo             string        `json:"memo" format:"hex"`
	ConsumedUTXOs    []UTXO        `json:"consumedUtxos"`
	EmittedUTXOs     []UTXO        `json:"emittedUtxos"`
	AmountUnlocked   []AssetAmount `json:"amountUnlocked" doc:"What it consumed."`
	AmountCreated    []AssetAmount `json:"amountCreated" doc:"What it emitted."`
	SourceChain      string        `json:"sourceChain,omitempty" format:"cb58" doc:"Of an import or export."`
	DestinationChain string        `json:"destinationChain,omitempty" format:"cb58" doc:"Of an import or export."`
	AssetCreated     *PrimaryAsset `json:"assetCreated,omitempty" doc:"Of a CreateAssetTx."`
	BlockHeight      uint64        `json:"blockHeight"`
	BlockHash        string        `json:"blockHash" format:"cb58"`
}

func (b *chainView) xChainTransaction(t *txUTXOs) (*ExchangeTransaction, error) {
	shown := &ExchangeTransaction{
		TxHash: cb58(t.row.Hash), ChainFormat: "linear", Timestamp: t.block.unix, TxType: t.row.Type, Memo: hexutil.Encode(t.Unsigned.Base().Memo),
		BlockHeight: t.row.ID.Number(), BlockHash: t.block.hash,
	}
	var err error
	if shown.ConsumedUTXOs, shown.AmountUnlocked, err = b.utxosWithSums(t.consumed); err != nil {
		return nil, err
	}
	if shown.EmittedUTXOs, shown.AmountCreated, err = b.utxosWithSums(t.emitted); err != nil {
		return nil, err
	}
	shown.SourceChain, shown.DestinationChain = b.route(t)
	if _, made := t.Unsigned.(*primary.CreateAssetTx); made {
		shown.AssetCreated, err = b.primaryAsset(t.row.Hash)
	}
	return shown, err
}

// utxosWithSums are outputs with what they add up to.
func (b *chainView) utxosWithSums(outputs []*output) ([]UTXO, []AssetAmount, error) {
	all := make([]UTXO, len(outputs))
	for i, o := range outputs {
		var err error
		if all[i], err = b.xChainUTXO(o); err != nil {
			return nil, nil, err
		}
	}
	sums, err := b.sums(outputs)
	return all, sums, err
}
