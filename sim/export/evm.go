package export

import (
	"context"
	"fmt"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/lru"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/contracts"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// knownAddresses bounds the checksummed addresses that a reader remembers.
const knownAddresses = 4096

// evmReader reads some accounts' transactions, internal transactions and token transfers on one chain.
type evmReader struct {
	world   *sim.World
	source  *chainSource
	chainID string
	market  *market
	mine    map[common.Address]bool
	hex     *lru.Cache[common.Address, string]

	header store.Position // of the block with the known base fee
	base   *big.Int
}

func openEVM(ctx context.Context, w *sim.World, s *Scope, at *chainSource, low, high store.Position) (eventReader, *union, error) {
	m, err := openMarket(ctx, w, at.rows)
	if err != nil {
		return nil, nil, err
	}
	r := &evmReader{world: w, source: at, chainID: strconv.FormatUint(at.ChainID, 10), market: m, mine: map[common.Address]bool{},
		hex: lru.NewCache[common.Address, string](knownAddresses), header: -1}
	var finds []find
	for _, account := range s.Accounts {
		r.mine[account] = true
		finds = append(finds, func(ctx context.Context, low, high store.Position, limit int) ([]store.Position, error) {
			return w.DB.TouchIDs(ctx, account[:], low, high, limit)
		})
	}
	return r, newUnion(finds, low, high), nil
}

func (r *evmReader) read(ctx context.Context, at []store.Position) ([]Event, error) {
	txs, err := r.world.DB.TransactionsAt(ctx, at)
	if err != nil {
		return nil, err
	}
	calls, err := r.world.DB.CallsAt(ctx, at)
	if err != nil {
		return nil, err
	}
	transfers, err := r.world.DB.TransfersAt(ctx, at)
	if err != nil {
		return nil, err
	}
	var events []Event
	for i := range txs {
		tx := &txs[i]
		inside := store.Cut(&calls, func(c *store.Call) bool { return c.ID.Block()+store.Position(c.Tx) == tx.ID })
		moved := store.Cut(&transfers, func(t *store.Transfer) bool { return t.Transaction() == tx.ID })
		e := Event{Time: tx.BlockTime}
		if err := r.event(ctx, &e, tx, inside, moved); err != nil {
			return nil, err
		}
		if e.Rows > 0 {
			events = append(events, e)
		}
	}
	return events, nil
}

// event writes a transaction's rows: its own, then the rows of internal transactions and transfers.
func (r *evmReader) event(ctx context.Context, e *Event, tx *store.TransactionView, calls []store.Call, transfers []store.Transfer) error {
	place := evmRow{evmReader: r, number: strconv.FormatUint(tx.ID.Number(), 10), time: tx.BlockTime, hash: common.BytesToHash(tx.Transaction.Hash).Hex(),
		dollars: r.market.dollars(r.market.Native, tx.BlockTime)}
	to := tx.Recipient
	if to == nil {
		to = tx.Created
	}
	if row := place; r.setParties(&row, tx.Sender, to) {
		if err := r.native(&row, tx); err != nil {
			return err
		}
		e.add(&row)
	}
	for i := range calls {
		if row := place; r.setParties(&row, calls[i].Sender, calls[i].Recipient) {
			row.kind, row.method, row.succeeded = "INTERNAL", calls[i].Type, !calls[i].Reverted
			row.amount = new(big.Int).SetBytes(calls[i].Value)
			e.add(&row)
		}
	}
	for i := range transfers {
		if row := place; r.setParties(&row, transfers[i].Sender, transfers[i].Recipient) {
			if err := r.moved(ctx, &row, &transfers[i]); err != nil {
				return err
			}
			e.add(&row)
		}
	}
	return nil
}

func (e *Event) add(row *evmRow) {
	e.Text = evmTable.line(e.Text, row)
	e.Rows++
}

// setParties fills in the two parties and reports whether the export covers either.
func (r *evmReader) setParties(row *evmRow, sender, recipient []byte) bool {
	from, to := common.BytesToAddress(sender), common.BytesToAddress(recipient)
	switch out, in := r.mine[from], r.mine[to]; {
	case out && in:
		row.direction = "SELF"
	case out:
		row.direction = "OUT"
	case in:
		row.direction = "IN"
	default:
		return false
	}
	row.from, row.to = r.written(from), r.written(to)
	return true
}

func (r *evmReader) written(a common.Address) string {
	text, ok := r.hex.Get(a)
	if !ok {
		text = a.Hex()
		r.hex.Add(a, text)
	}
	return text
}

func (r *evmReader) native(row *evmRow, tx *store.TransactionView) error {
	var signed types.Transaction
	if err := signed.UnmarshalBinary(tx.Raw); err != nil {
		return fmt.Errorf("transaction %s: %w", row.hash, err)
	}
	if r.header != tx.ID.Block() {
		base, err := evm.PaidBaseFee(r.source.evm.Kind, tx.Header, tx.Execution)
		if err != nil {
			return fmt.Errorf("block %s: %w", row.number, err)
		}
		r.header, r.base = tx.ID.Block(), base
	}
	row.kind, row.succeeded, row.method, row.amount = "NATIVE", tx.Status == 1, method(&signed), signed.Value()
	row.gas = &gas{used: tx.GasUsed, price: evm.EffectiveGasPrice(&signed, r.base)}
	row.gas.fee = new(big.Int).Mul(row.gas.price, new(big.Int).SetUint64(tx.GasUsed))
	return nil
}

// method returns the method that a transaction calls; a transfer calls none.
func method(tx *types.Transaction) string {
	data := tx.Data()
	if tx.To() == nil || len(data) < 4 {
		return ""
	}
	if name, known := contracts.MethodName([4]byte(data[:4])); known {
		return name
	}
	return hexutil.Encode(data[:4])
}

var standards = map[store.Standard]string{store.ERC20: "ERC-20", store.ERC721: "ERC-721", store.ERC1155: "ERC-1155"}

func (r *evmReader) moved(ctx context.Context, row *evmRow, t *store.Transfer) (err error) {
	if row.token, err = r.market.token(ctx, t.Asset); err != nil {
		return err
	}
	row.kind, row.succeeded, row.log, row.amount = standards[t.Standard], true, strconv.Itoa(t.Log), new(big.Int).SetBytes(t.Amount)
	row.dollars = r.market.dollars(row.token.series, row.time)
	if t.Standard != store.ERC20 {
		row.item = new(big.Int).SetBytes(t.Asset.Item()).String()
	}
	return nil
}
