// go-ethereum's client, unmodified, against every chain of a server.

package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/trie"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/sim/evm"
)

var topicTransfer = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))

// TestEthclientWalksEveryChain follows each chain from its first block to its head with go-ethereum's own client, over HTTP and over WebSocket.
func TestEthclientWalksEveryChain(t *testing.T) {
	t.Parallel()
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	var world control.World
	if err := json.Unmarshal([]byte(ask(h, "GET", "/sim/world", "")), &world); err != nil {
		t.Fatal(err)
	}
	for _, c := range world.Chains {
		for _, scheme := range []string{"http", "ws"} {
			path := "rpc"
			if scheme == "ws" {
				path = "ws"
			}
			url := strings.Replace(s.URL, "http", scheme, 1) + "/ext/bc/" + c.BlockchainID + "/" + path
			t.Run(c.ChainID+" over "+scheme, func(t *testing.T) { walk(t, c, url) })
		}
	}
}

// walker is a walk along one chain.
type walker struct {
	*testing.T
	client *ethclient.Client
	chain  control.Chain
	logs   []types.Log // of every receipt, in order

	unsettled []blockReceipts // of blocks whose results are in no header yet
}

type blockReceipts struct {
	number   uint64
	receipts types.Receipts
}

func walk(t *testing.T, c control.Chain, url string) {
	client, err := ethclient.DialContext(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	w := &walker{T: t, client: client, chain: c}
	head, err := client.BlockNumber(t.Context())
	if err != nil || head != c.Height {
		t.Fatalf("head is %d, /sim/world says %d: %v", head, c.Height, err)
	}
	var parent common.Hash
	for n := uint64(0); n <= head; n++ {
		parent = w.block(n, parent)
	}
	w.sameLogs()
	for _, role := range []string{"usdx", "snow", "mkx"} {
		w.history(w.contract(role))
	}
	w.multicall()
	w.tokens()
}

// block checks one block with its transactions and receipts, and returns its hash.
func (w *walker) block(n uint64, parent common.Hash) common.Hash {
	w.Helper()
	var raw map[string]json.RawMessage
	if err := w.client.Client().CallContext(w.Context(), &raw, "eth_getBlockByNumber", hexutil.EncodeUint64(n), false); err != nil {
		w.Fatal(err)
	}
	header, hash := w.header(raw)
	encoded, err := header.Encode(w.kind())
	if err != nil || crypto.Keccak256Hash(encoded) != hash || header.ParentHash != parent {
		w.Fatalf("block %d: hash %s of %x, parent %s, not %s: %v", n, hash, encoded, header.ParentHash, parent, err)
	}
	block, err := w.client.BlockByNumber(w.Context(), new(big.Int).SetUint64(n))
	if err != nil {
		w.Fatal(err)
	}
	if root := types.DeriveSha(block.Transactions(), trie.NewStackTrie(nil)); root != header.TxHash {
		w.Errorf("block %d: transactions root %s, header says %s", n, root, header.TxHash)
	}
	w.receipts(n, header, block.Transactions())
	return hash
}

func (w *walker) kind() evm.Kind {
	if w.chain.ChainID == "43114" || w.chain.ChainID == "43113" {
		return evm.KindC
	}
	return evm.KindL1
}

// header reads the fields of a block's JSON.
func (w *walker) header(raw map[string]json.RawMessage) (*evm.Header, common.Hash) {
	w.Helper()
	h := &evm.Header{}
	var hash common.Hash
	for name, into := range map[string]any{
		"hash": &hash, "parentHash": &h.ParentHash, "sha3Uncles": &h.UncleHash, "miner": &h.Coinbase, "stateRoot": &h.Root,
		"transactionsRoot": &h.TxHash, "receiptsRoot": &h.ReceiptHash, "logsBloom": &h.Bloom, "mixHash": &h.MixDigest,
		"nonce": &h.Nonce, "extDataHash": &h.ExtDataHash, "parentBeaconBlockRoot": &h.ParentBeaconRoot,
		"extraData": (*hexutil.Bytes)(&h.Extra), "difficulty": &number{&h.Difficulty}, "number": &number{&h.Number},
		"baseFeePerGas": &number{&h.BaseFee}, "blockGasCost": &number{&h.BlockGasCost}, "extDataGasUsed": &number{&h.ExtDataGasUsed},
		"gasLimit": (*hexutil.Uint64)(&h.GasLimit), "gasUsed": (*hexutil.Uint64)(&h.GasUsed), "timestamp": (*hexutil.Uint64)(&h.Time),
		"blobGasUsed": (*hexutil.Uint64)(&h.BlobGasUsed), "excessBlobGas": (*hexutil.Uint64)(&h.ExcessBlobGas),
		"timestampMilliseconds": (*hexutil.Uint64)(&h.TimeMilliseconds), "minDelayExcess": (*hexutil.Uint64)(&h.MinDelayExcess),
	} {
		if raw[name] == nil && (name == "extDataHash" || name == "extDataGasUsed") && w.kind() == evm.KindL1 {
			continue
		}
		if err := json.Unmarshal(raw[name], into); err != nil {
			w.Fatalf("%s is %s: %v", name, raw[name], err)
		}
	}
	for name, into := range map[string]**uint64{
		"targetExponent": &h.TargetExponent, "minPriceExponent": &h.MinPriceExponent, "settledHeight": &h.SettledHeight,
		"settledGasUnix": &h.SettledGasUnix, "settledGasNumerator": &h.SettledGasNumerator, "settledExcess": &h.SettledExcess,
	} {
		if raw[name] == nil {
			continue // before Helicon, or on an L1
		}
		*into = new(uint64)
		if err := json.Unmarshal(raw[name], (*hexutil.Uint64)(*into)); err != nil {
			w.Fatalf("%s is %s: %v", name, raw[name], err)
		}
	}
	return h, hash
}

// number reads a quantity.
type number struct{ into **big.Int }

func (n *number) UnmarshalJSON(raw []byte) error {
	var v hexutil.Big
	err := v.UnmarshalJSON(raw)
	*n.into = v.ToInt()
	return err
}

func (w *walker) receipts(n uint64, header *evm.Header, txs types.Transactions) {
	w.Helper()
	var receipts types.Receipts
	for i, tx := range txs {
		r, err := w.client.TransactionReceipt(w.Context(), tx.Hash())
		if err != nil {
			w.Fatal(err)
		}
		sender, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), tx)
		if err != nil {
			w.Fatal(err)
		}
		if known, err := w.client.TransactionSender(w.Context(), tx, r.BlockHash, uint(i)); err != nil || known != sender {
			w.Errorf("block %d, transaction %d: sender %s, signed by %s: %v", n, i, known, sender, err)
		}
		receipts = append(receipts, r)
		for _, log := range r.Logs {
			w.logs = append(w.logs, *log)
		}
	}
	if header.Asynchronous() { // its header has the results of the blocks that it settles
		w.unsettled = append(w.unsettled, blockReceipts{n, receipts})
		for receipts = nil; w.unsettled[0].number <= *header.SettledHeight; w.unsettled = w.unsettled[1:] {
			receipts = append(receipts, w.unsettled[0].receipts...)
		}
	}
	if root := types.DeriveSha(receipts, trie.NewStackTrie(nil)); root != header.ReceiptHash {
		w.Errorf("block %d: receipts root %s, header says %s", n, root, header.ReceiptHash)
	}
	if bloom := types.MergeBloom(receipts); bloom != header.Bloom {
		w.Errorf("block %d: bloom differs", n)
	}
}

// sameLogs compares all logs of the chain with the logs in its receipts.
func (w *walker) sameLogs() {
	w.Helper()
	found, err := w.client.FilterLogs(w.Context(), ethereum.FilterQuery{FromBlock: new(big.Int)})
	if err != nil || len(found) != len(w.logs) {
		w.Fatalf("%d logs, the receipts have %d: %v", len(found), len(w.logs), err)
	}
	for i := range found {
		if have, want := fmt.Sprint(found[i]), fmt.Sprint(w.logs[i]); have != want {
			w.Fatalf("log %d: %s, the receipt's is %s", i, have, want)
		}
	}
}

// history checks alice's balance of a token against the transfers.
func (w *walker) history(token common.Address) {
	w.Helper()
	alice, balance, last := common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"), new(big.Int), uint64(0)
	check := func(block uint64) {
		if have := new(big.Int).SetBytes(w.call(token, balanceOf(alice), block)); have.Cmp(balance) != 0 {
			w.Errorf("balance of %s at %d is %d, transfers say %d", token, block, have, balance)
		}
	}
	for _, log := range w.logs {
		if log.Address != token || len(log.Topics) != 3 || log.Topics[0] != topicTransfer {
			continue
		}
		if log.BlockNumber != last {
			check(log.BlockNumber - 1)
			last = log.BlockNumber
		}
		amount := new(big.Int).SetBytes(log.Data)
		if common.BytesToAddress(log.Topics[1][:]) == alice {
			balance.Sub(balance, amount)
		}
		if common.BytesToAddress(log.Topics[2][:]) == alice {
			balance.Add(balance, amount)
		}
	}
	check(w.chain.Height)
}

func balanceOf(owner common.Address) []byte {
	return append(common.FromHex("0x70a08231"), common.LeftPadBytes(owner[:], 32)...)
}

func (w *walker) contract(role string) common.Address {
	return common.HexToAddress(contract(w.chain, role))
}

func (w *walker) call(to common.Address, data []byte, block uint64) []byte {
	w.Helper()
	answer, err := w.client.CallContract(w.Context(), ethereum.CallMsg{To: &to, Data: data}, new(big.Int).SetUint64(block))
	if err != nil {
		w.Fatalf("%s at %d: %v", to, block, err)
	}
	return answer
}

// multicall reads many balances, all at once and one by one.
func (w *walker) multicall() {
	w.Helper()
	artifact, err := contracts.Load("Multicall3")
	if err != nil {
		w.Fatal(err)
	}
	type part struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	type outcome = struct {
		Success    bool   `json:"success"`
		ReturnData []byte `json:"returnData"`
	}
	var parts []part
	for _, c := range w.chain.Contracts {
		if c.Artifact == "Token" || c.Artifact == "WrappedNative" {
			parts = append(parts, part{common.HexToAddress(c.Address), true, balanceOf(common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"))})
		}
	}
	data, err := artifact.ABI.Pack("aggregate3", parts)
	if err != nil {
		w.Fatal(err)
	}
	answer := w.call(fixtures.Multicall, data, w.chain.Height)
	unpacked, err := artifact.ABI.Unpack("aggregate3", answer)
	if err != nil {
		w.Fatal(err)
	}
	for i, o := range unpacked[0].([]outcome) {
		if alone := w.call(parts[i].Target, parts[i].CallData, w.chain.Height); !o.Success || !bytes.Equal(o.ReturnData, alone) {
			w.Errorf("%s: %x together, %x alone", parts[i].Target, o.ReturnData, alone)
		}
	}
}
