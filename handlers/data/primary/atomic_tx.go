package primary

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/sim/query"
	"snowglobe/sim/txs"
)

// AtomicTransaction holds the fields that C-Chain imports and exports share. Amounts are in the assets' own units, not in the EVM's.
type AtomicTransaction struct {
	TxHash           string             `json:"txHash" format:"cb58"`
	BlockHeight      uint64             `json:"blockHeight"`
	BlockHash        string             `json:"blockHash" format:"hash"`
	Timestamp        int64              `json:"timestamp"`
	Memo             string             `json:"memo" format:"hex" doc:"Atomic transactions have none."`
	AmountUnlocked   []data.AssetAmount `json:"amountUnlocked" doc:"Value taken from accounts or outputs."`
	AmountCreated    []data.AssetAmount `json:"amountCreated" doc:"Value given to accounts or outputs."`
	SourceChain      string             `json:"sourceChain" format:"cb58"`
	DestinationChain string             `json:"destinationChain" format:"cb58"`
}

// AtomicExport debits accounts of the C-Chain.
type AtomicExport struct {
	AtomicTransaction
	TxType       string     `json:"txType" enum:"ExportTx"`
	EVMInputs    []EVMInput `json:"evmInputs"`
	EmittedUTXOs []UTXO     `json:"emittedUtxos"`
}

// AtomicImport credits accounts of the C-Chain.
type AtomicImport struct {
	AtomicTransaction
	TxType        string      `json:"txType" enum:"ImportTx"`
	EVMOutputs    []EVMOutput `json:"evmOutputs"`
	ConsumedUTXOs []UTXO      `json:"consumedUtxos"`
}

// EVMInput is an amount debited from a C-Chain account.
type EVMInput struct {
	FromAddress string           `json:"fromAddress" format:"address"`
	Asset       data.AssetAmount `json:"asset"`
	Credentials []UTXOCredential `json:"credentials"`
}

// EVMOutput is an amount credited to a C-Chain account.
type EVMOutput struct {
	ToAddress string           `json:"toAddress" format:"address"`
	Asset     data.AssetAmount `json:"asset"`
}

func (b *chainView) cChainTransaction(t *query.TxUTXOs) (any, error) {
	common := AtomicTransaction{TxHash: data.CB58(t.Row.Hash), BlockHeight: t.Row.ID.Number(), BlockHash: t.Block.Hash(), Timestamp: t.Block.Unix, Memo: "0x"}
	common.SourceChain, common.DestinationChain = b.route(t)
	if u, ok := t.Unsigned.(*txs.AtomicImportTx); ok {
		return b.atomicImport(t, u, common)
	}
	return b.atomicExport(t, common)
}

func (b *chainView) atomicImport(t *query.TxUTXOs, u *txs.AtomicImportTx, common AtomicTransaction) (*AtomicImport, error) {
	shown := &AtomicImport{AtomicTransaction: common, TxType: t.Row.Type, EVMOutputs: make([]EVMOutput, len(u.Outs))}
	given := make([]*query.Output, len(u.Outs))
	for i, o := range u.Outs {
		asset, err := b.asset(o.AssetID, o.Amount)
		if err != nil {
			return nil, err
		}
		shown.EVMOutputs[i], given[i] = EVMOutput{o.Address.Hex(), asset}, account(o.AssetID, o.Amount)
	}
	var err error
	if shown.ConsumedUTXOs, shown.AmountUnlocked, err = b.utxosWithSums(t.ConsumedUTXOs); err != nil {
		return nil, err
	}
	shown.AmountCreated, err = b.sums(given)
	return shown, err
}

func (b *chainView) atomicExport(t *query.TxUTXOs, common AtomicTransaction) (*AtomicExport, error) {
	shown := &AtomicExport{AtomicTransaction: common, TxType: t.Row.Type, EVMInputs: []EVMInput{}}
	var given []*query.Output
	if u, ok := t.Unsigned.(*txs.AtomicExportTx); ok {
		known := map[txs.Signature]UTXOCredential{}
		for i, in := range u.Ins {
			asset, err := b.asset(in.AssetID, in.Amount)
			if err != nil {
				return nil, err
			}
			signed, err := credentialsOf(t.Tx, t.Signatures(i), known)
			if err != nil {
				return nil, err
			}
			shown.EVMInputs = append(shown.EVMInputs, EVMInput{in.Address.Hex(), asset, signed})
			given = append(given, account(in.AssetID, in.Amount))
		}
	}
	var err error
	if shown.EmittedUTXOs, shown.AmountCreated, err = b.utxosWithSums(t.EmittedUTXOs); err != nil {
		return nil, err
	}
	shown.AmountUnlocked, err = b.sums(given)
	return shown, err
}

// account returns an account's amount, summed like an output.
func account(asset ids.ID, amount uint64) *query.Output {
	return &query.Output{UTXO: &txs.UTXO{AssetID: asset, Out: &txs.TransferOutput{Amount: amount}}}
}
