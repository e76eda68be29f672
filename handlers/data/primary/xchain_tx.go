package primary

import (
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data"
	"snowglobe/sim/query"
	"snowglobe/sim/txs"
)

// ExchangeTransaction is a transaction of the X-Chain.
type ExchangeTransaction struct {
	TxHash           string             `json:"txHash" format:"cb58"`
	ChainFormat      string             `json:"chainFormat" enum:"linear" doc:"Always linear: blocks contain the transaction, not vertices."`
	Timestamp        int64              `json:"timestamp"`
	TxType           string             `json:"txType" enum:"BaseTx,CreateAssetTx,OperationTx,ImportTx,ExportTx,UNKNOWN"`
	Memo             string             `json:"memo" format:"hex"`
	ConsumedUTXOs    []UTXO             `json:"consumedUtxos"`
	EmittedUTXOs     []UTXO             `json:"emittedUtxos"`
	AmountUnlocked   []data.AssetAmount `json:"amountUnlocked" doc:"Value of the outputs it consumed."`
	AmountCreated    []data.AssetAmount `json:"amountCreated" doc:"Value of the outputs it created."`
	SourceChain      string             `json:"sourceChain,omitempty" format:"cb58" doc:"Only for an import or export."`
	DestinationChain string             `json:"destinationChain,omitempty" format:"cb58" doc:"Only for an import or export."`
	AssetCreated     *PrimaryAsset      `json:"assetCreated,omitempty" doc:"Only for a CreateAssetTx."`
	BlockHeight      uint64             `json:"blockHeight"`
	BlockHash        string             `json:"blockHash" format:"cb58"`
}

func (b *chainView) xChainTransaction(t *query.TxUTXOs) (*ExchangeTransaction, error) {
	shown := &ExchangeTransaction{
		TxHash: data.CB58(t.Row.Hash), ChainFormat: "linear", Timestamp: t.Block.Unix, TxType: t.Row.Type, Memo: hexutil.Encode(t.Unsigned.Base().Memo),
		BlockHeight: t.Row.ID.Number(), BlockHash: t.Block.Hash(),
	}
	var err error
	if shown.ConsumedUTXOs, shown.AmountUnlocked, err = b.utxosWithSums(t.ConsumedUTXOs); err != nil {
		return nil, err
	}
	if shown.EmittedUTXOs, shown.AmountCreated, err = b.utxosWithSums(t.EmittedUTXOs); err != nil {
		return nil, err
	}
	shown.SourceChain, shown.DestinationChain = b.route(t)
	if _, made := t.Unsigned.(*txs.CreateAssetTx); made {
		shown.AssetCreated, err = b.primaryAsset(t.Row.Hash)
	}
	return shown, err
}

// utxosWithSums returns a list of outputs with their sums.
func (b *chainView) utxosWithSums(outputs []*query.Output) ([]UTXO, []data.AssetAmount, error) {
	all, err := data.TryList(outputs, b.xChainUTXO)
	if err != nil {
		return nil, nil, err
	}
	sums, err := b.sums(outputs)
	return all, sums, err
}
