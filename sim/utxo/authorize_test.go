package utxo

import (
	"testing"

	"snowglobe/sim/txs"
)

// TestWhoMaySpend compares with secp256k1fx.Fx.VerifyTransfer and the P-Chain's locks.
func TestWhoMaySpend(t *testing.T) {
	a, b, c := key(t, 1), key(t, 2), key(t, 3)
	byAddress := map[string]*txs.Key{}
	for _, k := range []*txs.Key{a, b, c} {
		byAddress[k.Address().String()] = k
	}
	multisig := txs.NewOutputOwners(now, 2, a.Address(), b.Address(), c.Address())
	in := func(i int) *txs.Key { return byAddress[multisig.Addresses[i].String()] }
	plain := output(1, avax, amount, multisig)
	lock := func(until uint64) *txs.UTXO {
		return &txs.UTXO{UTXOID: plain.UTXOID, AssetID: avax, Out: &txs.StakeableLockOut{Locktime: until, Output: plain.Out}}
	}
	marked := func(until uint64) *txs.TransferableInput {
		i := spending(plain, 0, 1)
		i.In = &txs.StakeableLockIn{Locktime: until, Input: i.In}
		return i
	}
	changed := func(i *txs.TransferableInput, change func(*txs.TransferableInput)) *txs.TransferableInput {
		change(i)
		return i
	}
	two := []*txs.Key{in(0), in(1)}
	for _, c := range []struct {
		name    string
		in      *txs.TransferableInput
		u       *txs.UTXO
		signers []*txs.Key
		now     uint64
		want    error
	}{
		{"two of three", spending(plain, 0, 1), plain, two, now, nil},
		{"two others", spending(plain, 0, 2), plain, []*txs.Key{in(0), in(2)}, now, nil},
		{"a second early", spending(plain, 0, 1), plain, two, now - 1, ErrTimelocked},
		{"one", spending(plain, 0), plain, two[:1], now, ErrTooFewSigners},
		{"three", spending(plain, 0, 1, 2), plain, []*txs.Key{in(0), in(1), in(2)}, now, ErrTooManySigners},
		{"one signature for two", spending(plain, 0, 1), plain, two[:1], now, ErrSignerMismatch},
		{"three signatures for two", spending(plain, 0, 1), plain, []*txs.Key{in(0), in(1), in(2)}, now, ErrSignerMismatch},
		{"signatures in another order", spending(plain, 0, 1), plain, []*txs.Key{in(1), in(0)}, now, ErrWrongSignature},
		{"a fourth owner", spending(plain, 0, 3), plain, two, now, ErrNoSuchOwner},
		{"indices in another order", spending(plain, 1, 0), plain, []*txs.Key{in(1), in(0)}, now, txs.ErrSigIndicesUnsorted},
		{"another asset", changed(spending(plain, 0, 1), func(i *txs.TransferableInput) { i.AssetID = another }), plain, two, now, ErrAssetMismatch},
		{"another amount", changed(spending(plain, 0, 1), func(i *txs.TransferableInput) { i.In.TransferInput().Amount-- }), plain, two, now, ErrMismatchedAmounts},
		{"no amount", changed(spending(plain, 0, 1), func(i *txs.TransferableInput) { i.In.TransferInput().Amount = 0 }), plain, two, now, txs.ErrNoValueInput},
		{"locked and not marked", spending(plain, 0, 1), lock(now + 1), two, now, ErrLockedNotMarked},
		{"locked and marked", marked(now + 1), lock(now + 1), two, now, nil},
		{"locked, marked otherwise", marked(now + 2), lock(now + 1), two, now, ErrLocktimeMismatch},
		{"no longer locked", spending(plain, 0, 1), lock(now), two, now, nil},
		{"no longer locked, marked", marked(now), lock(now), two, now, nil},
		{"marked and not locked", marked(now), plain, two, now, ErrLocktimeMismatch},
		{"a right to mint", spending(plain, 0, 1), &txs.UTXO{UTXOID: plain.UTXOID, AssetID: avax, Out: &txs.MintOutput{OutputOwners: multisig}}, two, now, ErrWrongUTXOType},
	} {
		tx := signed(t, txs.PChain, &txs.BaseTx{Ins: []*txs.TransferableInput{c.in}}, c.signers)
		for _, strict := range []bool{false, true} {
			credentials := NewCredentials(tx, c.now, strict)
			wantError(t, c.name, credentials.VerifyTransfer(0, c.in, c.u), c.want)
		}
	}
	credentials := NewCredentials(signed(t, txs.PChain, &txs.BaseTx{}), now, true)
	wantError(t, "no credential", credentials.VerifyPermission(0, &txs.Input{SigIndices: []uint32{0, 1}}, &multisig), ErrSignerMismatch)
	tx := signed(t, txs.PChain, &txs.BaseTx{}, two)
	tx.Credentials[0] = &txs.NFTCredential{Credential: *tx.Credentials[0].(*txs.Credential)}
	credentials = NewCredentials(tx, now, true)
	wantError(t, "an NFT's credential", credentials.VerifyTransfer(0, spending(plain, 0, 1), plain), ErrWrongCredential)
}

func TestTypesOfOwnersAndAuthorizations(t *testing.T) {
	owner := txs.NewOwner(key(t, 1).Address())
	got, err := VerifyOwner(&owner)
	if got != &owner || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = VerifyOwner(&txs.OutputOwners{Threshold: 1})
	wantError(t, "owners without addresses", err, txs.ErrOwnersUnspendable)
	_, err = VerifyOwner(nil)
	wantError(t, "no owners", err, ErrWrongOwnerType)
}
