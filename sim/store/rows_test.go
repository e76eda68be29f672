package store

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"snowglobe/sim/metric"
)

var (
	hash    = bytes.Repeat([]byte{0xaa}, 32)
	address = bytes.Repeat([]byte{0xbb}, 20)
	wei     = bytes.Repeat([]byte{0}, 32)
	blsKey  = bytes.Repeat([]byte{0xcc}, 48)

	parentHash = bytes.Repeat([]byte{0xdd}, 32)
)

// writeChain writes a chain with a genesis and one block that has a row of every kind.
func writeChain(d *Delta) func(b *Batch) error {
	return func(b *Batch) error {
		return errors.Join(
			b.AddChain(Chain{ID: 1, Network: "mainnet", EVMID: 43114, BlockchainID: hash, SubnetID: hash, VMID: hash, Kind: "C", Genesis: []byte("{}"), Upgrades: []byte("{}")}),
			b.AddBlock(&Delta{Block: Block{ID: At(1, 0, 0), Hash: parentHash, Time: 100, Fees: wei, Header: []byte{0xc0}, Digest: hash}, Activity: metric.NewActivity(100, nil)}),
			b.AddBlock(d))
	}
}

func fullDelta() *Delta {
	at, before := At(1, 1, 0), int64(100)
	token, uri := NewTokenID(1, ERC721, 1), URI("ipfs://1")
	return &Delta{
		Block:         Block{ID: at, Hash: hash, Time: 110, Txs: 1, AllTxs: 1, GasUsed: 21000, Fees: wei, Header: []byte{0xc0}, ExtData: []byte{1}, Digest: hash},
		Transactions:  []Transaction{{ID: at, Hash: hash, Sender: address, Recipient: address, Status: 1, GasUsed: 21000, GasTotal: 21000, Logs: 1, Raw: []byte{2}}},
		Logs:          []Log{{ID: at, Address: address, Topic: hash, Topics: hash, Data: []byte{3}}},
		Calls:         []Call{{ID: at, Depth: 1, Type: "CALL", Sender: address, Recipient: address, Value: wei, Gas: 5, GasUsed: 4, Reverted: true, Error: "out of gas"}},
		Accounts:      []Account{{Chain: 1, Address: address, Block: 1, Nonce: 3, Balance: wei}},
		Slots:         []Slot{{Chain: 1, Address: address, Key: hash, Block: 1, Value: []byte{9}}},
		Codes:         []Code{{Hash: hash, Code: []byte{0x60}}},
		Tokens:        []Token{{ID: token, Address: address, Block: 1, Name: "Name", Symbol: "N"}},
		Deployments:   []Deployment{{ID: at, Address: address, Sender: address}},
		Transfers:     []Transfer{{ID: at, Standard: ERC721, Asset: token.Asset([]byte{5}), Sender: address, Recipient: address, Amount: []byte{1}}},
		TokenBalances: []TokenBalance{{Owner: address, Asset: token.Asset([]byte{5}), Block: 1, Amount: []byte{1}}},
		NFTStates:     []NFTState{{Asset: token.Asset([]byte{5}), Block: at, Owner: address, URI: &uri}},
		Touches:       []Touch{{Address: hash[:20], Tx: at}},
		Messages:      []Message{{ID: at, Time: 110, Hash: hash, Source: hash, Destination: hash, Sender: address, Recipient: address}},
		MessageEvents: []MessageEvent{{ID: at, Kind: MessageExecuted, Hash: hash}},
		Activity:      metric.NewActivity(110, &before),
	}
}

// same compares read values with written ones.
func same(t *testing.T, what string, have, want any, err error) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("%s: %+v, %v; want %+v", what, have, err, want)
	}
}

func TestRowsOfABlockComeBack(t *testing.T) {
	d := fullDelta()
	db := made(t, Memory, writeChain(d))
	ctx, at := t.Context(), d.Block.ID

	block, err := db.Block(ctx, 1, 1)
	same(t, "Block", *block, d.Block, err)
	block, err = db.BlockByHash(ctx, 1, hash)
	same(t, "BlockByHash", *block, d.Block, err)
	block, err = db.Head(ctx, 1)
	same(t, "Head", *block, d.Block, err)
	txs, err := db.Transactions(ctx, at)
	same(t, "Transactions", txs, d.Transactions, err)
	logs, err := db.LogsBetween(ctx, at, at, 9)
	same(t, "LogsBetween", logs, d.Logs, err)
	calls, err := db.Calls(ctx, at)
	same(t, "Calls", calls, d.Calls, err)
	account, err := db.Account(ctx, 1, address, 5)
	same(t, "Account", *account, d.Accounts[0], err)
	slot, err := db.SlotRow(ctx, 1, address, hash, 5)
	same(t, "SlotRow", *slot, d.Slots[0], err)
	code, err := db.Code(ctx, hash)
	same(t, "Code", code, d.Codes[0].Code, err)
	token, err := db.TokenAt(ctx, 1, address)
	same(t, "TokenAt", *token, d.Tokens[0], err)
	deployments, err := db.DeploymentsIn(ctx, at)
	same(t, "DeploymentsIn", deployments, d.Deployments, err)
	transfers, err := db.Transfers(ctx, at, at)
	same(t, "Transfers", transfers, d.Transfers, err)
	balance, err := db.TokenBalance(ctx, address, d.TokenBalances[0].Asset, 5)
	same(t, "TokenBalance", *balance, d.TokenBalances[0], err)
	item, err := db.NFTStateAt(ctx, d.NFTStates[0].Asset, at)
	same(t, "ItemAt", *item, d.NFTStates[0], err)
	messages, err := db.Messages(ctx, MessageFilter{EitherAddress: address}, MessageCursor{200, 0}, 9)
	same(t, "Messages", messages, d.Messages, err)
	events, err := db.MessageEvents(ctx, hash)
	same(t, "MessageEvents", events, d.MessageEvents, err)
}

func TestViewsJoinTheirBlock(t *testing.T) {
	d := fullDelta()
	db := made(t, Memory, writeChain(d))
	ctx, at, low := t.Context(), d.Block.ID, First(1)
	inclusion := Inclusion{TxHash: hash, BlockHash: hash, BlockTime: 110, Header: []byte{0xc0}}
	updated := int64(110)
	nft := NFT{Owner: address, URI: d.NFTStates[0].URI, Updated: &updated}

	tx, err := db.TransactionViewByHash(ctx, 1, hash)
	same(t, "TransactionViewByHash", *tx, TransactionView{Transaction: d.Transactions[0], BlockHash: hash, BlockTime: 110, Header: []byte{0xc0}}, err)
	history, err := db.WholeHistory(ctx, AddressHistory{Address: hash[:20], High: at, Low: low, Limit: 9})
	same(t, "WholeHistory", history, []TransactionView{*tx}, err)
	transfers, err := db.TransfersOfAddress(ctx, address, ERC721, at, low, 9)
	same(t, "TransfersOfAddress", transfers, []TransferView{{d.Transfers[0], inclusion, nft}}, err)
	calls, err := db.InternalHistory(ctx, address, at, low, 9)
	same(t, "InternalHistory", calls, []CallView{{d.Calls[0], inclusion}}, err)
	asset := d.TokenBalances[0].Asset
	nfts, err := db.NFTBalances(ctx, address, asset[:6], append(asset[:6:6], 0xff), 5, 9)
	same(t, "NFTBalances", nfts, []TokenBalanceView{{asset, []byte{1}, nft}}, err)
	deployments, err := db.DeploymentsBy(ctx, address, at, low, 9)
	same(t, "DeploymentsBy", deployments, []DeploymentView{{d.Deployments[0], hash}}, err)
	var events []LogView
	err = db.EachLogViewOfAddress(ctx, address, low, at, 9, func(l *LogView) { events = append(events, *l) })
	same(t, "EventsOf", events, []LogView{{d.Logs[0], hash, hash}}, err)
	events, err = db.LogViewsAt(ctx, []Position{d.Logs[0].ID, at.End()})
	same(t, "LogViewsAt", events, []LogView{{d.Logs[0], hash, hash}}, err)
	if seen, err := db.AddressSeen(ctx, 1, hash[:20]); !seen || err != nil {
		t.Errorf("AddressSeen: %t, %v", seen, err)
	}
	if seen, err := db.AddressSeen(ctx, 1, wei[:20]); seen || err != nil {
		t.Errorf("AddressSeen, of an address without history: %t, %v", seen, err)
	}
}

func TestFirstSince(t *testing.T) {
	db := made(t, Memory, writeChain(fullDelta()))
	for time, want := range map[int64]uint64{0: 0, 100: 0, 101: 1, 110: 1, 111: 2} {
		if n, err := db.FirstSince(t.Context(), 1, time); n != want || err != nil {
			t.Errorf("FirstSince(%d) = %d, %v; want %d", time, n, err, want)
		}
	}
	if _, err := db.FirstSince(t.Context(), 2, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("FirstSince of a chain without blocks: %v", err)
	}
}

func TestPrimaryRowsComeBack(t *testing.T) {
	p := PrimaryChain(0, PChain)
	began := int64(1)
	owners := OutputOwners{Threshold: 1, Addresses: [][]byte{address}}.Bytes()
	d := &PrimaryDelta{
		Block:             &PrimaryBlock{ID: At(p, 1, 0), Hash: hash, Parent: hash, Time: 86400, Type: "Standard", Txs: 1, AllTxs: 1, Size: 2, Head: []byte{1}, Supply: 1 << 63, Digest: hash},
		Transactions:      []PrimaryTx{{ID: At(p, 1, 0), Hash: hash, Type: "BaseTx", Burned: 5, Bytes: []byte{0, 0, 7}}},
		UTXOs:             []UTXO{{ID: NewUTXONumber(p, 1, 0), Hash: inputID(hash, 0), Tx: hash, Chain: p, Asset: hash, Amount: 7, Out: bytes.Repeat([]byte{1}, 30), OwnerAddresses: [][]byte{address}}},
		Assets:            []PrimaryAsset{{ID: At(p, 1, 0), Hash: hash, Name: "Asset", Symbol: "A", Denomination: 9, Fxs: []byte{0}}},
		Stakers:           []Staker{{ID: At(p, 1, 0), Tx: hash, Node: address, Subnet: hash, Weight: 9, Start: 1, End: 2, Owner: owners, FeeOwner: owners, Status: StakerActive, Began: &began}},
		L1Validators:      []L1Validator{{ID: NewUTXONumber(p, 1, 1), Validation: hash, Subnet: hash, Node: address, BLS: blsKey, BalanceOwner: owners, DeactivationOwner: owners, Start: 3, Tx: At(p, 1, 0)}},
		L1ValidatorStates: []L1ValidatorState{{Validator: NewUTXONumber(p, 1, 1), Height: 1, Weight: 20, EndAccumulatedFee: 1 << 63}},
		Subnets:           []Subnet{{ID: At(p, 1, 0), Hash: hash}},
		SubnetStates:      []SubnetState{{Subnet: At(p, 1, 0), Height: 1, Owner: owners, Conversion: hash, ManagerChain: hash, ManagerAddress: []byte{}}}, // an L1 needs no manager
		Blockchains:       []Blockchain{{ID: At(p, 1, 0), Hash: hash, Subnet: hash, Name: "chain", VM: hash}},
		Stakes:            []StakeChange{{hash, metric.ValidatorStake(1, 1<<63)}},
		Fees:              []FeeChange{{address, metric.ContinuousFee{Active: 1, Base: 1 << 63, Paying: 1}}},
		AccruedFees:       []AccruedFee{{Day: 0, Accrued: 3}},
	}
	db := made(t, Memory, func(b *Batch) error { return b.AddPrimaryBlock(d) })
	ctx := t.Context()

	block, err := db.PrimaryHead(ctx, p)
	same(t, "PrimaryHead", *block, *d.Block, err)
	tx, err := db.PrimaryTxByHash(ctx, p, hash)
	same(t, "PrimaryTxByHash", *tx, d.Transactions[0], err)
	utxo, err := db.UTXOByHash(ctx, p, d.UTXOs[0].Hash)
	want := d.UTXOs[0]
	want.OwnerAddresses = nil
	same(t, "UTXOByHash", utxo, &want, err)
	unspent, err := db.UnspentUTXOs(ctx, address, p, p, NewUTXONumber(p, 9, 0), 9)
	same(t, "UnspentUTXOs", unspent, []UTXO{want}, err)
	stakers, err := db.Stakers(ctx, p)
	same(t, "Stakers", stakers, d.Stakers, err)
	l1, err := db.L1Validator(ctx, hash, 5)
	same(t, "L1Validator", *l1, L1ValidatorView{d.L1Validators[0], d.L1ValidatorStates[0]}, err)
	subnet, err := db.Subnet(ctx, p, hash)
	d.SubnetStates[0].ManagerAddress = nil // the engine returns empty values as nil
	same(t, "Subnet", *subnet, SubnetView{d.Subnets[0], d.SubnetStates[0]}, err)
	chains, err := db.Blockchains(ctx, p)
	same(t, "Blockchains", chains, d.Blockchains, err)
	stakes, err := db.StakeRows(ctx, p, hash, 0, 1<<40)
	same(t, "StakeRows", stakes, []metric.StakeRow{{Day: 86400, Stake: d.Stakes[0].Stake}}, err)
	fees, err := db.FeeRows(ctx, p, address, 0, 1<<40)
	same(t, "FeeRows", fees, []metric.FeeRow{{Day: 86400, ContinuousFee: d.Fees[0].ContinuousFee}}, err)
	accrued, err := db.AccruedFees(ctx, p, 0, 1<<40)
	same(t, "AccruedFees", accrued, d.AccruedFees, err)
	if first, err := db.FirstPrimarySince(ctx, p, 0); err == nil {
		t.Errorf("FirstPrimarySince without a genesis: %d", first)
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	db := made(t, Memory, writeMeta)
	ctx := t.Context()
	for what, read := range map[string]func() error{
		"Block":             func() error { _, err := db.Block(ctx, 1, 0); return err },
		"Block too high":    func() error { _, err := db.Block(ctx, 1, MaxNumber+1); return err },
		"TransactionByHash": func() error { _, err := db.TransactionByHash(ctx, 1, hash); return err },
		"Account":           func() error { _, err := db.Account(ctx, 1, address, 0); return err },
		"UTXO":              func() error { _, err := db.UTXO(ctx, 1); return err },
		"Operation":         func() error { _, err := db.Operation(ctx, 1); return err },
		"Staker":            func() error { _, err := db.StakerOfTx(ctx, hash); return err },
		"NewestTally":       func() error { _, err := db.NewestTally(ctx, 1, metric.Day); return err },
	} {
		if err := read(); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if slot, err := db.Slot(ctx, 1, address, hash, 0); slot != nil || err != nil {
		t.Errorf("Slot: %x, %v", slot, err)
	}
}

func TestAColumnWithoutAFieldIsAnError(t *testing.T) {
	db := made(t, Memory, writeMeta)
	if _, err := Get[Code](t.Context(), db, `SELECT generator FROM meta`); err == nil || !strings.Contains(err.Error(), `no field for column "generator"`) {
		t.Errorf("get: %v", err)
	}
}

// TestNumbersFitTheirFields reads numbers into fields of any size: a number that does not fit is damage, and so is any other value.
func TestNumbersFitTheirFields(t *testing.T) {
	db := made(t, Memory, writeChain(fullDelta()))
	type row struct {
		ID   Position `db:"id"`
		Size uint8    `db:"size"`
		May  *int32   `db:"may"`
	}
	minus := int32(-7)
	for text, want := range map[string]*row{
		`SELECT 5 AS id, 255 AS size, NULL AS may FROM chain`:                          {5, 255, nil},
		`SELECT -5 AS id, 0 AS size, -7 AS may FROM chain`:                             {-5, 0, &minus},
		`SELECT 5 AS id, 256 AS size, NULL AS may FROM chain`:                          nil,
		`SELECT 5 AS id, -1 AS size, NULL AS may FROM chain`:                           nil,
		`SELECT 5 AS id, NULL AS size, NULL AS may FROM chain`:                         nil,
		`SELECT 5 AS id, 1 AS size, 4294967296 AS may FROM chain`:                      nil,
		`SELECT 5 AS id, 1 AS size, x'00' AS may FROM chain`:                           nil,
		`SELECT 'many' AS id, 1 AS size, NULL AS may FROM chain`:                       nil,
		`SELECT 9223372036854775807 AS id, 1 AS size, 1 AS may, 1 AS other FROM chain`: nil, // has no field
	} {
		have, err := Get[row](t.Context(), db, text)
		if want != nil {
			same(t, text, have, want, err)
		} else if err == nil {
			t.Errorf("%s: %+v", text, have)
		}
	}
	var damage *DamageError
	if _, err := Get[row](t.Context(), db, `SELECT 5 AS id, 256 AS size, NULL AS may FROM chain`); !errors.As(err, &damage) {
		t.Errorf("the error is %v", err)
	}
}

// TestListsOfAnyLengthAreWhole reads lists around the lengths at which they begin a new part.
func TestListsOfAnyLengthAreWhole(t *testing.T) {
	db := made(t, Memory, writeChain(fullDelta()))
	for _, n := range []int{0, 1, shortList - 1, shortList, shortList + 1, 3 * shortList, 3*shortList + 1, 1000, 10_000} {
		list, err := List[int](t.Context(), db, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT i FROM n WHERE i <= ?1`, n)
		if err != nil || len(list) != n || (list == nil) != (n == 0) {
			t.Fatalf("%d rows of %d: %v", len(list), n, err)
		}
		for i, have := range list {
			if have != i+1 {
				t.Fatalf("row %d of %d is %d", i, n, have)
			}
		}
	}
}

func TestOperationsComeBack(t *testing.T) {
	o := Operation{ID: 1, UUID: hash[:16], Status: OperationRunning, Created: 5, Updated: 5, ExportFile: ExportFile{1, 2, 3, 4, hash}, Request: "{}"}
	db := made(t, Memory, func(b *Batch) error { return b.PutOperation(&o) })
	ctx := t.Context()
	have, err := db.OperationByUUID(ctx, o.UUID)
	same(t, "OperationByUUID", *have, o, err)
	running, err := db.RunningOperations(ctx)
	same(t, "RunningOperations", running, []int64{1}, err)
}

// TestOutputsComeBack: of a plain output the file keeps the address, of every other all bytes, and AVAX is left out.
func TestOutputsComeBack(t *testing.T) {
	const p, x = 1, 2
	plain := plainOutput(1<<63+7, address)
	changed := func(at int) []byte {
		out := bytes.Clone(plain)
		out[at] ^= 1
		return out
	}
	d := &PrimaryDelta{Assets: []PrimaryAsset{{ID: At(x, 0, 0), Hash: hash, Name: "Avalanche", Symbol: "AVAX", Denomination: 9, Fxs: []byte{0}}}}
	other := bytes.Repeat([]byte{9}, 32)
	for i, out := range [][]byte{plain, changed(0), changed(11), changed(19), changed(23), changed(27), append(plain[:28:28], make([]byte, 20)...), append(changed(27), address...), plain[:24], make([]byte, 161)} {
		row := UTXO{ID: NewUTXONumber(p, 1, i), Hash: inputID(hash, uint32(i)), Tx: hash, Output: uint32(i), Chain: p, Amount: 1<<63 + 7, Out: out, OwnerAddresses: [][]byte{address}}
		if i%2 == 1 {
			row.Asset = other
		}
		if i == 4 {
			row.Chain = x // exported
		}
		d.UTXOs = append(d.UTXOs, row)
	}
	db := made(t, Memory, func(b *Batch) error { return b.AddPrimaryBlock(d) })
	want := slices.Clone(d.UTXOs)
	for i := range want {
		want[i].OwnerAddresses = nil
		if want[i].Asset == nil {
			want[i].Asset = hash
		}
	}
	all, err := db.UTXOsOfBlock(t.Context(), p, 1)
	same(t, "UTXOsOfBlock", all, want, err)
	here, err := db.UnspentUTXOsMadeBy(t.Context(), p)
	same(t, "UnspentUTXOsMadeBy", here, slices.DeleteFunc(slices.Clone(want), func(u UTXO) bool { return u.Chain != p || u.Spent != nil }), err)
	shared, err := db.SharedUTXOs(t.Context(), p)
	same(t, "SharedUTXOs", shared, slices.DeleteFunc(slices.Clone(want), func(u UTXO) bool { return u.Chain == p || u.Spent != nil }), err)
	if size, err := value[int](t.Context(), db, `SELECT length(out) FROM utxo WHERE output = 0`); size != addressBytes || err != nil {
		t.Errorf("a plain output takes %d bytes, %v", size, err)
	}
}

// TestWhatClientsChangeComesBack writes everything that no transaction does: overrides of blocks, impersonated transactions and state changes, which
// replace rows of their block.
func TestWhatClientsChangeComesBack(t *testing.T) {
	d := fullDelta()
	limit := Amount(1 << 40)
	d.Override = &BlockOverride{ID: d.Block.ID, Early: true, BaseFee: wei, GasLimit: &limit, Coinbase: address}
	d.Impersonated = []ImpersonatedTx{{d.Block.ID}}
	db := made(t, Memory, writeChain(d))
	ctx, at := t.Context(), d.Block.ID
	override, err := db.BlockOverride(ctx, at)
	same(t, "BlockOverride", override, d.Override, err)
	none, err := db.BlockOverride(ctx, At(1, 0, 0))
	same(t, "no override", none, (*BlockOverride)(nil), err)
	impersonated, err := db.ImpersonatedTxs(ctx, at, at)
	same(t, "ImpersonatedTxs", impersonated, d.Impersonated, err)

	head, err := db.Head(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := db.HeadDigest(ctx, head)
	same(t, "digest without changes", digest, hash, err)
	var all []StateChange
	for n, kind := range []string{BalanceChange, NonceChange} {
		set, err := db.NoncesSet(ctx, 1)
		same(t, "NoncesSet", set, false, err)
		change := StateDelta{
			Change:        StateChange{Chain: 1, Block: 1, Sequence: n + 1, Kind: kind, Address: address, Value: map[string][]byte{BalanceChange: wei, NonceChange: wei[:8]}[kind], Root: hash, Digest: bytes.Repeat([]byte{byte(n)}, 32)},
			Accounts:      []Account{{Chain: 1, Address: address, Block: 1, Nonce: uint64(n) + 7, Balance: wei}},
			Slots:         []Slot{{Chain: 1, Address: address, Key: hash, Block: 1, Value: []byte{byte(n) + 3}}},
			Codes:         []Code{{Hash: parentHash, Code: []byte{0x61}}},
			Tokens:        []Token{{ID: d.Tokens[0].ID, Address: address, Block: 1, Name: "Other", Symbol: "O"}},
			TokenBalances: []TokenBalance{{Owner: address, Asset: d.TokenBalances[0].Asset, Block: 1, Amount: []byte{byte(n) + 5}}},
			NFTStates:     []NFTState{{Asset: d.NFTStates[0].Asset, Block: at, Owner: hash[:20], URI: d.NFTStates[0].URI}},
		}
		db.commit(t, func(b *Batch) error { return b.AddStateChange(&change) })
		all = append(all, change.Change)
		account, err := db.Account(ctx, 1, address, 1)
		same(t, "Account", *account, change.Accounts[0], err)
		slot, err := db.SlotRow(ctx, 1, address, hash, 1)
		same(t, "SlotRow", *slot, change.Slots[0], err)
		token, err := db.TokenAt(ctx, 1, address)
		same(t, "TokenAt", *token, change.Tokens[0], err)
		balance, err := db.TokenBalance(ctx, address, d.TokenBalances[0].Asset, 1)
		same(t, "TokenBalance", *balance, change.TokenBalances[0], err)
		state, err := db.NFTStateAt(ctx, d.NFTStates[0].Asset, at)
		same(t, "NFTStateAt", *state, change.NFTStates[0], err)
		digest, err = db.HeadDigest(ctx, head)
		same(t, "digest", digest, change.Change.Digest, err)
	}
	set, err := db.NoncesSet(ctx, 1)
	same(t, "NoncesSet", set, true, err)
	changes, err := db.StateChanges(ctx, 1, 0, 1<<63)
	same(t, "StateChanges", changes, all, err)
	before, err := db.LastStateChange(ctx, 1, 0)
	same(t, "no change", before, (*StateChange)(nil), err)
	deltas, err := db.Deltas(ctx, 1, 1, 1)
	if err != nil || len(deltas) != 1 {
		t.Fatalf("%d blocks, %v", len(deltas), err)
	}
	same(t, "Deltas.Override", deltas[0].Override, d.Override, nil)
	same(t, "Deltas.Impersonated", deltas[0].Impersonated, d.Impersonated, nil)
	same(t, "Deltas.Changes", deltas[0].Changes, all, nil)
}

// TestRowsWithoutABlockAreDamage removes a block's row but leaves one kind of row that the block added.
func TestRowsWithoutABlockAreDamage(t *testing.T) {
	for _, kept := range []string{"tx", "log", "call", "block_override", "impersonated_tx", "state_change"} {
		d := fullDelta()
		d.Override = &BlockOverride{ID: d.Block.ID, Early: true}
		d.Impersonated = []ImpersonatedTx{{d.Block.ID}}
		db := made(t, Memory, writeChain(d))
		db.commit(t, func(b *Batch) error {
			return b.AddStateChange(&StateDelta{Change: StateChange{Chain: 1, Block: 1, Sequence: 1, Kind: BalanceChange, Address: address, Value: wei, Root: hash, Digest: hash}})
		})
		for _, table := range []string{"block", "tx", "log", "call", "block_override", "impersonated_tx"} {
			if table == kept {
				continue
			}
			if _, err := db.write.Exec("DELETE FROM "+table+" WHERE id >= ?", At(1, 1, 0)); err != nil {
				t.Fatal(err)
			}
		}
		if kept != "state_change" {
			if _, err := db.write.Exec("DELETE FROM state_change"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Deltas(t.Context(), 1, 0, 9); err == nil || !strings.Contains(err.Error(), "rows without a block") {
			t.Errorf("%s: %v", kept, err)
		}
	}
}

// TestPersonasComeBack: a persona on P and X only has no EVM address.
func TestPersonasComeBack(t *testing.T) {
	want := []Persona{
		{ID: 9, Name: "a", Purpose: "p", Key: hash, Address: address}, {ID: FirstPrimaryPersona - 1, Name: "b", Key: []byte{}, Address: hash[:20]},
		{ID: FirstPrimaryPersona, Name: "c", Key: hash, Primary: parentHash[:20]},
	}
	db := made(t, Memory, func(b *Batch) error { return addAll(want, func(p *Persona) error { return b.AddPersona(*p) }) })
	got, err := db.Personas(t.Context())
	for i := range got {
		got[i].Key = append([]byte{}, got[i].Key...)
	}
	same(t, "Personas", got, want, err)
}

// TestAssetsHaveShortKeys: each asset has a key on its chain that leads back to it, mostly five bytes long.
func TestAssetsHaveShortKeys(t *testing.T) {
	seen := map[string]AssetKey{}
	for _, standard := range []Standard{ERC20, ERC721, ERC1155} {
		for _, n := range []int{0, 1, 4094, 4095, 4096, MaxTokens} {
			for _, item := range [][]byte{{}, {1}, {1, 0}, {255, 255, 255}, {1, 0, 0, 0}, hash} {
				if standard == ERC20 && len(item) > 0 {
					continue
				}
				for _, chain := range []int{1, 3} {
					asset := NewTokenID(chain, standard, n).Asset(item)
					key := asset.Key()
					if back := AssetOf(chain, key); !bytes.Equal(back, asset) {
						t.Errorf("%x has the key %x of %x", asset, key, back)
					}
					if other := seen[string(key)]; other != nil && chain == 3 && !bytes.Equal(other[2:], asset[2:]) {
						t.Errorf("%x and %x have the key %x", other, asset, key)
					}
					seen[string(key)] = asset
					if short := standard == ERC20 && len(key) == 4 || n < 4096 && len(item) <= 3 && len(key) == 5; short != (standard == ERC20 || n < 4096 && len(item) <= 3) {
						t.Errorf("%x has the key %x", asset, key)
					}
					if asset.Token() != NewTokenID(chain, standard, n) || !bytes.Equal(asset.Item(), item) || asset.Token().Chain() != chain || asset.Token().Count() != n {
						t.Errorf("%x is an item %x of token %x", asset, asset.Item(), asset.Token())
					}
				}
			}
		}
	}
	for _, key := range []string{"", "123"} {
		if asset := AssetOf(1, []byte(key)); asset != nil {
			t.Errorf("%q is the key of %x", key, asset)
		}
	}
}

// TestFeesAreCarriedFromDayToDay: validators that pay at the end of a day pay on the next one.
func TestFeesAreCarriedFromDayToDay(t *testing.T) {
	const day = 86_400
	block := func(n uint64, time int64, fee metric.ContinuousFee) *PrimaryDelta {
		return &PrimaryDelta{Block: &PrimaryBlock{ID: At(1, n, 0), Time: time, Type: "Standard", Size: 1, Head: []byte{0}, Hash: hash, Parent: hash, Digest: hash}, Fees: []FeeChange{{Payer: []byte{}, ContinuousFee: fee}}}
	}
	db := made(t, Memory, func(b *Batch) error {
		return errors.Join(b.AddPrimaryBlock(block(0, day, metric.ContinuousFee{Active: 3, Base: 5, Paying: 3})), b.AddPrimaryBlock(block(1, day+9, metric.ContinuousFee{Active: -1, Base: 2})),
			b.AddPrimaryBlock(block(2, 3*day, metric.ContinuousFee{Active: 1, Paying: 1})))
	})
	rows, err := db.FeeRows(t.Context(), 1, []byte{}, 0, 1<<40)
	same(t, "FeeRows", rows, []metric.FeeRow{
		{Day: 3 * day, ContinuousFee: metric.ContinuousFee{Active: 3, Base: 7, Paying: 3}}, {Day: day, ContinuousFee: metric.ContinuousFee{Active: 2, Base: 7, Paying: 3}}}, err)
	first, err := db.FirstFee(t.Context(), 1, []byte{})
	same(t, "FirstFee", first, int64(day), err)
}
