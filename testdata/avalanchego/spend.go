package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/crypto/secp256k1"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/ava-labs/avalanchego/utils/logging"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/platformvm/stakeable"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"

	linear "github.com/ava-labs/avalanchego/codec/linearcodec"
)

// spend is an input with the credential that authorizes it, at the time of its block.
type spend struct {
	tx         secp256k1fx.UnsignedTx
	in         *avax.TransferableInput
	credential any
	time       uint64
}

func (n *network) note(u *avax.UTXO) {
	n.utxos[u.InputID()] = u
	if owned, ok := u.Out.(avax.Addressable); ok {
		for _, address := range owned.Addresses() {
			if short, err := ids.ToShortID(address); err == nil {
				n.holder[short] = true
			}
		}
	}
}

func (n *network) noteExport(txID ids.ID, first int, outs []*avax.TransferableOutput) {
	for i, out := range outs {
		n.note(&avax.UTXO{UTXOID: avax.UTXOID{TxID: txID, OutputIndex: uint32(first + i)}, Asset: out.Asset, Out: out.Out})
	}
}

// extension returns the real node's own check of signatures, at a time.
func extension(at uint64) (*secp256k1fx.Fx, error) {
	vm := &secp256k1fx.TestVM{Log: logging.NoLog{}, Codec: linear.NewDefault()}
	vm.Clk.Set(time.Unix(int64(at), 0))
	fx := &secp256k1fx.Fx{}
	return fx, errors.Join(fx.Initialize(vm), fx.Bootstrapping(), fx.Bootstrapped())
}

// checkSpends asks the real node whether each credential lets its input spend the output.
func (n *network) checkSpends(context.Context) error {
	spent := map[ids.ID]bool{}
	for _, s := range n.spends {
		if spent[s.in.InputID()] {
			return fmt.Errorf("%s is spent twice", s.in.InputID())
		}
		spent[s.in.InputID()] = true
		if err := n.checkSpend(s); err != nil {
			return fmt.Errorf("input %s:%d: %w", s.in.TxID, s.in.OutputIndex, err)
		}
	}
	return nil
}

func (n *network) checkSpend(s spend) error {
	u, made := n.utxos[s.in.InputID()]
	if !made {
		// A genesis, or the C-Chain, made it: no block says who owns it.
		n.seen.unowned++
		return recovers(s)
	}
	fx, err := extension(s.time)
	if err != nil {
		return err
	}
	in, out := any(s.in.In), any(u.Out)
	if lock, ok := out.(*stakeable.LockOut); ok {
		out = lock.TransferableOut
	}
	if lock, ok := in.(*stakeable.LockIn); ok {
		in = lock.TransferableIn
	}
	n.seen.signatures++
	return fx.VerifyTransfer(s.tx, in, s.credential, out)
}

var errNoSigner = errors.New("nobody signed")

// recovers checks that the signatures are someone's.
func recovers(s spend) error {
	credential, ok := s.credential.(*secp256k1fx.Credential)
	if !ok || len(credential.Sigs) == 0 {
		return errNoSigner
	}
	hash := hashing.ComputeHash256(s.tx.Bytes())
	for _, signature := range credential.Sigs {
		if _, err := secp256k1.RecoverPublicKeyFromHash(hash, signature[:]); err != nil {
			return err
		}
	}
	return nil
}

// checkOwners asks for the UTXOs of everyone who ever owned any, and compares each with the blocks.
func (n *network) checkOwners(ctx context.Context) error {
	p, err := parser()
	if err != nil {
		return err
	}
	for address := range n.holder {
		if err := n.checkOwner(ctx, p.Codec(), address); err != nil {
			return fmt.Errorf("address %s: %w", address, err)
		}
	}
	if n.seen.utxos == 0 {
		return errors.New("nobody owns anything")
	}
	return nil
}

func contains(u *avax.UTXO, address ids.ShortID) bool {
	owned, ok := u.Out.(avax.Addressable)
	return ok && slices.ContainsFunc(owned.Addresses(), func(a []byte) bool { return string(a) == string(address[:]) })
}
