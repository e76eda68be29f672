package reader_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/trie"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

func hexData(code string) *hexutil.Bytes {
	raw := hexutil.Bytes(common.FromHex(strings.ReplaceAll(code, " ", "")))
	return &raw
}

func hexBig(n int64) *hexutil.Big        { return (*hexutil.Big)(big.NewInt(n)) }
func hexNumber(n uint64) *hexutil.Uint64 { return (*hexutil.Uint64)(&n) }

// returning is code that returns what an opcode pushes.
func returning(op string) *hexutil.Bytes { return hexData(op + "5f52 6020 5f f3") }

// wordOf reads a result's only word.
func wordOf(raw []byte) string { return common.BytesToHash(raw).Big().String() }

// TestSimulatedBlocksFollowEachOther: gaps are filled, times grow by twelve seconds, a block knows the hashes of those before it, and its header names
// its transactions and receipts.
func TestSimulatedBlocksFollowEachOther(t *testing.T) {
	for _, kind := range []evm.Kind{evm.KindL1, evm.KindC} {
		c, head := newPaidChain(t, kind)
		const start = 1_775_000_010
		code := map[string]common.Address{}
		state := reader.StateOverrides{}
		for i, op := range []string{"43", "42", "48", "45", "41", "6001 43 03 40", "6003 40"} { // NUMBER, TIMESTAMP, BASEFEE, GASLIMIT, COINBASE, BLOCKHASH
			address := common.BigToAddress(big.NewInt(int64(0xcc00 + i)))
			code[op], state[address] = address, reader.AccountOverride{Code: returning(op)}
		}
		call := func(op string) reader.Call { to := code[op]; return reader.Call{From: &c.from, To: &to} }
		miner := common.HexToAddress("0xfee")
		random := reader.Word{31: 9}
		made, err := c.Simulate(t.Context(), head, reader.Simulation{Blocks: []reader.BlockCalls{
			{State: state, Calls: []reader.Call{call("43"), call("42"), call("48"), call("45"), call("6001 43 03 40")}},
			{Block: &reader.BlockOverrides{Number: hexBig(5)}, Calls: []reader.Call{call("43"), call("42"), call("6001 43 03 40"), call("6003 40")}},
			{Block: &reader.BlockOverrides{Time: hexNumber(start + 100), FeeRecipient: &miner, GasLimit: hexNumber(1_000_000), BaseFeePerGas: hexBig(7), PrevRandao: &random}, Calls: []reader.Call{call("42"), call("41"), call("45"), call("48")}},
			{Calls: []reader.Call{call("42"), call("41"), call("48")}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, b := range made {
			line := fmt.Sprint(b.Number, " +", b.Header.Time-start)
			for j, call := range b.Calls {
				if call.Err != nil {
					t.Fatal(call.Err)
				}
				result := wordOf(call.ReturnData)
				for _, other := range append([]*reader.SimulatedBlock{{Block: head}}, made...) {
					if common.BytesToHash(call.ReturnData) == other.Hash {
						result = fmt.Sprint("hash of ", other.Number)
					}
				}
				if nonce := b.Transactions[j].Nonce(); i == 0 && nonce != uint64(1+j) {
					t.Errorf("call %d has nonce %d", j, nonce)
				}
				line += " | " + result
			}
			got = append(got, line)
		}
		limit := made[0].Header.GasLimit
		want := []string{
			fmt.Sprintf("2 +12 | 2 | %d | 0 | %d | hash of 1", start+12, limit),
			"3 +24", "4 +36",
			fmt.Sprintf("5 +48 | 5 | %d | hash of 4 | hash of 3", start+48),
			fmt.Sprintf("6 +100 | %d | %d | 1000000 | 7", start+100, miner.Big()),
			fmt.Sprintf("7 +112 | %d | %d | 0", start+112, miner.Big()),
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", kind, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		parent := head
		for _, b := range made {
			var transactions types.Transactions
			used, size := uint64(0), len(b.Row.Header)
			for i, tx := range b.Transactions {
				transactions = append(transactions, tx.Transaction)
				used += b.Calls[i].UsedGas
				raw, err := tx.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				size += len(raw)
				if tx.Sender != c.from || tx.Row.GasUsed != b.Calls[i].UsedGas || tx.Index() != i {
					t.Errorf("block %d: transaction %d is %+v", b.Number, i, tx)
				}
			}
			h := b.Header
			if h.ParentHash != parent.Hash || h.GasUsed != used || h.TxHash != types.DeriveSha(transactions, trie.NewStackTrie(nil)) || b.Size != size || b.Row.Txs != len(transactions) || crypto.Keccak256Hash(b.Row.Header) != b.Hash {
				t.Errorf("%s: block %d: %+v, %d bytes, want %d", kind, b.Number, h, b.Size, size)
			}
			parent = b.Block
		}
		if mix := made[4].Header.MixDigest; mix != (common.Hash{31: 9}) {
			t.Errorf("%s: the chosen random is %s", kind, mix)
		}
	}
}

// TestSimulationsAreRefused has go-ethereum's errors and codes.
func TestSimulationsAreRefused(t *testing.T) {
	c, head := newPaidChain(t, evm.KindL1)
	poor := common.HexToAddress("0xdead1")
	block := func(o *reader.BlockOverrides, calls ...reader.Call) reader.BlockCalls {
		return reader.BlockCalls{Block: o, Calls: calls}
	}
	for name, s := range map[string]struct {
		blocks   []reader.BlockCalls
		validate bool
		code     int
		text     string
	}{
		"the same number":    {[]reader.BlockCalls{block(&reader.BlockOverrides{Number: hexBig(1)})}, false, -38020, "block numbers must be in order: 1 <= 1"},
		"an earlier number":  {[]reader.BlockCalls{block(&reader.BlockOverrides{Number: hexBig(5)}), block(&reader.BlockOverrides{Number: hexBig(4)})}, false, -38020, "block numbers must be in order: 4 <= 5"},
		"too many blocks":    {[]reader.BlockCalls{block(&reader.BlockOverrides{Number: hexBig(258)})}, false, -38026, "too many blocks"},
		"the same time":      {[]reader.BlockCalls{block(&reader.BlockOverrides{Time: hexNumber(1_775_000_010)})}, false, -38021, "block timestamps must be in order: 1775000010 <= 1775000010"},
		"a time in a gap":    {[]reader.BlockCalls{block(&reader.BlockOverrides{Number: hexBig(3), Time: hexNumber(1_775_000_022)})}, false, -38021, "block timestamps must be in order: 1775000022 <= 1775000022"},
		"the far future":     {[]reader.BlockCalls{block(&reader.BlockOverrides{Time: hexNumber(1 << 60)})}, false, -38021, "is too far in the future"},
		"more than a block":  {[]reader.BlockCalls{block(nil, reader.Call{From: &c.from, To: &nobody}, reader.Call{From: &c.from, To: &nobody, Gas: hexNumber(14_979_001)})}, false, -38015, "block gas limit reached: remaining: 14979000, required: 14979001"},
		"a lower nonce":      {[]reader.BlockCalls{block(nil, reader.Call{From: &c.from, To: &nobody, Nonce: hexNumber(0), MaxFeePerGas: hexBig(1e9)})}, true, -38010, "nonce too low"},
		"a higher nonce":     {[]reader.BlockCalls{block(nil, reader.Call{From: &c.from, To: &nobody, Nonce: hexNumber(3), MaxFeePerGas: hexBig(1e9)})}, true, -38011, "nonce too high"},
		"no fee":             {[]reader.BlockCalls{block(nil, reader.Call{From: &c.from, To: &nobody})}, true, -38012, "max fee per gas less than block base fee"},
		"a tip above all":    {[]reader.BlockCalls{block(nil, reader.Call{From: &c.from, To: &nobody, MaxFeePerGas: hexBig(1e9), MaxPriorityFeePerGas: hexBig(2e9)})}, true, -32602, "max priority fee per gas higher than max fee per gas"},
		"too little gas":     {[]reader.BlockCalls{block(nil, reader.Call{From: &c.from, To: &nobody, Gas: hexNumber(20_999)})}, false, -38013, "intrinsic gas too low"},
		"no funds":           {[]reader.BlockCalls{block(nil, reader.Call{From: &poor, To: &nobody, Value: hexBig(1)})}, false, -38014, "insufficient funds"},
		"both styles":        {[]reader.BlockCalls{block(nil, reader.Call{From: &c.from, GasPrice: hexBig(1), MaxFeePerGas: hexBig(1)})}, false, -32602, "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified"},
		"another chain":      {[]reader.BlockCalls{block(nil, reader.Call{From: &c.from, ChainID: hexBig(7)})}, false, -32602, "chainId does not match node's (have=7, want=43114)"},
		"too much init code": {[]reader.BlockCalls{block(nil, reader.Call{From: &c.from, Input: hexData(strings.Repeat("00", 49_153)), MaxFeePerGas: hexBig(1e9)})}, true, -38025, "max initcode size exceeded"},
		"a vast base fee":    {[]reader.BlockCalls{block(&reader.BlockOverrides{BaseFee: (*hexutil.Big)(new(big.Int).Lsh(big.NewInt(1), 256))})}, false, -32602, "baseFeePerGas does not fit 256 bits"},
	} {
		_, err := c.Simulate(t.Context(), head, reader.Simulation{Blocks: s.blocks, Validate: s.validate})
		var refused *reader.SimulationError
		if !errors.As(err, &refused) || refused.ErrorCode() != s.code || !strings.Contains(refused.Error(), s.text) {
			t.Errorf("%s: %v, want %d %s", name, err, s.code, s.text)
		}
	}
	if made, err := c.Simulate(t.Context(), head, reader.Simulation{Blocks: []reader.BlockCalls{block(&reader.BlockOverrides{Number: hexBig(257)})}}); err != nil || len(made) != 256 {
		t.Errorf("256 blocks: %d %v", len(made), err)
	}
	exact := []reader.BlockCalls{block(nil, reader.Call{From: &c.from, To: &nobody}, reader.Call{From: &c.from, To: &nobody, Gas: hexNumber(14_979_000)})}
	if _, err := c.Simulate(t.Context(), head, reader.Simulation{Blocks: exact}); err != nil {
		t.Errorf("all that is left of a block: %v", err)
	}
	c.Limits.Gas = 60_000
	many := make([]reader.Call, 3)
	for i := range many {
		many[i] = reader.Call{From: &c.from, To: &nobody, Gas: hexNumber(30_000)}
	}
	made, err := c.Simulate(t.Context(), head, reader.Simulation{Blocks: []reader.BlockCalls{block(nil, many[:2]...)}})
	if err != nil || made[0].Calls[0].Capped || made[0].Calls[1].Capped || made[0].Transactions[1].Gas() != 30_000 {
		t.Errorf("%+v %v", made, err)
	}
	many[0], many[1].Gas = reader.Call{From: &c.from, To: &nobody}, hexNumber(40_000)
	if made, err = c.Simulate(t.Context(), head, reader.Simulation{Blocks: []reader.BlockCalls{block(nil, many[:2]...)}}); err != nil || !made[0].Calls[0].Capped || !made[0].Calls[1].Capped || made[0].Transactions[1].Gas() != 39_000 {
		t.Errorf("a limit for all calls: %v", err)
	}
}

// TestSimulatedLogs: indices count through a block, those of reverted calls are free again, and coins that move are logs on request.
func TestSimulatedLogs(t *testing.T) {
	c := newChosenChain(t, evm.KindL1, false)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	logging, reverting, calling, delegated := common.HexToAddress("0xa1"), common.HexToAddress("0xa2"), common.HexToAddress("0xa3"), common.HexToAddress("0xa4")
	state := reader.StateOverrides{
		logging:   {Code: hexData("602a 5f52 6007 6020 5f a1 00")},
		reverting: {Code: hexData("5f5f a0 5f5f5f5f 6001 60a1 5af1 5f5f fd"), Balance: hexBig(9)},
		// a log, a reverted call with a log and a transfer inside, a transfer of two to the first, a log by delegation, and a log
		calling:   {Code: hexData("6001 5f5f a1 5f5f5f5f 5f 60a2 5af1 5f5f5f5f 6002 60a1 5af1 5f5f5f5f 60a4 5af4 6003 5f5f a1 00"), Balance: hexBig(9)},
		delegated: {Code: hexData("6004 5f5f a1 00")},
	}
	call := func(to common.Address, value int64) reader.Call {
		return reader.Call{From: &c.from, To: &to, Value: hexBig(value)}
	}
	coin := common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
	for transfers, want := range map[bool]string{
		false: "0/0 a1 [7]; 1/1 a3 [1]; 1/2 a1 [7]; 1/3 a3 [4]; 1/4 a3 [3]; 3/5 a1 [7]; ",
		true:  "0/0 coin FROM>a1 5; 0/1 a1 [7]; 1/2 a3 [1]; 1/3 coin a3>a1 2; 1/4 a1 [7]; 1/5 a3 [4]; 1/6 a3 [3]; 3/7 coin FROM>a1 1; 3/8 a1 [7]; ",
	} {
		made, err := c.Simulate(t.Context(), head, reader.Simulation{TraceTransfers: transfers, Blocks: []reader.BlockCalls{{State: state, Calls: []reader.Call{call(logging, 5), call(calling, 0), call(reverting, 3), call(logging, 1)}}}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		b := made[0]
		for i, call := range b.Calls {
			for _, log := range call.Logs {
				if log.BlockHash != b.Hash || log.BlockNumber != 1 || log.BlockTimestamp != b.Header.Time || log.TxHash != b.Transactions[i].Hash() || log.TxIndex != uint(i) {
					t.Errorf("%+v", log)
				}
				got += fmt.Sprintf("%d/%d ", i, log.Index)
				if log.Address == coin {
					name := func(word common.Hash) string {
						if a := common.BytesToAddress(word[:]); a != c.from {
							return fmt.Sprintf("%x", a.Big())
						}
						return "FROM"
					}
					if log.Topics[0] != crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)")) || len(log.Topics) != 3 {
						t.Errorf("%+v", log)
					}
					got += fmt.Sprintf("coin %s>%s %s; ", name(log.Topics[1]), name(log.Topics[2]), wordOf(log.Data))
					continue
				}
				got += fmt.Sprintf("%x [%s]; ", log.Address.Big(), wordOf(log.Topics[0][:]))
			}
		}
		if got != want {
			t.Errorf("transfers %t:\n%s\nwant\n%s", transfers, got, want)
		}
		if b.Calls[0].Failed() || !b.Calls[2].Failed() {
			t.Error("only the call that reverts fails")
		}
	}
}

// TestBundlesRunOneAfterTheOther: each call on the state that the last one left, each bundle a block and a second later, with chosen hashes.
func TestBundlesRunOneAfterTheOther(t *testing.T) {
	c, head := newPaidChain(t, evm.KindL1)
	counter := common.HexToAddress("0xa1")
	o := reader.Overrides{State: reader.StateOverrides{
		counter: {Code: hexData("5f54 6001 01 80 5f55 5f52 6020 5f f3")}, {19: 0xa2}: {Code: returning("43")}, {19: 0xa3}: {Code: returning("42")}, {19: 0xa4}: {Code: returning("6001 40")}, {19: 0xa5}: {Code: returning("5f 40")},
	}}
	var all []reader.Call
	for i := range byte(5) {
		all = append(all, reader.Call{From: &c.from, To: &common.Address{19: 0xa1 + i}})
	}
	results, err := c.CallMany(t.Context(), head, o, []reader.Bundle{
		{Calls: all}, {Calls: all, Hashes: map[uint64]common.Hash{0: {31: 77}}}, {Calls: all[:3], Block: &reader.BlockOverrides{Number: hexBig(50), Time: hexNumber(60)}}, {Calls: all[:3]},
	}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Block(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, of := range results {
		for _, r := range of {
			switch word := common.BytesToHash(r.ReturnData); word {
			case first.Hash:
				got += "first "
			case head.Hash:
				got += "head "
			default:
				got += word.Big().String() + " "
			}
		}
		got += "| "
	}
	if want := "1 1 1775000010 0 first | 2 2 1775000011 head 77 | 3 50 60 | 4 51 61 | "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	_, err = c.CallMany(t.Context(), head, o, []reader.Bundle{{}, {Calls: []reader.Call{{}, {GasPrice: hexBig(1), MaxFeePerGas: hexBig(1)}}}}, time.Second)
	if err == nil || err.Error() != "bundle 1, transaction 1: both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified" {
		t.Error(err)
	}
}

// TestSignedTransactionsOnTop: what each pays the coinbase, on the state that the last one left, within the gas of a block.
func TestSignedTransactionsOnTop(t *testing.T) {
	c, head := newPaidChain(t, evm.KindL1)
	miner := common.HexToAddress("0xfee")
	sign := func(nonce, gas uint64, tip, value int64, to common.Address) reader.Signed {
		tx := types.MustSignNewTx(c.key, types.LatestSignerForChainID(big.NewInt(43114)), &types.DynamicFeeTx{ChainID: big.NewInt(43114), Nonce: nonce, GasTipCap: big.NewInt(tip), GasFeeCap: big.NewInt(1000), Gas: gas, To: &to, Value: big.NewInt(value)})
		return reader.Signed{Transaction: tx, Sender: c.from}
	}
	o := &reader.BlockOverrides{Coinbase: &miner, BaseFee: hexBig(10), GasLimit: hexNumber(100_000)}
	results, err := c.CallSigned(t.Context(), head, o, []reader.Signed{sign(1, 21_000, 5, 3, nobody), sign(2, 30_000, 7, 11, miner)}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][3]int64{{21_000, 15, 21_000 * 15}, {21_000, 17, 21_000*17 + 11}} {
		if r := results[i]; int64(r.UsedGas) != want[0] || r.Price.Int64() != want[1] || r.Paid.Int64() != want[2] {
			t.Errorf("transaction %d: %d gas at %d, %d paid; want %d", i, r.UsedGas, r.Price, r.Paid, want)
		}
	}
	for text, all := range map[string][]reader.Signed{
		"nonce too high":    {sign(2, 21_000, 0, 0, nobody)},
		"nonce too low":     {sign(1, 21_000, 0, 0, nobody), sign(1, 21_000, 0, 0, nobody)},
		"gas limit reached": {sign(1, 90_000, 0, 0, nobody), sign(2, 79_001, 0, 0, nobody)},
	} {
		last := len(all) - 1
		if _, err := c.CallSigned(t.Context(), head, o, all, time.Second); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("transaction %d, %s: ", last, all[last].Hash())) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := c.CallSigned(t.Context(), head, o, []reader.Signed{sign(1, 90_000, 0, 0, nobody), sign(2, 79_000, 0, 0, nobody)}, time.Second); err != nil {
		t.Errorf("a full block: %v", err)
	}
}

// TestOverridesReachTheCode: a call sees each part of the block and of an account that a client replaced, by its older or newer name.
func TestOverridesReachTheCode(t *testing.T) {
	c, head := newPaidChain(t, evm.KindL1)
	for _, o := range []struct{ op, block, account, want string }{
		{"43", `{"number":"0x4d"}`, ``, "77"}, {"43", `{}`, ``, "1"}, {"42", `{"time":"0x4d"}`, ``, "77"}, {"42", `{}`, ``, "1775000010"},
		{"45", `{"gasLimit":"0x4d0000"}`, ``, "5046272"}, {"45", `{}`, ``, "15000000"},
		{"41", `{"coinbase":"0x000000000000000000000000000000000000004d"}`, ``, "77"}, {"41", `{"feeRecipient":"0x000000000000000000000000000000000000004d"}`, ``, "77"},
		{"48", `{"baseFee":"0x4d"}`, ``, "77"}, {"48", `{"baseFeePerGas":"0x4d"}`, ``, "77"}, {"48", `{"baseFee":"0x4c","baseFeePerGas":"0x4d"}`, ``, "77"},
		{"44", `{"random":"0x4d"}`, ``, "77"}, {"44", `{"prevRandao":"0X4d"}`, ``, "77"}, {"4a", `{"blobBaseFee":"0x4d"}`, ``, "77"},
		{"47", `{}`, `{"balance":"0x4d"}`, "77"}, {"5f54", `{}`, `{"state":{"0x0000000000000000000000000000000000000000000000000000000000000000":"0x000000000000000000000000000000000000000000000000000000000000004d"}}`, "77"},
		{"5f54", `{}`, `{"stateDiff":{"0x0000000000000000000000000000000000000000000000000000000000000000":"0x000000000000000000000000000000000000000000000000000000000000004d"}}`, "77"},
		{"5f5f5f f0", `{}`, `{"nonce":"0x7"}`, crypto.CreateAddress(bombAddress, 7).Big().String()},
		{"47", `{}`, `{"state":{},"stateDiff":{}}`, "account 0x0000000000000000000000000000000000000B0b has both 'state' and 'stateDiff'"},
		{"47", `{}`, `{"balance":"0x1` + strings.Repeat("0", 64) + `"}`, "hex number > 256 bits"},
		{"44", `{"random":"4d"}`, ``, "hex string without 0x prefix"}, {"44", `{"random":"0x` + strings.Repeat("0", 65) + `"}`, ``, "hex string has 65 digits: expected at most 64"},
		{"44", `{"random":"0x` + strings.Repeat("0", 62) + `4d"}`, ``, "77"},
	} {
		got := func() string {
			var block reader.BlockOverrides
			var account reader.AccountOverride
			if o.account != "" {
				if err := json.Unmarshal([]byte(o.account), &account); err != nil {
					return err.Error()
				}
			}
			if err := json.Unmarshal([]byte(o.block), &block); err != nil {
				return err.Error()
			}
			account.Code = returning(o.op)
			call := &reader.Call{From: &c.from, To: &bombAddress}
			if o.op == "48" {
				call.MaxFeePerGas = hexBig(100) // a call that offers nothing sees a base fee of zero
			}
			result, err := c.Call(t.Context(), head, call, reader.Overrides{Block: &block, State: reader.StateOverrides{bombAddress: account}})
			if err != nil {
				return err.Error()
			}
			return wordOf(result.ReturnData)
		}()
		if got != o.want && !strings.Contains(got, o.want) {
			t.Errorf("%s with %s %s: %s, want %s", o.op, o.block, o.account, got, o.want)
		}
	}
}

// TestPrecompilesThatMove: code at a precompile's address counts in a simulation only, as on a node, and a precompile runs where a client moved it.
func TestPrecompilesThatMove(t *testing.T) {
	c := newChosenChain(t, evm.KindL1, false)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	identity, elsewhere := common.Address{19: 4}, common.HexToAddress("0x1234")
	replaced := reader.StateOverrides{identity: {Code: returning("604d")}}
	moved := reader.StateOverrides{identity: {MovePrecompileTo: &elsewhere}}
	data := hexData("0102")
	for name, c2 := range map[string]struct {
		state     reader.StateOverrides
		to        common.Address
		call, sim string // what is returned
	}{
		"replaced":   {replaced, identity, "0102", common.Hash{31: 0x4d}.Hex()[2:]},
		"moved":      {moved, elsewhere, "0102", "0102"},
		"moved away": {moved, identity, "", ""},
		"as it was":  {nil, identity, "0102", "0102"},
	} {
		result, err := c.Call(t.Context(), head, &reader.Call{From: &c.from, To: &c2.to, Input: data}, reader.Overrides{State: c2.state})
		if err != nil || common.Bytes2Hex(result.ReturnData) != c2.call {
			t.Errorf("%s: a call: %+v %v", name, result, err)
		}
		made, err := c.Simulate(t.Context(), head, reader.Simulation{Blocks: []reader.BlockCalls{{State: c2.state, Calls: []reader.Call{{From: &c.from, To: &c2.to, Input: data}}}, {Calls: []reader.Call{{From: &c.from, To: &identity, Input: data}}}}})
		if err != nil || common.Bytes2Hex(made[0].Calls[0].ReturnData) != c2.sim {
			t.Errorf("%s: a simulation: %v", name, err)
		} else if again := common.Bytes2Hex(made[1].Calls[0].ReturnData); again != "0102" {
			t.Errorf("%s: a block later the precompile returns %s", name, again)
		}
	}
	for text, state := range map[string]reader.StateOverrides{
		"is not a precompile": {nobody: {MovePrecompileTo: &elsewhere}}, "is already overridden": {identity: {MovePrecompileTo: &elsewhere}, elsewhere: {Balance: hexBig(1)}},
		"is already overridden ": {{19: 2}: {MovePrecompileTo: &elsewhere}, elsewhere: {}}, "has both 'state' and 'stateDiff'": {nobody: {State: map[common.Hash]common.Hash{}, StateDiff: map[common.Hash]common.Hash{}}},
	} {
		if _, err := c.Call(t.Context(), head, &reader.Call{To: &nobody}, reader.Overrides{State: state}); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(text)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSimulatedFeesFollow: with the network's rules, the base fee of a block follows from the one before it.
func TestSimulatedFeesFollow(t *testing.T) {
	for _, kind := range []evm.Kind{evm.KindL1, evm.KindC} {
		c, head := newPaidChain(t, kind)
		made, err := c.Simulate(t.Context(), head, reader.Simulation{Validate: true, Blocks: []reader.BlockCalls{{Calls: []reader.Call{{From: &c.from, To: &nobody, MaxFeePerGas: hexBig(1e12), MaxPriorityFeePerGas: hexBig(1)}}}, {}}})
		if err != nil {
			t.Fatal(err)
		}
		c.with(made[0].Header.Time, payment{tip: 1})
		c.with(made[1].Header.Time)
		for i, b := range made { // the same blocks, made in earnest
			real, err := c.Block(t.Context(), b.Number)
			if err != nil {
				t.Fatal(err)
			}
			if b.Header.BaseFee.Cmp(real.Header.BaseFee) != 0 || b.Header.GasLimit != real.Header.GasLimit || b.Header.GasUsed != real.Header.GasUsed || len(b.Header.Extra) == 0 || !bytes.HasPrefix(real.Header.Extra, b.Header.Extra) { // the results of predicates follow
				t.Errorf("%s: block %d: base fee %d, limit %d, used %d, extra %x; want %d, %d, %d, %x", kind, i, b.Header.BaseFee, b.Header.GasLimit, b.Header.GasUsed, b.Header.Extra,
					real.Header.BaseFee, real.Header.GasLimit, real.Header.GasUsed, real.Header.Extra)
			}
		}
	}
}
