package simulate

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
)

// signedBundle is the parameter of eth_callBundle.
type signedBundle struct {
	Txs              []hexutil.Bytes `json:"txs"`
	BlockNumber      *eth.Quantity   `json:"blockNumber"`      // of the block that the bundle would be in
	StateBlockNumber *eth.BlockRef   `json:"stateBlockNumber"` // the block on top of which to execute; default: latest
	Coinbase         *common.Address `json:"coinbase"`
	Timestamp        *eth.Quantity   `json:"timestamp"`
	Timeout          *eth.Quantity   `json:"timeout"` // in milliseconds
	GasLimit         *eth.Quantity   `json:"gasLimit"`
	Difficulty       *hexutil.Big    `json:"difficulty"`
	BaseFee          *hexutil.Big    `json:"baseFee"`
}

// bundleResult is its result. Amounts are in wei, in decimal.
type bundleResult struct {
	BundleGasPrice    string           `json:"bundleGasPrice"`
	BundleHash        common.Hash      `json:"bundleHash"`
	CoinbaseDiff      string           `json:"coinbaseDiff"`
	EthSentToCoinbase string           `json:"ethSentToCoinbase"`
	GasFees           string           `json:"gasFees"`
	Results           []bundleTxResult `json:"results"`
	StateBlockNumber  uint64           `json:"stateBlockNumber"`
	TotalGasUsed      uint64           `json:"totalGasUsed"`
}

type bundleTxResult struct {
	CoinbaseDiff      string          `json:"coinbaseDiff"`
	EthSentToCoinbase string          `json:"ethSentToCoinbase"`
	FromAddress       common.Address  `json:"fromAddress"`
	GasFees           string          `json:"gasFees"`
	GasPrice          string          `json:"gasPrice"`
	GasUsed           uint64          `json:"gasUsed"`
	ToAddress         *common.Address `json:"toAddress"`
	TxHash            common.Hash     `json:"txHash"`
	Value             *hexutil.Bytes  `json:"value,omitempty"`  // the output, if it succeeded
	Error             string          `json:"error,omitempty"`  // otherwise
	Revert            *hexutil.Bytes  `json:"revert,omitempty"` // what a failed one returned
}

// CallBundle executes signed transactions in a block on top of another one, without sending them, and says what each used, returned and paid.
// A block's coinbase gets the whole fee here, so gasPrice and gasFees include the base fee.
func (a *api) CallBundle(ctx context.Context, bundle signedBundle) (*bundleResult, error) {
	transactions, err := a.signed(&bundle)
	if err != nil {
		return nil, err
	}
	b, err := eth.ExecutedBlockOf(ctx, a.miner, bundle.StateBlockNumber)
	if err != nil {
		return nil, err
	}
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return nil, err
	}
	results, err := a.miner.Chain.CallSigned(ctx, b, bundle.overrides(b), transactions, within(bundle.Timeout))
	if err != nil {
		return nil, err
	}
	answer := &bundleResult{StateBlockNumber: b.Number, Results: make([]bundleTxResult, len(results))}
	var hashes []byte
	paid, fees := new(big.Int), new(big.Int)
	for i := range results {
		r, t := &results[i], &transactions[i]
		fee := new(big.Int).Mul(r.Price, new(big.Int).SetUint64(r.UsedGas))
		answer.Results[i] = bundleTxResult{
			CoinbaseDiff: r.Paid.String(), EthSentToCoinbase: new(big.Int).Sub(r.Paid, fee).String(), FromAddress: t.Sender, GasFees: fee.String(),
			GasPrice: r.Price.String(), GasUsed: r.UsedGas, ToAddress: t.To(), TxHash: t.Hash(),
		}
		outcome := answerOf(r.ExecutionResult)
		answer.Results[i].Value, answer.Results[i].Error = outcome.Value, outcome.Error
		if r.Failed() {
			data := hexutil.Bytes(r.Revert())
			answer.Results[i].Revert = &data
		}
		hashes = append(hashes, t.Hash().Bytes()...)
		answer.TotalGasUsed += r.UsedGas
		paid.Add(paid, r.Paid)
		fees.Add(fees, fee)
	}
	answer.BundleHash, answer.CoinbaseDiff, answer.GasFees = crypto.Keccak256Hash(hashes), paid.String(), fees.String()
	answer.EthSentToCoinbase = new(big.Int).Sub(paid, fees).String()
	answer.BundleGasPrice = new(big.Int).Quo(paid, new(big.Int).SetUint64(answer.TotalGasUsed)).String()
	return answer, nil
}

// signed checks a bundle and returns its transactions.
func (a *api) signed(bundle *signedBundle) ([]reader.Signed, error) {
	most := a.miner.Chain.Limits.Gas
	switch {
	case len(bundle.Txs) == 0:
		return nil, eth.ParamsError("bundle missing txs")
	case bundle.BlockNumber == nil || *bundle.BlockNumber == 0:
		return nil, eth.ParamsError("bundle missing blockNumber")
	case bundle.GasLimit != nil && uint64(*bundle.GasLimit) > most:
		return nil, eth.ParamsError(fmt.Sprintf("gasLimit is %d: expected at most %d", *bundle.GasLimit, most))
	}
	all := make([]reader.Signed, len(bundle.Txs))
	for i, raw := range bundle.Txs {
		tx, err := eth.SignedTransaction(raw)
		if err != nil {
			return nil, eth.ParamsError(fmt.Sprintf("transaction %d: %v", i, err))
		}
		sender, err := a.miner.Pool.Sender(tx)
		if err != nil {
			return nil, eth.ParamsError(fmt.Sprintf("transaction %d: %v", i, err))
		}
		all[i] = reader.Signed{Transaction: tx, Sender: sender}
	}
	return all, nil
}

// overrides describes the bundle's block: a second after the other one unless it has a time.
func (bundle *signedBundle) overrides(b *reader.Block) *reader.BlockOverrides {
	number, at := new(big.Int).SetUint64(uint64(*bundle.BlockNumber)), hexutil.Uint64(b.Header.Time+1)
	if bundle.Timestamp != nil {
		at = hexutil.Uint64(*bundle.Timestamp)
	}
	return &reader.BlockOverrides{Number: (*hexutil.Big)(number), Time: &at, Coinbase: bundle.Coinbase, GasLimit: (*hexutil.Uint64)(bundle.GasLimit),
		Difficulty: bundle.Difficulty, BaseFee: bundle.BaseFee}
}
