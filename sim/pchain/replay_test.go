package pchain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/xchain"
)

// recordedBytes returns the bytes of a chain's lines in a fixture of testdata/node.
func recordedBytes(t *testing.T, name string, c txs.Chain) (all [][]byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "node", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var recorded struct{ Chain, Hex string }
		if err := json.Unmarshal([]byte(line), &recorded); err != nil {
			t.Fatal(err)
		}
		if recorded.Chain != c.String() {
			continue
		}
		b, err := formatting.Decode(formatting.Hex, recorded.Hex)
		all = append(all, must(t, b, err))
	}
	return all
}

// recordedBlocks returns the recorded chain, block 0 first.
func recordedBlocks(t *testing.T, c txs.Chain) []*txs.Block {
	t.Helper()
	var blocks []*txs.Block
	for _, raw := range recordedBytes(t, "blocks.jsonl", c) {
		b, err := txs.ParseBlock(c, raw)
		if err != nil {
			t.Fatal(err)
		}
		if b.Height() != uint64(len(blocks)) {
			t.Fatalf("%s block %d follows %d blocks", c, b.Height(), len(blocks))
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// sent returns outputs for the inputs of imports whose export is not recorded.
func sent(t *testing.T, ins []*txs.TransferableInput) []*txs.UTXO {
	t.Helper()
	ewoq, err := txs.KeyFromBytes(common.FromHex("0x56289e99c94b6912bfc12adc093c9b51124f0dc54ac7a766b2bc5ccf558d8027"))
	if err != nil {
		t.Fatal(err)
	}
	var utxos []*txs.UTXO
	for _, in := range ins {
		out := &txs.TransferOutput{Amount: in.In.TransferInput().Amount, OutputOwners: txs.NewOwner(ewoq.Address())}
		utxos = append(utxos, &txs.UTXO{UTXOID: in.UTXOID, AssetID: in.AssetID, Out: out})
	}
	return utxos
}

// replayXChain runs the recorded X-Chain from its genesis.
func replayXChain(t *testing.T, shared *utxo.SharedMemory) *xchain.Chain {
	t.Helper()
	genesis, err := txs.ParseTx(txs.XChain, recordedBytes(t, "transactions.jsonl", txs.XChain)[0])
	if err != nil {
		t.Fatal(err)
	}
	asset := xchain.NewAsset(genesis.ID(), genesis.Unsigned.(*txs.CreateAssetTx))
	x := xchain.New(local, shared, []*xchain.Asset{asset}, genesis.Produced())
	x.Strict = true
	blocks := recordedBlocks(t, txs.XChain)
	x.SetTip(blocks[0].ID(), 0, 0)
	for _, b := range blocks[1:] {
		for _, tx := range b.Txs() {
			if in, ok := tx.Unsigned.(*txs.ImportTx); ok {
				for _, u := range sent(t, in.ImportedInputs) {
					shared.Put(in.SourceChain, local.XChainID, u)
				}
			}
		}
		if _, err := x.Accept(b); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func TestRecordedXChainReplays(t *testing.T) {
	x := replayXChain(t, utxo.NewSharedMemory())
	assets := []ids.ID{local.AVAXAssetID}
	for _, b := range recordedBlocks(t, txs.XChain) {
		for _, tx := range b.Txs() {
			if _, creates := tx.Unsigned.(*txs.CreateAssetTx); creates {
				assets = append(assets, tx.ID())
			}
		}
	}
	for _, id := range assets {
		if _, found := x.Asset(id); !found {
			t.Errorf("asset %s is missing", id)
		}
	}
	if x.Height() != 10 || len(assets) != 4 {
		t.Errorf("height %d with %d assets", x.Height(), len(assets))
	}
}

// The whole recorded P-Chain passes every rule, and ends in the state that the node reported.
func TestRecordedPChainReplays(t *testing.T) {
	shared := utxo.NewSharedMemory()
	replayXChain(t, shared)
	blocks := recordedBlocks(t, txs.PChain)
	p := New(local, shared, Snapshot{
		Time:   1_795_000_000,
		Supply: 361_196_333_750_752_149,
		Fees:   rules.FeeState{Capacity: 1_000_000},
		UTXOs:  recordedGenesis(t, blocks),
	})
	p.Strict = true
	p.SetTip(blocks[0].ID(), 0, 1_795_000_000)
	for _, b := range blocks[1:] {
		if _, err := p.Accept(b); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.Supply(); got != 361_196_350_549_095_157 {
		t.Errorf("supply %d", got)
	}
	if want := (rules.FeeState{Capacity: 989_861, Excess: 10_139}); p.Fees() != want {
		t.Errorf("fees %+v, want %+v", p.Fees(), want)
	}
	v, found := p.L1Validator(id("22t8HoVjSQ94tm4SUodFTr5tMZonfXeG562CZsdeAdR7tfTh8X"))
	if !found || v.Balance(p.l1.accrued) != 1_999_999_999 || v.Start != 1_795_214_478 {
		t.Errorf("L1 validator %+v", v)
	}
	subnet := p.subnets[v.SubnetID]
	if got := subnet.Conversion.ID.String(); got != "261oru772c3p2um3TayiJRKQXsCTzx7o4o3HDUU8qq8NBNxbdF" {
		t.Errorf("conversion %s", got)
	}
	utxoID := txs.UTXOID{TxID: id("2XQjFDjUowgKNqpW3enyiKvoTyqa6syKKqBU5NArh7oBQKEV63")}
	if u, err := p.UTXO(utxoID.InputID()); err != nil || u.Amount() != 19_999_974_999_983_402 {
		t.Errorf("ewoq's output %+v", u)
	}
}

// recordedGenesis returns the outputs that recorded transactions spend but none created; an input's first signer owns its output.
func recordedGenesis(t *testing.T, blocks []*txs.Block) []*txs.UTXO {
	t.Helper()
	var utxos []*txs.UTXO
	for _, b := range blocks {
		for _, tx := range b.Txs() {
			for i, in := range tx.Inputs() {
				if in.TxID == ids.Empty {
					signer, err := tx.Recover(tx.Signatures(i)[0])
					if err != nil {
						t.Fatal(err)
					}
					out := &txs.TransferOutput{Amount: in.In.TransferInput().Amount, OutputOwners: txs.NewOwner(signer)}
					utxos = append(utxos, &txs.UTXO{UTXOID: in.UTXOID, AssetID: in.AssetID, Out: out})
				}
			}
		}
	}
	return utxos
}

// The recorded wallet paid twice the required fee, at the minimal price of 1.
func TestFeesAsRecorded(t *testing.T) {
	var transactions []*txs.Tx
	for _, b := range recordedBlocks(t, txs.PChain) {
		transactions = append(transactions, b.Txs()...)
	}
	for _, tx := range transactions {
		c, err := rules.ComplexityOf(tx.Unsigned)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := 2*local.Fees.Gas(c), burnedBy(tx); got != want {
			t.Errorf("%T burned %d, twice the fee is %d", tx.Unsigned, want, got)
		}
	}
}

// burnedBy returns the amount that a transaction consumes but does not produce, stake or deposit.
func burnedBy(tx *txs.Tx) uint64 {
	var burned uint64
	for _, in := range tx.Inputs() {
		burned += in.In.TransferInput().Amount
	}
	for _, out := range tx.Produced() {
		burned -= out.Amount()
	}
	switch u := tx.Unsigned.(type) {
	case *txs.AddPermissionlessValidatorTx:
		burned -= u.Validator.Weight
	case *txs.AddPermissionlessDelegatorTx:
		burned -= u.Validator.Weight
	case *txs.ConvertSubnetToL1Tx:
		burned -= u.Validators[0].Balance
	case *txs.IncreaseL1ValidatorBalanceTx:
		burned -= u.Balance
	}
	return burned
}
