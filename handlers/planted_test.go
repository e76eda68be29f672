// Clients with assumptions that Helicon ended. Each works on a C-Chain before Helicon and on an L1, and fails on a C-Chain since, as on the network.

package handlers_test

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"snowglobe/seed/seedtest"
)

// nodeBlock is the part of a block that these clients read.
type nodeBlock struct {
	Number, BaseFeePerGas *hexutil.Big
	StateRoot             common.Hash
	SettledHeight         *hexutil.Big
	Transactions          []common.Hash
}

func (d *devnet) blockAt(tag string) (b nodeBlock) {
	d.Helper()
	d.call(&b, "eth_getBlockByNumber", tag, false)
	return b
}

// nodeReceipt is the part of a receipt that these clients read.
type nodeReceipt struct{ BlockNumber, GasUsed, EffectiveGasPrice *hexutil.Big }

func (d *devnet) receiptOf(hash common.Hash) (r *nodeReceipt) {
	d.Helper()
	d.call(&r, "eth_getTransactionReceipt", hash)
	return r
}

// paysWith sends a transfer with a gas limit and a tip of one wei, and returns its receipt.
func (d *devnet) paysWith(gas uint64) *nodeReceipt {
	d.Helper()
	return d.receiptOf(d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(1), Gas: gas}))
}

// feeFromTheHeader takes the price of gas from the block instead of the receipt.
func feeFromTheHeader(d *devnet) string {
	greedy, limit := common.HexToAddress("0x94eed1"), d.head().GasLimit
	d.text("anvil_setCode", greedy, "0xfe") // INVALID uses all gas at once
	for d.head().BaseFee.Int64() < 20 {     // others use all the gas there is, until it costs more than the minimum price
		d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &greedy, Gas: limit})
	}
	d.paysWith(limit) // and this one asks for more gas than it uses
	r := d.paysWith(21_000)
	want := new(big.Int).Add(d.blockAt(r.BlockNumber.String()).BaseFeePerGas.ToInt(), common.Big1)
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
func proofAgainstItsOwnHeader(d *devnet) string {
	r := d.paysWith(21_000)
	err := d.proves(r.BlockNumber.String(), d.blockAt(r.BlockNumber.String()).StateRoot)
	if err == nil {
		return ""
	}
	// The root that fits is in the header that settles the block.
	d.text("evm_increaseTime", "0x6")
	d.text("evm_mine")
	settling := d.blockAt("latest")
	for settling.Number.ToInt().Cmp(r.BlockNumber.ToInt()) > 0 && settling.SettledHeight.ToInt().Cmp(r.BlockNumber.ToInt()) != 0 {
		settling = d.blockAt(hexutil.EncodeBig(new(big.Int).Sub(settling.Number.ToInt(), common.Big1)))
	}
	if right := d.proves(r.BlockNumber.String(), settling.StateRoot); right != nil {
		return fmt.Sprintf("the proof of block %s does not fit block %s, which settles it: %v", r.BlockNumber, settling.Number, right)
	}
	return "the proof does not fit the state root"
}

// proves checks the proof of alice's account at a block with a state root.
func (d *devnet) proves(block string, root common.Hash) error {
	d.Helper()
	var proof struct {
		AccountProof   []hexutil.Bytes
		Balance, Nonce *hexutil.Big
	}
	d.call(&proof, "eth_getProof", d.from, []string{}, block)
	nodes := memorydb.New()
	for _, node := range proof.AccountProof {
		if err := nodes.Put(crypto.Keccak256(node), node); err != nil {
			d.Fatal(err)
		}
	}
	value, err := trie.VerifyProof(root, crypto.Keccak256(d.from[:]), nodes)
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
func finalizedIsTheNewest(d *devnet) string {
	r := d.paysWith(21_000)
	switch final := d.blockAt("finalized"); final.Number.ToInt().Cmp(r.BlockNumber.ToInt()) {
	case 0:
		return ""
	case -1:
		if safe := d.blockAt("safe"); safe.Number.String() != final.Number.String() {
			return fmt.Sprintf("safe is %s, finalized is %s", safe.Number, final.Number)
		}
		return "finalized is behind the receipt"
	default:
		return "finalized is ahead of the receipt"
	}
}

// roundGasLimit sends with a round gas limit instead of an estimate, and expects to pay for what it used.
func roundGasLimit(d *devnet) string {
	switch r := d.paysWith(4_000_001); r.GasUsed.ToInt().Uint64() {
	case 21_000:
		return ""
	case 2_000_001:
		return "half of the gas limit was charged"
	default:
		return fmt.Sprintf("%s gas was charged", r.GasUsed)
	}
}

// TestPlantedClients runs each client on every kind of chain.
func TestPlantedClients(t *testing.T) {
	t.Parallel()
	before, since := seedtest.Copy(t, 1, "helicon=never"), tinyWorld(t)
	c, l1 := since.Networks[0].CChain(), since.Chains[len(since.Chains)-1]
	for _, client := range []struct {
		name  string
		run   func(*devnet) string
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
				*devnet
			}{
				{"before", "", newDevnet(t, before, before.Networks[0].CChain())}, {"since", client.since, newDevnet(t, since, c)}, {"L1", "", newDevnet(t, since, l1)},
			} {
				if got := client.run(on.devnet); got != on.want {
					t.Errorf("%s: %q, want %q", on.name, got, on.want)
				}
			}
		})
	}
	t.Run("eth_accounts under --strict", func(t *testing.T) {
		for helicon, want := range map[bool]string{false: `"result":[]`, true: `"error":{"code":-32601,"message":"the method eth_accounts does not exist/is not available"}`} {
			h := strictServer(t, helicon, "--strict=all")
			if got := ask(h, "POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_accounts","params":[]}`); !strings.Contains(got, want) {
				t.Errorf("since Helicon %t: %s, want %s", helicon, got, want)
			}
		}
	})
	newDevnet(t, since, c).verify()
	newDevnet(t, before, before.Networks[0].CChain()).verify()
}
