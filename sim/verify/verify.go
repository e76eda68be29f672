package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/crypto"
	"golang.org/x/sync/errgroup"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// counted lists what Verify counts, in printed order, each with the check that counts it; entries without a name are not printed. The file
// must have exactly as many rows of a table as the history accounts for; P- and X-Chain are compared table by table instead.
var counted = []struct {
	table string
	check string
	name  string
	rows  func(*store.Delta) int // of an EVM block, nil if counted elsewhere
}{
	{"chain", checkEVM, "chains", nil},
	{"block", checkEVM, "blocks", func(*store.Delta) int { return 1 }},
	{"block_override", "", "", func(d *store.Delta) int {
		if d.Override == nil {
			return 0
		}
		return 1
	}},
	{"state_change", "", "", func(d *store.Delta) int { return len(d.Changes) }},
	{"impersonated_tx", "", "", func(d *store.Delta) int { return len(d.Impersonated) }},
	{"tx", checkEVM, "transactions with their senders", func(d *store.Delta) int { return len(d.Transactions) }},
	{"log", checkEVM, "logs", func(d *store.Delta) int { return len(d.Logs) }},
	{"call", checkEVM, "internal calls", func(d *store.Delta) int { return len(d.Calls) }},
	{"account", checkEVM, "account states", func(d *store.Delta) int { return len(d.Accounts) }},
	{"slot", checkEVM, "slot states", func(d *store.Delta) int { return len(d.Slots) }},
	{"code", checkEVM, "codes", nil},
	{"token", checkEVM, "tokens", func(d *store.Delta) int { return len(d.Tokens) }},
	{"deployment", checkEVM, "deployments", func(d *store.Delta) int { return len(d.Deployments) }},
	{"transfer", checkEVM, "transfers", func(d *store.Delta) int { return len(d.Transfers) }},
	{"holding", checkEVM, "holdings", func(d *store.Delta) int { return len(d.TokenBalances) }},
	{"nft", checkEVM, "items", func(d *store.Delta) int { return len(d.NFTStates) }},
	{"touch", "", "", func(d *store.Delta) int { return len(d.Touches) }},
	{"message", checkEVM, "cross-chain messages", func(d *store.Delta) int { return len(d.Messages) }},
	{"message_event", "", "", func(d *store.Delta) int { return len(d.MessageEvents) }},
	{"primary_tx", checkPrimary, "P-, X- and atomic transactions with their signatures", nil},
	{"utxo", checkPrimary, "UTXOs", nil},
	{"pooled_tx", checkPools, "transactions that wait", nil},
	{"operation", checkExports, "exports", nil},
}

// comparedElsewhere lists the tables whose rows are compared with rows made again instead of counted.
var comparedElsewhere = []string{"primary_tx", "utxo"}

// Findings counts the rows of each table that Verify has derived again.
type Findings map[string]*atomic.Int64

func newFindings() Findings {
	f := make(Findings, len(counted))
	for _, c := range counted {
		f[c.table] = new(atomic.Int64)
	}
	return f
}

func (f Findings) add(d *store.Delta, codes *codeSet) {
	for _, c := range counted {
		if c.rows != nil {
			f[c.table].Add(int64(c.rows(d)))
		}
	}
	f["code"].Add(codes.add(d.Codes))
}

// Verify derives everything in the file again from the transactions' bytes and compares it with every row, in the file as it is at the
// beginning: others may add to the world meanwhile. The error names the first difference. progress receives the numbers of finished blocks
// and of all; it may be nil.
func Verify(ctx context.Context, w *sim.World, progress func(done, total int)) (*Report, error) {
	report := NewReport()
	view, err := w.View(ctx, store.Connections())
	if err != nil {
		return report, err
	}
	err = verifyAll(ctx, view, report, progress)
	return report, errors.Join(store.Damaged(err), view.Close())
}

func verifyAll(ctx context.Context, w *sim.World, report *Report, progress func(done, total int)) error {
	found := report.found
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{checkFile, func() error { return errors.Join(w.DB.CheckSchema(ctx), w.DB.Integrity(ctx), w.DB.CheckURIs(ctx)) }},
		{checkDigest, func() error { return w.CheckDigest(ctx) }},
		{checkUndo, func() error { return w.CheckUndo(ctx) }},
		{checkPersonas, func() error { return verifyPersonas(ctx, w.DB) }},
	} {
		if err := report.note(c.name, c.do()); err != nil {
			return err
		}
	}
	group, within := errgroup.WithContext(ctx)
	for name, do := range map[string]func() error{
		checkEVM:     func() error { return verifyEVM(within, w, found, progress) },
		checkPrimary: func() error { return verifyPrimary(within, w, found) },
		checkPools:   func() error { return verifyPools(within, w, found) },
		checkExports: func() error { return verifyOperations(within, w, found) },
	} {
		group.Go(func() error { return report.note(name, do()) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return report.note(checkCounts, verifyCounts(ctx, w, found))
}

func verifyEVM(ctx context.Context, w *sim.World, found Findings, progress func(done, total int)) error {
	again, err := newRecount(w)
	if err != nil {
		return err
	}
	return again.finish(ctx, w, verifyChains(ctx, w, found, again, progress))
}

// verifyPersonas checks that every persona's key belongs to its address; the digest covers the rest of their rows.
func verifyPersonas(ctx context.Context, db *store.DB) error {
	personas, err := db.Personas(ctx)
	if err != nil {
		return err
	}
	for _, p := range personas {
		if len(p.Key) == 0 { // only its owner has it
			continue
		}
		key, err := crypto.ToECDSA(p.Key)
		if err != nil {
			return fmt.Errorf("persona %s: %w", p.Name, err)
		}
		if address := crypto.PubkeyToAddress(key.PublicKey); !bytes.Equal(address[:], p.Address) {
			return fmt.Errorf("persona %s: address is %x, the key's is %x", p.Name, p.Address, address)
		}
	}
	return nil
}

func verifyChains(ctx context.Context, w *sim.World, found Findings, again *recount, progress func(done, total int)) error {
	total, err := w.DB.Count(ctx, "block")
	if err != nil {
		return err
	}
	var codes codeSet
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range w.Chains {
		group.Go(func() error {
			err := VerifyChain(ctx, w.DB, c, func(d *store.Delta) {
				found.add(d, &codes)
				again.add(d)
				if progress != nil {
					progress(int(found["block"].Load()), int(total))
				}
			})
			if err != nil {
				return fmt.Errorf("chain %d: %w", c.Row.EVMID, err)
			}
			found["chain"].Add(1)
			return nil
		})
	}
	return group.Wait()
}

// codeSet counts each code once, no matter how many contracts and chains run it.
type codeSet struct{ seen sync.Map }

func (s *codeSet) add(codes []store.Code) (fresh int64) {
	for _, c := range codes {
		if _, known := s.seen.LoadOrStore(string(c.Hash), true); !known {
			fresh++
		}
	}
	return fresh
}

// verifyCounts finds rows that nothing accounts for.
func verifyCounts(ctx context.Context, w *sim.World, f Findings) error {
	var errs []error
	for _, c := range counted {
		if slices.Contains(comparedElsewhere, c.table) {
			continue
		}
		want := f[c.table].Load()
		switch have, err := w.DB.Count(ctx, c.table); {
		case err != nil:
			errs = append(errs, err)
		case have != want:
			errs = append(errs, fmt.Errorf("%s: there are %d rows, but the history accounts for %d", c.table, have, want))
		}
	}
	return errors.Join(errs...)
}
