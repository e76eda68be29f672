package verify_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// TestVersionsOfTriesAreVerified damages what the file has for proofs of old states of a chain with large tries.
func TestVersionsOfTriesAreVerified(t *testing.T) {
	for _, c := range []struct{ damage, where string }{
		{"UPDATE trie_version SET hashes = hashes", ""},
		{"DELETE FROM trie_version", ""}, // proofs do without them
		{"DELETE FROM trie_version WHERE block = 3", "block 3: versions of the trie of 0x"},
		{"DELETE FROM trie_version WHERE whole = 1", "block 1: versions of the trie of 0x"},
		{"UPDATE trie_version SET hashes = CAST(substr(hashes, 1, 1) || zeroblob(32) || substr(hashes, 34) AS BLOB) WHERE block = 4", "block 4: versions of the trie of 0x"},
		{"UPDATE trie_version SET hashes = CAST(substr(hashes, 34) AS BLOB) WHERE block = 0", "block 0: versions of the trie of 0x"},
		{"UPDATE trie_version SET chain = 2 WHERE block = 5", "block 5: versions of the trie of 0x"},
		{"UPDATE trie_version SET owner = zeroblob(20) WHERE block = 5 AND length(owner) = 0", "block 5: versions of the trie of 0x"},
		{"UPDATE trie_version SET block = 100 WHERE block = 5", "block 5: versions of the trie of 0x"},
		{"UPDATE trie_version SET whole = 1 WHERE block = 5", "block 5: versions of the trie of 0x"},
		{"UPDATE trie_version SET whole = 0 WHERE block = 0", "block 0: versions of the trie of 0x"},
		{"UPDATE past_key SET chain = 2", "keys that the trie of 0x"},
		{"UPDATE past_key SET owner = zeroblob(20) WHERE length(owner) = 20", "keys that the trie of 0x"},
		{"UPDATE past_key SET prefix = X'0F0F' WHERE length(prefix) = 2", "keys that the trie of 0x"},
		{"UPDATE past_key SET keys = CAST(substr(keys, 1, length(keys) - 1) || X'EE' AS BLOB) WHERE length(prefix) = 0", "keys that the trie of 0x"},
		{"UPDATE past_key SET keys = CAST(X'EE' || substr(keys, 2) AS BLOB) WHERE length(prefix) = 2", "keys that the trie of 0x"},
		{"DELETE FROM past_key WHERE length(prefix) = 2", "keys that the trie of 0x"},
		{"DELETE FROM past_key WHERE length(prefix) = 0", "keys that the trie of 0x"},
	} {
		db, chain := largeChain(t)
		if batch, err := db.Begin(); err != nil || batch.End(store.Exec(batch, c.damage)) != nil {
			t.Fatal(err)
		}
		err := verify.VerifyChain(t.Context(), db, chain, func(*store.Delta) {})
		if c.where == "" && err != nil || c.where != "" && (err == nil || !strings.Contains(err.Error(), c.where)) {
			t.Errorf("after %s: %v", c.damage, err)
		}
	}
}

// largeChain is a chain that begins with many accounts, and with almost as many slots of a contract as make a large trie; the contract
// clears one of them and sets others.
func largeChain(t *testing.T) (*store.DB, *reader.Chain) {
	const leaves = 1600
	keeper := common.HexToAddress("0x5e11")
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("sender")))
	if err != nil {
		t.Fatal(err)
	}
	from := crypto.PubkeyToAddress(key.PublicKey)
	genesis := &evm.Genesis{Kind: evm.KindL1, ChainID: 43114, Timestamp: 1_775_000_000,
		Precompiles: precompile.Upgrades{FeeConfig: precompile.NewFeeConfig(15_000_000, 1, 1_000_000)},
		Alloc:       types.GenesisAlloc{from: {Balance: new(big.Int).Lsh(big.NewInt(1), 96)}}}
	slots := map[common.Hash]common.Hash{}
	for i := range int64(leaves) {
		genesis.Alloc[common.BigToAddress(big.NewInt(1<<32+i))] = types.Account{Balance: big.NewInt(1)}
		if i < 1534 { // two are wanting for versions
			slots[common.BigToHash(big.NewInt(100+i))] = common.Hash{1}
		}
	}
	genesis.Alloc[keeper] = types.Account{Nonce: 1, Code: common.FromHex("6000356020355500"), Storage: slots, Balance: new(big.Int)}
	raw, upgrades, err := genesis.Encode()
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Create(store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	row := store.Chain{ID: 1, Network: "mainnet", EVMID: 43114, BlockchainID: make([]byte, 32), SubnetID: make([]byte, 32), VMID: make([]byte, 32),
		Kind: string(genesis.Kind), Genesis: raw, Upgrades: upgrades}
	batch, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	b, delta, err := evm.NewBuilder(1, genesis)
	if err == nil {
		err = batch.AddChain(row)
	}
	for n := int64(0); err == nil; n++ {
		if err = batch.AddBlock(delta); err != nil || n == 8 {
			break
		}
		value, slot := 1+n, 1+n
		if n == 5 {
			value, slot = 0, 100
		}
		delta, err = nextBlock(b, func(nonce uint64) *types.Transaction {
			return types.MustSignNewTx(key, types.LatestSignerForChainID(big.NewInt(43114)), &types.DynamicFeeTx{
				ChainID: big.NewInt(43114), Nonce: nonce, To: &keeper, Gas: 100_000, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12),
				Data: append(common.BigToHash(big.NewInt(value)).Bytes(), common.BigToHash(big.NewInt(slot)).Bytes()...),
			})
		}, from)
	}
	if err == nil {
		err = batch.AddTrieChanges(1, b.LargeTries())
	}
	if err := batch.End(err); err != nil {
		t.Fatal(err)
	}
	chain, err := reader.NewChain(db, row)
	if err != nil {
		t.Fatal(err)
	}
	return db, chain
}

func nextBlock(b *evm.Builder, sign func(nonce uint64) *types.Transaction, from common.Address) (*store.Delta, error) {
	head, _ := b.Head()
	p, err := b.Open(head.EarliestChild() + 2000)
	if err != nil {
		return nil, err
	}
	if _, err := p.Apply(sign(p.Nonce(from)), from); err != nil {
		return nil, err
	}
	return p.Seal()
}
