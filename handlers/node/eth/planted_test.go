package eth_test

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/verify/verifytest"
)

// nodeBlock is the part of a block that these clients read.
type nodeBlock struct {
	Number, BaseFeePerGas *hexutil.Big
	StateRoot             common.Hash
	SettledHeight         *hexutil.Big
	Transactions          []common.Hash
}

func blockAt(d *nodetest.Chain, tag string) (b nodeBlock) {
	d.Helper()
	d.Call(&b, "eth_getBlockByNumber", tag, false)
	return b
}

// nodeReceipt is the part of a receipt that these clients read.
type nodeReceipt struct{ BlockNumber, GasUsed, EffectiveGasPrice *hexutil.Big }

func receiptOf(d *nodetest.Chain, hash common.Hash) (r *nodeReceipt) {
	d.Helper()
	d.Call(&r, "eth_getTransactionReceipt", hash)
	return r
}

// paysWith sends a transfer with a gas limit and a tip of one wei, and returns its receipt.
func paysWith(d *nodetest.Chain, gas uint64) *nodeReceipt {
	d.Helper()
	return receiptOf(d, d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &someone, Value: big.NewInt(1), Gas: gas}))
}

// feeFromTheHeader takes the price of gas from the block instead of the receipt.
func feeFromTheHeader(d *nodetest.Chain) string {
	greedy, limit := common.HexToAddress("0x94eed1"), d.Head().Header.GasLimit
	d.Text("anvil_setCode", greedy, "0xfe")    // INVALID uses all gas at once
	for d.Head().Header.BaseFee.Int64() < 20 { // others use all the gas there is, until it costs more than the minimum price
		d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &greedy, Gas: limit})
	}
	paysWith(d, limit) // and this one asks for more gas than it uses
	r := paysWith(d, 21_000)
	want := new(big.Int).Add(blockAt(d, r.BlockNumber.String()).BaseFeePerGas.ToInt(), common.Big1)
	switch got := r.EffectiveGasPrice.ToInt(); got.Cmp(want) {
	case 0:
		return ""
	case -1:
		return "paid less than the header's base fee and the tip"
	default:
		return fmt.Sprintf("paid %d, more than %d", got, want)
	}
}

// proofAgainstItsOwnHeader checks a proof of the newest block with the state root of that block.
func proofAgainstItsOwnHeader(d *nodetest.Chain) string {
	r := paysWith(d, 21_000)
	err := proves(d, r.BlockNumber.String(), blockAt(d, r.BlockNumber.String()).StateRoot)
	if err == nil {
		return ""
	}
	// The root that fits is in the header that settles the block.
	d.Text("evm_increaseTime", "0x6")
	d.Text("evm_mine")
	settling := blockAt(d, "latest")
	for settling.Number.ToInt().Cmp(r.BlockNumber.ToInt()) > 0 && settling.SettledHeight.ToInt().Cmp(r.BlockNumber.ToInt()) != 0 {
		settling = blockAt(d, hexutil.EncodeBig(new(big.Int).Sub(settling.Number.ToInt(), common.Big1)))
	}
	if right := proves(d, r.BlockNumber.String(), settling.StateRoot); right != nil {
		return fmt.Sprintf("the proof of block %s does not fit block %s, which settles it: %v", r.BlockNumber, settling.Number, right)
	}
	return "the proof does not fit the state root"
}

// proves checks the proof of alice's account at a block with a state root.
func proves(d *nodetest.Chain, block string, root common.Hash) error {
	d.Helper()
	var proof struct {
		AccountProof   []hexutil.Bytes
		Balance, Nonce *hexutil.Big
	}
	d.Call(&proof, "eth_getProof", d.From, []string{}, block)
	nodes := memorydb.New()
	for _, node := range proof.AccountProof {
		if err := nodes.Put(crypto.Keccak256(node), node); err != nil {
			d.Fatal(err)
		}
	}
	value, err := trie.VerifyProof(root, crypto.Keccak256(d.From[:]), nodes)
	if err != nil {
		return err
	}
	var fields []rlp.RawValue // a C-Chain's account has a fifth field
	if err := rlp.DecodeBytes(value, &fields); err != nil {
		return err
	}
	balance, err := rlp.EncodeToBytes(proof.Balance.ToInt())
	if err != nil || !bytes.Equal(fields[1], balance) {
		return fmt.Errorf("balance %x, the proof has %x: %w", balance, fields[1], err)
	}
	return nil
}

// finalizedIsTheNewest expects the newest block to be final and nothing to follow it.
func finalizedIsTheNewest(d *nodetest.Chain) string {
	r := paysWith(d, 21_000)
	switch final := blockAt(d, "finalized"); final.Number.ToInt().Cmp(r.BlockNumber.ToInt()) {
	case 0:
		return ""
	case -1:
		if safe := blockAt(d, "safe"); safe.Number.String() != final.Number.String() {
			return fmt.Sprintf("safe is %s, finalized is %s", safe.Number, final.Number)
		}
		return "finalized is behind the receipt"
	default:
		return "finalized is ahead of the receipt"
	}
}

// roundGasLimit sends with a round gas limit instead of an estimate, and expects to pay for what it used.
func roundGasLimit(d *nodetest.Chain) string {
	switch r := paysWith(d, 4_000_001); r.GasUsed.ToInt().Uint64() {
	case 21_000:
		return ""
	case 2_000_001:
		return "half of the gas limit was charged"
	default:
		return fmt.Sprintf("%s gas was charged", r.GasUsed)
	}
}

// TestPlantedClients runs clients with assumptions that Helicon ended. Each works on a C-Chain before Helicon and on an L1, and fails on a C-Chain
// since, as on the network.
func TestPlantedClients(t *testing.T) {
	t.Parallel()
	before, since := seedtest.Copy(t, 1, "helicon=never"), seedtest.Copy(t, 1)
	c, l1 := since.Networks[0].CChain(), since.Chains[len(since.Chains)-1]
	for _, client := range []struct {
		name  string
		run   func(*nodetest.Chain) string
		since string // what happens to it on a C-Chain since Helicon
	}{
		{"fee from the header", feeFromTheHeader, "paid less than the header's base fee and the tip"},
		{"proof against its own header", proofAgainstItsOwnHeader, "the proof does not fit the state root"},
		{"finalized is the newest", finalizedIsTheNewest, "finalized is behind the receipt"},
		{"round gas limit", roundGasLimit, "half of the gas limit was charged"},
	} {
		t.Run(client.name, func(t *testing.T) {
			for _, on := range []struct {
				name, want string
				*nodetest.Chain
			}{
				{"before", "", nodetest.Open(t, before, before.Networks[0].CChain())}, {"since", client.since, nodetest.Open(t, since, c)}, {"L1", "", nodetest.Open(t, since, l1)},
			} {
				if got := client.run(on.Chain); got != on.want {
					t.Errorf("%s: %q, want %q", on.name, got, on.want)
				}
			}
		})
	}
	verifytest.Sound(t, since)
	verifytest.Sound(t, before)
}
