package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// blocksAtOnce is the number of blocks that Inspect reads at a time.
const blocksAtOnce = 64

// Pace lets an inspection yield to others.
type Pace interface {
	// Pause is called between short steps.
	Pause()

	// Long runs a step that may take seconds. It may cancel the step, and start it again later.
	Long(ctx context.Context, step func(context.Context) error) error
}

// Inspect looks for damage in a file without executing anything, in the file as it is at the beginning. It compares the schema, makes the
// engine check every table with its indexes, and recomputes every hash and digest in the file, up to the world's digest. It reads on one
// connection, at the given pace; nil means without pauses.
func Inspect(ctx context.Context, w *sim.World, pace Pace) error {
	view, err := w.View(ctx, 1)
	if err != nil {
		return err
	}
	i := &inspection{World: view, pace: pace}
	return errors.Join(store.Damaged(i.run(ctx)), view.Close())
}

type inspection struct {
	*sim.World
	pace Pace
}

func (i *inspection) pause() {
	if i.pace != nil {
		i.pace.Pause()
	}
}

func (i *inspection) checkTable(ctx context.Context, table string) error {
	check := func(ctx context.Context) error { return i.DB.CheckTable(ctx, table) }
	if i.pace == nil {
		return check(ctx)
	}
	return i.pace.Long(ctx, check)
}

func (i *inspection) run(ctx context.Context) error {
	if err := i.DB.CheckSchema(ctx); err != nil {
		return err
	}
	for _, table := range store.Tables() {
		if err := i.checkTable(ctx, table); err != nil {
			return err
		}
		i.pause()
	}
	if err := errors.Join(i.CheckDigest(ctx), i.CheckUndo(ctx)); err != nil {
		return err
	}
	for _, c := range i.Chains {
		if err := i.chain(ctx, c); err != nil {
			return fmt.Errorf("chain %d: %w", c.Row.EVMID, err)
		}
	}
	codes, err := i.DB.Codes(ctx)
	if err != nil {
		return err
	}
	for _, c := range codes {
		if !bytes.Equal(crypto.Keccak256(c.Code), c.Hash) {
			return fmt.Errorf("code %x: it does not match this hash", c.Hash)
		}
	}
	for _, n := range i.Networks {
		if err := i.network(ctx, n); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return i.operations(ctx)
}

// chain checks the blocks of an EVM chain, then hashes the state at its head.
func (i *inspection) chain(ctx context.Context, c *reader.Chain) error {
	head, err := i.DB.Head(ctx, c.Row.ID)
	if err != nil {
		return fmt.Errorf("head: %w", err)
	}
	var parent store.Block
	settlements := settlements{}
	for first := uint64(0); first <= head.ID.Number(); first += blocksAtOnce {
		deltas, err := i.DB.Deltas(ctx, c.Row.ID, first, min(first+blocksAtOnce-1, head.ID.Number()))
		if err != nil {
			return err
		}
		for n := range deltas {
			err := inspectBlock(c.Kind, &parent, &deltas[n], settlements)
			if err == nil {
				err = inspectChanges(&deltas[n])
			}
			if err != nil {
				return fmt.Errorf("block %d: %w", first+uint64(n), err)
			}
			parent = deltas[n].Block
		}
		i.pause()
	}
	if !bytes.Equal(parent.Hash, head.Hash) {
		return errors.New("blocks are missing")
	}
	return i.state(ctx, c, head)
}

// state hashes the accounts at the head of a chain and the slots of each.
func (i *inspection) state(ctx context.Context, c *reader.Chain, head *store.Block) error {
	header, err := evm.DecodeHeader(c.Kind, head.Header)
	if err != nil {
		return err
	}
	number := head.ID.Number()
	state := evm.NewFlatState(ctx, i.DB, c.Row.ID, number)
	tree, err := state.AccountTrie(c.Kind)
	if err != nil {
		return err
	}
	results, err := evm.DecodeResults(head.Execution, header)
	if err != nil {
		return err
	}
	want := results.Root
	last, err := i.DB.LastStateChange(ctx, c.Row.ID, number)
	if err != nil {
		return err
	}
	if last != nil {
		want = common.BytesToHash(last.Root)
	}
	if root := tree.Hash(); root != want {
		return fmt.Errorf("the flat state at block %d hashes to %s, want %s", number, root, want)
	}
	if err := state.CompareParts([]byte{}, tree); err != nil {
		return err
	}
	accounts, err := i.DB.AccountsAt(ctx, c.Row.ID, number)
	if err != nil {
		return err
	}
	if err := state.CompareBalances(accounts); err != nil {
		return err
	}
	i.pause()
	for n := range accounts {
		if accounts[n].Gone || accounts[n].Root == nil {
			continue
		}
		address := common.BytesToAddress(accounts[n].Address)
		tree, err := state.StorageTrie(c.Kind, address)
		if err != nil {
			return err
		}
		if root := tree.Hash(); !bytes.Equal(root[:], accounts[n].Root) {
			return fmt.Errorf("the slots of %s at block %d hash to %s, the account says %x", address, number, root, accounts[n].Root)
		}
		if err := state.CompareParts(accounts[n].Address, tree); err != nil {
			return err
		}
		i.pause()
	}
	return nil
}

// inspectBlock compares a block with its header, the header with the hashes in it, and the digest with all of that.
func inspectBlock(kind evm.Kind, parent *store.Block, d *store.Delta, s settlements) error {
	b := &d.Block
	header, err := evm.DecodeHeader(kind, b.Header)
	if err != nil {
		return err
	}
	for _, t := range d.Impersonated {
		if t.ID.Index() >= len(d.Transactions) {
			return errNoTransaction
		}
	}
	receipts, err := evm.ReceiptsOf(d)
	if err != nil {
		return err
	}
	before := uint64(0)
	for n := range d.Transactions {
		t := &d.Transactions[n]
		if err := inspectTransaction(t, before, receipts[n]); err != nil {
			return fmt.Errorf("transaction %d: %w", n, err)
		}
		before = t.GasTotal
	}
	results, err := evm.DecodeResults(b.Execution, header)
	if err != nil {
		return err
	}
	charged := before
	if header.Asynchronous() {
		atomic, err := txs.ParseAtomicBatch(b.ExtData)
		if err != nil {
			return err
		}
		for _, tx := range atomic {
			charged += utxo.AtomicGas(tx)
		}
	}
	first := b.ID.Number() == 0
	switch {
	case !bytes.Equal(crypto.Keccak256(b.Header), b.Hash):
		return errors.New("its header does not match its hash")
	case header.Number.Uint64() != b.ID.Number() || !first && !bytes.Equal(header.ParentHash[:], parent.Hash):
		return errors.New("it does not follow the block before it")
	case header.Time != uint64(b.Time) || results.GasCharged != charged || b.GasUsed != before:
		return errors.New("its row does not match its header")
	case b.Txs != len(d.Transactions) || b.AllTxs != parent.AllTxs+int64(b.Txs):
		return fmt.Errorf("it has %d transactions, of %d on the chain; its row says %d of %d",
			len(d.Transactions), parent.AllTxs+int64(len(d.Transactions)), b.Txs, b.AllTxs)
	case types.DeriveSha(evm.RawTransactions(d.Transactions), trie.NewStackTrie(nil)) != header.TxHash:
		return errors.New("its transactions do not match its header")
	case types.DeriveSha(receipts, trie.NewStackTrie(nil)) != results.ReceiptHash:
		return errors.New("its receipts and logs do not match their hash")
	case kind == evm.KindC && !first && extDataHash(b.ExtData) != header.ExtDataHash:
		return errors.New("its atomic transactions do not match its header")
	case !bytes.Equal(evm.Digest(parent.Digest, d), b.Digest):
		return errors.New("its digest does not match its rows")
	}
	return s.settle(header, results)
}

// settlements holds the results of the blocks of a C-Chain that a later header may settle, by number.
type settlements map[uint64]*evm.ExecutionResults

// settle compares what a header says of the block that it settles with the results of that one.
func (s settlements) settle(h *evm.Header, results *evm.ExecutionResults) error {
	first := h.Number.Uint64()
	if h.Asynchronous() {
		first = *h.SettledHeight
		settled := s[first]
		if settled == nil {
			return fmt.Errorf("it cannot settle block %d", first)
		}
		synchronous := settled.GasUnix == 0 // its own header has the rest
		if settled.Root != h.Root || !synchronous && (settled.GasUnix != *h.SettledGasUnix || settled.GasNumerator != *h.SettledGasNumerator || settled.Excess != *h.SettledExcess) {
			return fmt.Errorf("its header has different results for block %d", first)
		}
	}
	maps.DeleteFunc(s, func(number uint64, _ *evm.ExecutionResults) bool { return number < first })
	s[h.Number.Uint64()] = results
	return nil
}

// inspectTransaction compares a transaction's row with its bytes and its receipt. used is the gas of the earlier ones in the block.
func inspectTransaction(t *store.Transaction, before uint64, receipt *types.Receipt) error {
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(t.Raw); err != nil {
		return err
	}
	var recipient []byte
	if to := tx.To(); to != nil {
		recipient = to[:]
	}
	switch {
	case !bytes.Equal(crypto.Keccak256(t.Raw), t.Hash):
		return errors.New("its bytes do not match its hash")
	case !bytes.Equal(recipient, t.Recipient):
		return errors.New("its recipient does not match its bytes")
	case t.GasTotal-before != t.GasUsed:
		return errors.New("its gas does not add up")
	case len(receipt.Logs) != t.Logs:
		return fmt.Errorf("it has %d logs, but its row says %d", len(receipt.Logs), t.Logs)
	}
	return nil
}

func extDataHash(data []byte) (hash common.Hash) {
	encoded, err := rlp.EncodeToBytes(data)
	if err == nil { // encoding bytes cannot fail
		hash = crypto.Keccak256Hash(encoded)
	}
	return hash
}

// network checks the blocks of the P- and the X-Chain, and hashes the atomic transactions of the C-Chain.
func (i *inspection) network(ctx context.Context, n *sim.Network) error {
	index := rules.Index(n.Rules.NetworkID)
	for _, chain := range []int{store.PChain, store.XChain} {
		hashed := uint64(0)
		if chain == store.XChain {
			hashed = 1 // the transactions of its genesis have ids of the public network
		}
		if err := i.primaryChain(ctx, store.PrimaryChain(index, chain), hashed); err != nil {
			return fmt.Errorf("%s-Chain: %w", [...]string{"P", "X"}[chain], err)
		}
	}
	atomic := store.PrimaryChain(index, store.CChain)
	transactions, err := i.DB.PrimaryTxsBetween(ctx, store.First(atomic), store.Last(atomic))
	if err != nil {
		return err
	}
	return inspectTransactions(transactions)
}

// primaryChain checks the blocks of a chain. From a height on the ids of transactions are their hashes.
func (i *inspection) primaryChain(ctx context.Context, chain int, hashed uint64) error {
	head, err := i.DB.PrimaryHead(ctx, chain)
	if err != nil {
		return fmt.Errorf("head: %w", err)
	}
	var parent store.PrimaryBlock
	for first := uint64(0); first <= head.ID.Number(); first += blocksAtOnce {
		last := min(first+blocksAtOnce-1, head.ID.Number())
		blocks, err := i.DB.PrimaryBlocks(ctx, chain, first, last)
		if err != nil {
			return err
		}
		transactions, err := i.DB.PrimaryTxsBetween(ctx, store.At(chain, first, 0), store.At(chain, last, store.MaxIndex))
		if err != nil {
			return err
		}
		for n := range blocks {
			end := blocks[n].ID.End()
			own := store.Cut(&transactions, func(t *store.PrimaryTx) bool { return t.ID <= end })
			err := inspectPrimaryBlock(&parent, &blocks[n], own)
			if err == nil && first+uint64(n) >= hashed {
				err = inspectTransactions(own)
			}
			if err != nil {
				return fmt.Errorf("block %d: %w", first+uint64(n), err)
			}
			parent = blocks[n]
		}
		i.pause()
	}
	if !bytes.Equal(parent.Hash, head.Hash) {
		return errors.New("blocks are missing")
	}
	return nil
}

func inspectPrimaryBlock(parent, b *store.PrimaryBlock, transactions []store.PrimaryTx) error {
	first := b.ID.Number() == 0
	raw := b.Bytes(transactions)
	hash := sha256.Sum256(raw)
	switch {
	case !bytes.Equal(hash[:], b.Hash):
		return errors.New("its bytes do not match its hash")
	case !first && (b.ID.Number() != parent.ID.Number()+1 || !bytes.Equal(b.Parent, parent.Hash)):
		return errors.New("it does not follow the block before it")
	case len(raw) != b.Size || !first && (b.Txs != len(transactions) || b.AllTxs != parent.AllTxs+int64(b.Txs)):
		return errors.New("its row does not match its bytes")
	case !bytes.Equal(primary.Digest(parent.Digest, b), b.Digest):
		return errors.New("its digest does not match its row")
	}
	return nil
}

func inspectTransactions(transactions []store.PrimaryTx) error {
	for n := range transactions {
		if hash := sha256.Sum256(transactions[n].Bytes); !bytes.Equal(hash[:], transactions[n].Hash) {
			return fmt.Errorf("transaction %d: its bytes do not match its hash", transactions[n].ID.Index())
		}
	}
	return nil
}

func (i *inspection) operations(ctx context.Context) error {
	rows, err := i.DB.OperationDigests(ctx, i.Operations())
	if err != nil {
		return err
	}
	for _, row := range rows {
		o, err := i.DB.Operation(ctx, row.ID)
		if err != nil {
			return err
		}
		if !bytes.Equal(o.Digest(), row.Digest) {
			return fmt.Errorf("operation %d: its digest does not match its row", o.ID)
		}
	}
	return nil
}
