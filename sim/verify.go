package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/crypto"
	"golang.org/x/sync/errgroup"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Findings is what Verify looked at.
type Findings struct {
	Chains, Blocks, Transactions, Logs, Calls, Accounts, Slots, Codes atomic.Int64
	Tokens, Deployments, Transfers, Holdings, Items, Touches          atomic.Int64
	Messages, MessageEvents                                           atomic.Int64
	PrimaryTransactions, UTXOs, Operations, Chunks                    atomic.Int64
}

func (f *Findings) String() string {
	return fmt.Sprintf("%d chains, %d blocks, %d transactions with their senders, %d logs, %d internal calls, %d account states, %d slot states, %d codes, %d tokens, %d deployments, %d transfers, %d holdings, %d items, %d cross-chain messages; %d P-, X- and atomic transactions with their signatures, %d UTXOs; %d exports",
		f.Chains.Load(), f.Blocks.Load(), f.Transactions.Load(), f.Logs.Load(), f.Calls.Load(), f.Accounts.Load(), f.Slots.Load(), f.Codes.Load(),
		f.Tokens.Load(), f.Deployments.Load(), f.Transfers.Load(), f.Holdings.Load(), f.Items.Load(), f.Messages.Load(), f.PrimaryTransactions.Load(), f.UTXOs.Load(), f.Operations.Load())
}

// Verify derives everything in the file again from the transactions' bytes and compares it with every row. The error
// names the first difference. progress is told how many blocks of how many are done; it may be nil.
func (w *World) Verify(ctx context.Context, progress func(done, total int)) (*Findings, error) {
	found := &Findings{}
	if err := w.DB.Integrity(ctx); err != nil {
		return found, err
	}
	if err := w.verifyDigest(ctx); err != nil {
		return found, err
	}
	if err := w.verifyCast(ctx); err != nil {
		return found, err
	}
	group, within := errgroup.WithContext(ctx)
	group.Go(func() error { return w.verifyEVM(within, found, progress) })
	group.Go(func() error { return w.verifyPrimary(within, found) })
	group.Go(func() error { return w.verifyOperations(within, found) })
	if err := group.Wait(); err != nil {
		return found, err
	}
	return found, w.verifyCounts(ctx, found)
}

func (w *World) verifyEVM(ctx context.Context, found *Findings, progress func(done, total int)) error {
	again, err := w.newRecount()
	if err != nil {
		return err
	}
	return again.finish(ctx, w, w.verifyChains(ctx, found, again, progress))
}

func (w *World) verifyDigest(ctx context.Context) error {
	chains, err := computeDigest(ctx, w.DB, w.Meta, nil)
	if err != nil {
		return err
	}
	if have := w.chainsDigest(); !bytes.Equal(chains, have) {
		return fmt.Errorf("meta: chains is %x, the chains' digest is %x", have, chains)
	}
	digest, err := sealDigest(ctx, w.DB, revision{chains: chains, started: w.operations()})
	if err != nil {
		return err
	}
	if have := w.Digest(); !bytes.Equal(digest, have) {
		return fmt.Errorf("meta: digest is %x, the world's is %x", have, digest)
	}
	return nil
}

// verifyCast checks that every persona's key belongs to its address; the rest of who is who is in the digest.
func (w *World) verifyCast(ctx context.Context) error {
	personas, err := w.DB.Personas(ctx)
	if err != nil {
		return err
	}
	for _, p := range personas {
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

func (w *World) verifyChains(ctx context.Context, found *Findings, again *recount, progress func(done, total int)) error {
	total, err := w.DB.Count(ctx, "block")
	if err != nil {
		return err
	}
	var codes codeSet
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range w.Chains {
		group.Go(func() error {
			err := evm.VerifyChain(ctx, w.DB, c, func(d *store.Delta) {
				found.add(d, &codes)
				again.add(d)
				if progress != nil {
					progress(int(found.Blocks.Load()), int(total))
				}
			})
			if err != nil {
				return fmt.Errorf("chain %d: %w", c.Row.EVMID, err)
			}
			found.Chains.Add(1)
			return nil
		})
	}
	return group.Wait()
}

func (f *Findings) add(d *store.Delta, codes *codeSet) {
	f.Blocks.Add(1)
	f.Transactions.Add(int64(len(d.Transactions)))
	f.Logs.Add(int64(len(d.Logs)))
	f.Calls.Add(int64(len(d.Calls)))
	f.Accounts.Add(int64(len(d.Accounts)))
	f.Slots.Add(int64(len(d.Slots)))
	f.Codes.Add(codes.add(d.Codes))
	f.Tokens.Add(int64(len(d.Tokens)))
	f.Deployments.Add(int64(len(d.Deployments)))
	f.Transfers.Add(int64(len(d.Transfers)))
	f.Holdings.Add(int64(len(d.Holdings)))
	f.Items.Add(int64(len(d.Items)))
	f.Touches.Add(int64(len(d.Touches)))
	f.Messages.Add(int64(len(d.Messages)))
	f.MessageEvents.Add(int64(len(d.MessageEvents)))
}

// codeSet counts each code once, however many contracts of however many chains run it.
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
func (w *World) verifyCounts(ctx context.Context, f *Findings) error {
	expected := map[string]int64{
		"chain": f.Chains.Load(), "block": f.Blocks.Load(), "tx": f.Transactions.Load(), "log": f.Logs.Load(),
		"call": f.Calls.Load(), "account": f.Accounts.Load(), "slot": f.Slots.Load(), "code": f.Codes.Load(),
		"token": f.Tokens.Load(), "deployment": f.Deployments.Load(), "transfer": f.Transfers.Load(),
		"holding": f.Holdings.Load(), "nft": f.Items.Load(), "touch": f.Touches.Load(),
		"message": f.Messages.Load(), "message_event": f.MessageEvents.Load(),
		"operation": f.Operations.Load(), "chunk": f.Chunks.Load(),
	}
	var errs []error
	for _, table := range store.Audited {
		want, ok := expected[table]
		if !ok {
			continue
		}
		switch have, err := w.DB.Count(ctx, table); {
		case err != nil:
			errs = append(errs, err)
		case have != want:
			errs = append(errs, fmt.Errorf("%s: %d rows, the history accounts for %d", table, have, want))
		}
	}
	return errors.Join(errs...)
}
