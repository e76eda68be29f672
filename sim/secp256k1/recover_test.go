package secp256k1

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

// sameKey compares Recover with crypto.Ecrecover.
func sameKey(t *testing.T, hash, signature []byte) (recovered bool) {
	t.Helper()
	want, failure := crypto.Ecrecover(hash, signature)
	got, err := Recover(hash, signature)
	if (err != nil) != (failure != nil) || err == nil && !bytes.Equal(got[:], want) {
		t.Fatalf("%x of %x: %x, %v, not %x, %v", signature, hash, got, err, want, failure)
	}
	return err == nil
}

func TestKeysAreRecoveredAsByGoEthereum(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	all, _ := keys(t)
	for _, key := range all {
		hash := random(r)
		signature, err := crypto.Sign(hash, key)
		if err != nil {
			t.Fatal(err)
		}
		if !sameKey(t, hash, signature) || !sameKey(t, make([]byte, 32), signature) {
			t.Fatalf("%x has no key", signature)
		}
		greater := bytes.Clone(signature) // the other s
		new(big.Int).Sub(order, new(big.Int).SetBytes(signature[32:64])).FillBytes(greater[32:64])
		sameKey(t, hash, greater)
		sameKey(t, random(r), append(append(random(r), signature[32:64]...), signature[64]))
		for id := range byte(4) {
			sameKey(t, hash, append(bytes.Clone(signature[:64]), id))
		}
	}
}

// One signature in 2^127 has an x that is not less than the order.
func TestKeysOfTheLargestPoints(t *testing.T) {
	r, recovered := rand.New(rand.NewPCG(7, 8)), 0
	for small := range int64(50) {
		signature := append(big.NewInt(small).FillBytes(make([]byte, 32)), random(r)...)
		for id := range byte(4) {
			if sameKey(t, random(r), append(bytes.Clone(signature), id)) {
				recovered++
			}
		}
	}
	beyond := new(big.Int).Sub(crypto.S256().Params().P, order) // x would be the modulus
	sameKey(t, random(r), append(append(beyond.FillBytes(make([]byte, 32)), random(r)...), 2))
	if recovered < 50 {
		t.Errorf("%d keys were recovered", recovered)
	}
}

func TestWhatIsNoSignature(t *testing.T) {
	one, zero, greatest := big.NewInt(1).FillBytes(make([]byte, 32)), make([]byte, 32), order.Bytes()
	hash := bytes.Repeat([]byte{7}, 32)
	for _, signature := range [][]byte{
		append(append(bytes.Clone(zero), one...), 0), append(append(bytes.Clone(one), zero...), 0),
		append(append(bytes.Clone(greatest), one...), 0), append(append(bytes.Clone(one), greatest...), 0),
		append(append(bytes.Repeat([]byte{5}, 32), one...), 0), // no point has this x
		append(append(bytes.Clone(one), one...), 8), one, nil,
	} {
		if sameKey(t, hash, signature) {
			t.Errorf("%x is a signature", signature)
		}
	}
	if _, err := Recover(hash[1:], append(append(bytes.Clone(one), one...), 0)); err == nil {
		t.Error("a hash of 31 bytes was signed")
	}
	// The generator, signing e = s = 1: the key would be the point at infinity.
	generator := crypto.S256().Params()
	at := append(append(generator.Gx.FillBytes(make([]byte, 32)), one...), byte(generator.Gy.Bit(0)))
	if sameKey(t, one, at) {
		t.Error("the point at infinity is a key")
	}
}

func TestSendersAreThoseOfGoEthereum(t *testing.T) {
	all, own := keys(t)
	key, to := all[5], common.Address{1}
	london, never := *params.AllDevChainProtocolChanges, *params.AllDevChainProtocolChanges
	london.CancunTime, london.PragueTime, london.OsakaTime = nil, nil, nil
	never.ChainID = big.NewInt(43112)
	inner := []types.TxData{
		&types.LegacyTx{To: &to, Gas: 21_000, GasPrice: big.NewInt(1), Value: big.NewInt(2)},
		&types.AccessListTx{ChainID: london.ChainID, To: &to, GasPrice: big.NewInt(1)},
		&types.DynamicFeeTx{ChainID: london.ChainID, To: &to, GasFeeCap: big.NewInt(1), Data: []byte{1, 2}},
		&types.BlobTx{ChainID: uint256.MustFromBig(london.ChainID), To: to, BlobHashes: []common.Hash{{1}}},
		&types.SetCodeTx{ChainID: uint256.MustFromBig(london.ChainID), To: to, AuthList: []types.SetCodeAuthorization{{}}},
	}
	var txs []*types.Transaction
	for _, data := range inner {
		tx := types.MustSignNewTx(key, types.LatestSigner(params.AllDevChainProtocolChanges), data)
		if same, err := SignTx(types.NewTx(data), types.LatestSigner(params.AllDevChainProtocolChanges), own[5]); err != nil || same.Hash() != tx.Hash() {
			t.Errorf("type %d is signed as %v, not %v: %v", tx.Type(), same, tx, err)
		}
		v, r, s := tx.RawSignatureValues()
		txs = append(txs, tx)
		for _, changed := range [][3]*big.Int{
			{v, r, new(big.Int).Sub(order, s)}, {new(big.Int).Xor(v, big.NewInt(1)), r, s}, {new(big.Int).Add(v, big.NewInt(2)), r, s},
			{v, new(big.Int), s}, {v, r, new(big.Int)}, {v, order, s}, {v, new(big.Int).Lsh(r, 8), s}, {new(big.Int).Lsh(v, 70), r, s},
		} {
			txs = append(txs, withSignature(data, changed))
		}
	}
	txs = append(txs, types.MustSignNewTx(key, types.HomesteadSigner{}, inner[0]), types.NewTx(inner[0]), types.NewTx(inner[2]))

	found := 0
	for _, config := range []*params.ChainConfig{params.AllDevChainProtocolChanges, &london, &never} {
		for _, tx := range txs {
			raw, err := tx.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			theirs, ours := new(types.Transaction), new(types.Transaction)
			if theirs.UnmarshalBinary(raw) != nil || ours.UnmarshalBinary(raw) != nil {
				continue // not even a transaction
			}
			want, failure := types.LatestSigner(config).Sender(theirs)
			got, err := types.Sender(LatestSigner(config), ours)
			if got != want || (err == nil) != (failure == nil) || err != nil && err.Error() != failure.Error() {
				t.Errorf("type %d on %v: %v, %v, not %v, %v", tx.Type(), config.ChainID, got, err, want, failure)
			}
			if _, quick := LatestSigner(config).(signer).sender(ours); quick != (err == nil && tx.Protected()) {
				t.Errorf("type %d on %v: left to go-ethereum or not: %v, %v", tx.Type(), config.ChainID, !quick, err)
			}
			if err == nil {
				found++
			}
		}
	}
	if found < 16 {
		t.Errorf("%d senders were found", found)
	}
}

// withSignature signs with any three numbers.
func withSignature(data types.TxData, n [3]*big.Int) *types.Transaction {
	switch d := data.(type) {
	case *types.LegacyTx:
		c := *d
		c.V, c.R, c.S = n[0], n[1], n[2]
		return types.NewTx(&c)
	case *types.AccessListTx:
		c := *d
		c.V, c.R, c.S = n[0], n[1], n[2]
		return types.NewTx(&c)
	case *types.DynamicFeeTx:
		c := *d
		c.V, c.R, c.S = n[0], n[1], n[2]
		return types.NewTx(&c)
	case *types.BlobTx:
		c := *d
		c.V, c.R, c.S = within(n[0]), within(n[1]), within(n[2])
		return types.NewTx(&c)
	}
	c := *data.(*types.SetCodeTx)
	c.V, c.R, c.S = within(n[0]), within(n[1]), within(n[2])
	return types.NewTx(&c)
}

// within returns the low 256 bits.
func within(n *big.Int) *uint256.Int {
	u, _ := uint256.FromBig(n)
	return u
}

// The state transition of go-ethereum doesn't recover a sender anew.
func TestSendersAreRemembered(t *testing.T) {
	all, _ := keys(t)
	config := params.AllDevChainProtocolChanges
	signer, theirs := LatestSigner(config), types.LatestSigner(config)
	if !signer.Equal(theirs) || !signer.Equal(LatestSigner(config)) || signer.Equal(types.HomesteadSigner{}) || signer.Equal(LatestSigner(params.MainnetChainConfig)) {
		t.Error("other signers are equal")
	}
	tx := types.MustSignNewTx(all[0], theirs, &types.DynamicFeeTx{ChainID: config.ChainID, GasFeeCap: big.NewInt(1)})
	if _, err := types.Sender(signer, tx); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() { types.Sender(theirs, tx) }); n != 0 {
		t.Errorf("the sender was recovered again, with %v allocations", n)
	}
}

func BenchmarkRecover(b *testing.B) {
	key, err := NewKey(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		b.Fatal(err)
	}
	hash := bytes.Repeat([]byte{7}, 32)
	signature, err := Sign(hash, key)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			Recover(hash, signature[:])
		}
	})
	b.Run("go-ethereum", func(b *testing.B) {
		for b.Loop() {
			crypto.Ecrecover(hash, signature[:])
		}
	})
}
