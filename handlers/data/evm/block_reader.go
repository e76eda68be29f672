package evm

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/cache"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// blockFacts is the part of a block that other responses show, decoded once.
type blockFacts struct {
	number               string
	time                 int64
	millis               uint64
	excess               uint64
	hash                 string
	baseFee, paidBaseFee *big.Int
	gasLimit             uint64
	gasCost              *big.Int
	parent               string
}

// blockFact is a block in the shape that clients see.
type blockFact struct {
	at    store.Position
	shown Block
}

// nativeFacts is a decoded transaction without the parts that depend on the request.
type nativeFacts struct {
	at       store.Position
	shown    NativeTransaction
	from, to hexAddress
}

// blockReader decodes the EVM chains' blocks and transactions, and caches the recent ones.
type blockReader struct {
	db           *store.DB
	headers      *cache.Cache[store.Position, *blockFacts]
	blocks       *cache.Cache[store.Position, *blockFact]
	transactions *cache.Cache[store.Position, *nativeFacts]
}

func newBlockReader(db *store.DB) *blockReader {
	return &blockReader{
		db:           db,
		headers:      cache.New[store.Position, *blockFacts](db.Caches()),
		blocks:       cache.New[store.Position, *blockFact](db.Caches()),
		transactions: cache.New[store.Position, *nativeFacts](db.Caches()),
	}
}

// facts returns a block's decoded header, from the cache if it can.
func (b *blockReader) facts(at store.Position, kind evm.Kind, hashed, header, execution []byte) (*blockFacts, error) {
	at = at.Block()
	if f, ok := b.headers.Get(at); ok {
		return f, nil
	}
	h, err := evm.DecodeHeader(kind, header)
	if err != nil {
		return nil, err
	}
	results, err := evm.DecodeResults(execution, h)
	if err != nil {
		return nil, err
	}
	f := &blockFacts{
		number: h.Number.String(), time: int64(h.Time), millis: h.TimeMilliseconds, excess: h.MinDelayExcess, hash: data.Hash(hashed),
		baseFee: h.BaseFee, paidBaseFee: results.BaseFee, gasLimit: h.GasLimit, gasCost: h.BlockGasCost, parent: h.ParentHash.Hex(),
	}
	b.headers.Add(at, f)
	return f, nil
}

func (b *blockReader) block(c *reader.Chain, row *store.Block) (Block, error) {
	f, err := b.facts(row.ID, c.Kind, row.Hash, row.Header, row.Execution)
	if err != nil {
		return Block{}, err
	}
	return Block{
		ChainID: strconv.FormatUint(c.Row.EVMID, 10), BlockNumber: f.number, BlockTimestamp: row.Time,
		BlockTimestampMilliseconds: f.millis, BlockMinDelayExcess: f.excess, BlockHash: f.hash, TxCount: row.Txs,
		BaseFee: f.baseFee.String(), GasUsed: strconv.FormatUint(row.GasUsed, 10), GasLimit: strconv.FormatUint(f.gasLimit, 10),
		GasCost: f.gasCost.String(), ParentHash: f.parent, FeesSpent: data.Amount(row.Fees),
		CumulativeTransactions: strconv.FormatInt(row.AllTxs, 10),
	}, nil
}

func (b *blockReader) blocksAt(r *rest.Request, c *reader.Chain, at []store.Position) ([]*blockFact, error) {
	return data.Cached(at, b.blocks, func(high, low store.Position, limit int) ([]store.Block, error) {
		return b.db.BlocksDown(r.Context(), high, low, limit)
	}, func(row *store.Block) (store.Position, *blockFact, error) {
		shown, err := b.block(c, row)
		return row.ID, &blockFact{row.ID, shown}, err
	})
}

// transactionsAt returns the transactions at positions, newest first.
func (b *blockReader) transactionsAt(c *reader.Chain, at []store.Position,
	read func(high, low store.Position, limit int) ([]store.TransactionView, error)) ([]*nativeFacts, error) {
	return data.Cached(at, b.transactions, read, func(row *store.TransactionView) (store.Position, *nativeFacts, error) {
		f, err := b.decode(c, row)
		return row.ID, f, err
	})
}

// cachedTransaction returns a transaction as the cache holds it.
func (b *blockReader) cachedTransaction(c *reader.Chain, row *store.TransactionView) (*nativeFacts, error) {
	if f, ok := b.transactions.Get(row.ID); ok {
		return f, nil
	}
	f, err := b.decode(c, row)
	if err == nil {
		b.transactions.Add(row.ID, f)
	}
	return f, err
}

// decode reads a transaction from its bytes.
func (b *blockReader) decode(c *reader.Chain, row *store.TransactionView) (*nativeFacts, error) {
	block, err := b.facts(row.ID, c.Kind, row.BlockHash, row.Header, row.Execution)
	if err != nil {
		return nil, err
	}
	var tx types.Transaction
	if err := tx.UnmarshalBinary(row.Raw); err != nil {
		return nil, fmt.Errorf("transaction %x: %w", row.Transaction.Hash, err)
	}
	to := row.Recipient
	if to == nil {
		to = row.Created
	}
	f := &nativeFacts{at: row.ID, from: hexAddressOf(row.Sender), to: hexAddressOf(to)}
	f.shown = NativeTransaction{
		BlockNumber: block.number, BlockTimestamp: block.time, BlockTimestampMilliseconds: block.millis, BlockMinDelayExcess: block.excess,
		BlockHash: block.hash, ChainID: strconv.FormatUint(c.Row.EVMID, 10), BlockIndex: row.ID.Index(), TxHash: data.Hash(row.Transaction.Hash),
		TxStatus: strconv.FormatUint(row.Status, 10), TxType: tx.Type(), GasLimit: strconv.FormatUint(tx.Gas(), 10),
		GasUsed: strconv.FormatUint(row.GasUsed, 10), GasPrice: evm.EffectiveGasPrice(&tx, block.paidBaseFee).String(),
		Nonce: strconv.FormatUint(tx.Nonce(), 10), Method: method(&tx), Value: tx.Value().String(),
	}
	return f, nil
}

// full decodes a transaction with the fields that only the response about one transaction shows.
func (b *blockReader) full(c *reader.Chain, row *store.TransactionView) (facts *nativeFacts, more FullNativeTransaction, err error) {
	if facts, err = b.cachedTransaction(c, row); err != nil {
		return nil, more, err
	}
	block, err := b.facts(row.ID, c.Kind, row.BlockHash, row.Header, row.Execution)
	if err != nil {
		return nil, more, err
	}
	var tx types.Transaction
	if err := tx.UnmarshalBinary(row.Raw); err != nil {
		return nil, more, fmt.Errorf("transaction %x: %w", row.Transaction.Hash, err)
	}
	more = FullNativeTransaction{Input: hexutil.Encode(tx.Data()), BaseFeePerGas: block.baseFee.String()}
	if tx.Type() == types.DynamicFeeTxType {
		more.MaxFeePerGas, more.MaxPriorityFeePerGas = tx.GasFeeCap().String(), tx.GasTipCap().String()
	}
	return facts, more, nil
}

func (b *blockReader) location(c *reader.Chain, at store.Position, p *store.Inclusion) (Location, error) {
	f, err := b.facts(at, c.Kind, p.BlockHash, p.Header, p.Execution)
	if err != nil {
		return Location{}, err
	}
	return Location{BlockNumber: f.number, BlockTimestamp: f.time, BlockTimestampMilliseconds: f.millis, BlockHash: f.hash, TxHash: data.Hash(p.TxHash)}, nil
}

// method tells a transfer from a call by its input: without a selector, nothing is called.
func method(tx *types.Transaction) Method {
	switch data := tx.Data(); {
	case tx.To() == nil:
		return Method{CallType: "CONTRACT_CREATION", MethodName: "Contract Created"}
	case len(data) < 4:
		return Method{CallType: "NATIVE_TRANSFER", MethodName: "Native Transfer"}
	default:
		name, _ := contracts.MethodName([4]byte(data[:4]))
		return Method{CallType: "CONTRACT_CALL", MethodHash: hexutil.Encode(data[:4]), MethodName: name}
	}
}
