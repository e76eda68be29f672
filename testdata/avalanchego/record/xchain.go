package main

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/chains/atomic"
	"github.com/ava-labs/avalanchego/database"
	"github.com/ava-labs/avalanchego/database/memdb"
	"github.com/ava-labs/avalanchego/genesis"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/snow"
	"github.com/ava-labs/avalanchego/snow/validators"
	"github.com/ava-labs/avalanchego/utils"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/crypto/secp256k1"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/ava-labs/avalanchego/utils/logging"
	"github.com/ava-labs/avalanchego/utils/timer/mockable"
	"github.com/ava-labs/avalanchego/utils/units"
	"github.com/ava-labs/avalanchego/vms/avm/block"
	"github.com/ava-labs/avalanchego/vms/avm/config"
	"github.com/ava-labs/avalanchego/vms/avm/fxs"
	"github.com/ava-labs/avalanchego/vms/avm/txs"
	"github.com/ava-labs/avalanchego/vms/avm/txs/executor"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/components/verify"
	"github.com/ava-labs/avalanchego/vms/nftfx"
	"github.com/ava-labs/avalanchego/vms/propertyfx"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"
	"github.com/ava-labs/libevm/crypto"
)

const now = 1_770_000_000

// xchain is an X-Chain of a few outputs and assets, which avalanchego's verifiers look at.
type xchain struct {
	parser             txs.Parser
	backend            *executor.Backend
	utxos              map[ids.ID]*avax.UTXO
	assets             map[ids.ID]*txs.Tx
	imported           []*avax.UTXO
	avax, x, c, l1     ids.ID
	plain, nfts, fixed ids.ID // assets: with all extensions, of NFTs alone, of amounts alone
	key, other         *secp256k1.PrivateKey
	owner              secp256k1fx.OutputOwners
	random             *rand.Rand
}

func (x *xchain) GetUTXO(id ids.ID) (*avax.UTXO, error) {
	if u, found := x.utxos[id]; found {
		return u, nil
	}
	return nil, database.ErrNotFound
}

func (x *xchain) GetTx(id ids.ID) (*txs.Tx, error) {
	if tx, found := x.assets[id]; found {
		return tx, nil
	}
	return nil, database.ErrNotFound
}

func (*xchain) GetBlockIDAtHeight(uint64) (ids.ID, error) { return ids.Empty, database.ErrNotFound }
func (*xchain) GetBlock(ids.ID) (block.Block, error)      { return nil, database.ErrNotFound }
func (*xchain) GetLastAccepted() ids.ID                   { return ids.Empty }
func (*xchain) GetTimestamp() time.Time                   { return time.Unix(now, 0) }
func (x *xchain) pick(n int) int                          { return x.random.IntN(n) }
func (x *xchain) subnetOf(chain ids.ID) (ids.ID, error) {
	switch chain {
	case x.x, x.c, constants.PlatformChainID:
		return constants.PrimaryNetworkID, nil
	case x.l1:
		return ids.ID{0x51}, nil
	}
	return ids.Empty, database.ErrNotFound
}

// subnets answers the one question about validators that an X-Chain asks.
type subnets struct {
	validators.State
	x *xchain
}

func (s subnets) GetSubnetID(_ context.Context, chain ids.ID) (ids.ID, error) {
	return s.x.subnetOf(chain)
}

func newXChain() (*xchain, error) {
	genesisBytes, avaxAssetID, err := genesis.FromConfig(genesis.GetConfig(constants.MainnetID))
	if err != nil {
		return nil, err
	}
	x := &xchain{utxos: map[ids.ID]*avax.UTXO{}, assets: map[ids.ID]*txs.Tx{}, avax: avaxAssetID, l1: ids.ID{0x11}, random: rand.New(rand.NewPCG(3, 4))}
	for _, chain := range []struct {
		vm ids.ID
		id *ids.ID
	}{{constants.AVMID, &x.x}, {constants.EVMID, &x.c}} {
		tx, err := genesis.VMGenesis(genesisBytes, chain.vm)
		if err != nil {
			return nil, err
		}
		*chain.id = tx.ID()
	}
	for i, key := range []**secp256k1.PrivateKey{&x.key, &x.other} {
		if *key, err = secp256k1.ToPrivateKey(hashing.ComputeHash256([]byte{byte(i)})); err != nil {
			return nil, err
		}
	}
	x.owner = secp256k1fx.OutputOwners{Threshold: 1, Addrs: []ids.ShortID{x.key.Address()}}
	clock := &mockable.Clock{}
	clock.Set(time.Unix(now, 0))
	types := map[reflect.Type]int{}
	all := []fxs.Fx{&secp256k1fx.Fx{}, &nftfx.Fx{}, &propertyfx.Fx{}}
	x.parser, err = txs.NewCustomParser(types, clock, logging.NoLog{}, all)
	if err != nil {
		return nil, err
	}
	memory := atomic.NewMemory(memdb.New())
	x.backend = &executor.Backend{
		Ctx:           &snow.Context{NetworkID: constants.MainnetID, SubnetID: constants.PrimaryNetworkID, ChainID: x.x, ValidatorState: subnets{x: x}, SharedMemory: memory.NewSharedMemory(x.x)},
		Config:        &config.Config{TxFee: units.MilliAvax, CreateAssetTxFee: 10 * units.MilliAvax},
		TypeToFxIndex: types, Codec: x.parser.Codec(), FeeAssetID: x.avax, Bootstrapped: true,
	}
	for _, fx := range all {
		if err := fx.Bootstrapped(); err != nil {
			return nil, err
		}
		x.backend.Fxs = append(x.backend.Fxs, &fxs.ParsedFx{Fx: fx})
	}
	x.populate()
	peer := map[ids.ID]*atomic.Requests{x.x: {}}
	for _, u := range x.imported {
		b, err := x.parser.Codec().Marshal(txs.CodecVersion, u)
		if err != nil {
			return nil, err
		}
		id := u.InputID()
		peer[x.x].PutRequests = append(peer[x.x].PutRequests, &atomic.Element{Key: id[:], Value: b})
	}
	return x, memory.NewSharedMemory(x.c).Apply(peer)
}

// populate makes assets, and outputs of every kind.
func (x *xchain) populate() {
	asset := func(id ids.ID, fxs ...uint32) ids.ID {
		tx := &txs.CreateAssetTx{}
		for _, fx := range fxs {
			tx.States = append(tx.States, &txs.InitialState{FxIndex: fx})
		}
		x.assets[id] = &txs.Tx{Unsigned: tx}
		return id
	}
	asset(x.avax, 0)
	x.plain, x.nfts, x.fixed = asset(ids.ID{0xa1}, 0, 1, 2), asset(ids.ID{0xa2}, 1), asset(ids.ID{0xa3}, 0)
	n := uint32(0)
	utxo := func(asset ids.ID, out verify.State) *avax.UTXO {
		n++
		return &avax.UTXO{UTXOID: avax.UTXOID{TxID: ids.ID{7}, OutputIndex: n}, Asset: avax.Asset{ID: asset}, Out: out}
	}
	put := func(asset ids.ID, out verify.State) { u := utxo(asset, out); x.utxos[u.InputID()] = u }
	amount := func(n uint64, owner secp256k1fx.OutputOwners) *secp256k1fx.TransferOutput {
		return &secp256k1fx.TransferOutput{Amt: n, OutputOwners: owner}
	}
	two := secp256k1fx.OutputOwners{Threshold: 2, Addrs: []ids.ShortID{x.key.Address(), x.other.Address()}}
	two.Sort()
	locked := x.owner
	locked.Locktime = now + 1
	for _, owner := range []secp256k1fx.OutputOwners{x.owner, x.owner, two, locked} {
		put(x.avax, amount(units.Avax, owner))
	}
	put(x.plain, amount(1000, x.owner))
	put(x.fixed, amount(500, x.owner))
	for _, asset := range []ids.ID{x.plain, x.nfts, x.fixed} { // fixed has outputs of extensions that it does not support
		put(asset, &nftfx.MintOutput{GroupID: 3, OutputOwners: x.owner})
		put(asset, &nftfx.TransferOutput{GroupID: 3, Payload: []byte("picture"), OutputOwners: x.owner})
		if asset != x.nfts {
			put(asset, &secp256k1fx.MintOutput{OutputOwners: x.owner})
			put(asset, &propertyfx.MintOutput{OutputOwners: x.owner})
			put(asset, &propertyfx.OwnedOutput{OutputOwners: x.owner})
		}
	}
	put(x.plain, &secp256k1fx.MintOutput{OutputOwners: locked})
	put(x.plain, &secp256k1fx.MintOutput{OutputOwners: two})
	x.imported = []*avax.UTXO{utxo(x.avax, amount(units.Avax, x.owner)), utxo(x.avax, amount(2*units.Avax, locked)), utxo(x.fixed, amount(9, x.owner))}
}

// inputs spends outputs of amounts.
func (x *xchain) input(u *avax.UTXO) *avax.TransferableInput {
	out := u.Out.(*secp256k1fx.TransferOutput)
	in := &secp256k1fx.TransferInput{Amt: out.Amt}
	for i := range out.Threshold {
		in.SigIndices = append(in.SigIndices, i)
	}
	return &avax.TransferableInput{UTXOID: u.UTXOID, Asset: u.Asset, In: in}
}

func (x *xchain) sorted(of func(*avax.UTXO) bool) (all []*avax.UTXO) {
	for _, u := range x.utxos {
		if of(u) {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b *avax.UTXO) int { return a.UTXOID.Compare(&b.UTXOID) })
	return all
}

func isAmount(u *avax.UTXO) bool { _, ok := u.Out.(*secp256k1fx.TransferOutput); return ok }

// base spends one to four of the outputs of amounts and pays all but the fee back, in two parts.
func (x *xchain) base(fee uint64) avax.BaseTx {
	b := avax.BaseTx{NetworkID: constants.MainnetID, BlockchainID: x.x}
	change := map[ids.ID]uint64{}
	for i, u := range x.sorted(isAmount) {
		if out := u.Out.(*secp256k1fx.TransferOutput); i == 0 || out.Locktime == 0 && x.pick(2) == 0 {
			b.Ins = append(b.Ins, x.input(u))
			change[u.AssetID()] += out.Amt
		}
	}
	change[x.avax] -= fee
	for _, asset := range []ids.ID{x.avax, x.plain, x.fixed} {
		if n := change[asset]; n > 0 {
			for _, part := range []uint64{n / 2, n - n/2} {
				b.Outs = append(b.Outs, x.output(asset, part))
			}
		}
	}
	x.sortOutputs(b.Outs)
	return b
}

func (x *xchain) output(asset ids.ID, n uint64) *avax.TransferableOutput {
	return &avax.TransferableOutput{Asset: avax.Asset{ID: asset}, Out: &secp256k1fx.TransferOutput{Amt: n, OutputOwners: x.owner}}
}

func (x *xchain) sortOutputs(outs []*avax.TransferableOutput) {
	avax.SortTransferableOutputs(outs, x.backend.Codec)
}

func (x *xchain) operation(u *avax.UTXO) *txs.Operation {
	auth := secp256k1fx.Input{SigIndices: []uint32{0}}
	op := &txs.Operation{Asset: u.Asset, UTXOIDs: []*avax.UTXOID{{TxID: u.TxID, OutputIndex: u.OutputIndex}}}
	switch out := u.Out.(type) {
	case *secp256k1fx.MintOutput:
		for i := uint32(1); i < out.Threshold; i++ {
			auth.SigIndices = append(auth.SigIndices, i)
		}
		op.Op = &secp256k1fx.MintOperation{MintInput: auth, MintOutput: *out, TransferOutput: secp256k1fx.TransferOutput{Amt: 50, OutputOwners: x.owner}}
	case *nftfx.MintOutput:
		op.Op = &nftfx.MintOperation{MintInput: auth, GroupID: out.GroupID, Payload: []byte("new"), Outputs: []*secp256k1fx.OutputOwners{&x.owner}}
	case *nftfx.TransferOutput:
		op.Op = &nftfx.TransferOperation{Input: auth, Output: *out}
	case *propertyfx.MintOutput:
		op.Op = &propertyfx.MintOperation{MintInput: auth, MintOutput: *out, OwnedOutput: propertyfx.OwnedOutput{OutputOwners: x.owner}}
	case *propertyfx.OwnedOutput:
		op.Op = &propertyfx.BurnOperation{Input: auth}
	}
	return op
}

// build makes a transaction of one of the five types that avalanchego accepts.
func (x *xchain) build() txs.UnsignedTx {
	switch x.pick(5) {
	case 0:
		return &txs.BaseTx{BaseTx: x.base(units.MilliAvax)}
	case 1:
		tx := &txs.CreateAssetTx{BaseTx: txs.BaseTx{BaseTx: x.base(10 * units.MilliAvax)}, Name: "Test Token 2", Symbol: "TEST", Denomination: 9, States: []*txs.InitialState{
			{FxIndex: 0, Outs: []verify.State{&secp256k1fx.TransferOutput{Amt: 100, OutputOwners: x.owner}, &secp256k1fx.MintOutput{OutputOwners: x.owner}}},
			{FxIndex: 1, Outs: []verify.State{&nftfx.MintOutput{GroupID: 7, OutputOwners: x.owner}, &nftfx.TransferOutput{GroupID: 7, Payload: []byte("p"), OutputOwners: x.owner}}},
			{FxIndex: 2, Outs: []verify.State{&propertyfx.MintOutput{OutputOwners: x.owner}}},
		}}
		for _, state := range tx.States {
			state.Sort(x.backend.Codec)
		}
		return tx
	case 2:
		tx := &txs.OperationTx{BaseTx: txs.BaseTx{BaseTx: x.base(units.MilliAvax)}}
		for _, u := range x.sorted(func(u *avax.UTXO) bool { return !isAmount(u) && u.AssetID() != x.fixed }) {
			if owners, ok := u.Out.(*secp256k1fx.MintOutput); x.pick(3) == 0 && !(ok && owners.Locktime > 0) {
				tx.Ops = append(tx.Ops, x.operation(u))
			}
		}
		if len(tx.Ops) == 0 {
			return x.build()
		}
		txs.SortOperations(tx.Ops, x.backend.Codec)
		return tx
	case 3:
		tx := &txs.ImportTx{BaseTx: txs.BaseTx{BaseTx: x.base(units.MilliAvax)}, SourceChain: x.c, ImportedIns: []*avax.TransferableInput{x.input(x.imported[0])}}
		tx.Outs = append(tx.Outs, x.output(x.avax, units.Avax))
		if x.pick(2) == 0 {
			tx.ImportedIns = append(tx.ImportedIns, x.input(x.imported[2]))
			tx.Outs = append(tx.Outs, x.output(x.fixed, 9))
		}
		x.sortOutputs(tx.Outs)
		return tx
	}
	tx := &txs.ExportTx{BaseTx: txs.BaseTx{BaseTx: x.base(units.MilliAvax + 300)}, DestinationChain: []ids.ID{x.c, constants.PlatformChainID}[x.pick(2)]}
	tx.ExportedOuts = []*avax.TransferableOutput{x.output(x.avax, 100), x.output(x.avax, 200)}
	x.sortOutputs(tx.ExportedOuts)
	return tx
}

func baseOf(u txs.UnsignedTx) *avax.BaseTx {
	switch u := u.(type) {
	case *txs.BaseTx:
		return &u.BaseTx
	case *txs.CreateAssetTx:
		return &u.BaseTx.BaseTx
	case *txs.OperationTx:
		return &u.BaseTx.BaseTx
	case *txs.ImportTx:
		return &u.BaseTx.BaseTx
	case *txs.ExportTx:
		return &u.BaseTx.BaseTx
	}
	return nil
}

// fault makes one mistake in a transaction, and reports whether it applies to the transaction.
type fault func(x *xchain, u txs.UnsignedTx) bool

func inBase(do func(x *xchain, b *avax.BaseTx)) fault {
	return func(x *xchain, u txs.UnsignedTx) bool { do(x, baseOf(u)); return true }
}

func inSomeInput(do func(x *xchain, in *avax.TransferableInput)) fault {
	return func(x *xchain, u txs.UnsignedTx) bool {
		all := baseOf(u).Ins
		if i, ok := u.(*txs.ImportTx); ok {
			all = append(slices.Clone(all), i.ImportedIns...)
		}
		if len(all) > 0 {
			do(x, all[x.pick(len(all))])
		}
		return len(all) > 0
	}
}

func inSomeOutput(do func(x *xchain, out *avax.TransferableOutput)) fault {
	return func(x *xchain, u txs.UnsignedTx) bool {
		all := baseOf(u).Outs
		if e, ok := u.(*txs.ExportTx); ok {
			all = append(slices.Clone(all), e.ExportedOuts...)
		}
		if len(all) > 0 {
			do(x, all[x.pick(len(all))])
		}
		return len(all) > 0
	}
}

func inAsset(do func(x *xchain, u *txs.CreateAssetTx)) fault {
	return func(x *xchain, u txs.UnsignedTx) bool {
		create, ok := u.(*txs.CreateAssetTx)
		if ok {
			do(x, create)
		}
		return ok
	}
}

// inOperation changes an operation; the others keep their order.
func inOperation(do func(x *xchain, op *txs.Operation)) fault {
	return func(x *xchain, u txs.UnsignedTx) bool {
		tx, ok := u.(*txs.OperationTx)
		if ok && len(tx.Ops) > 0 {
			do(x, tx.Ops[x.pick(len(tx.Ops))])
			if x.pick(4) > 0 {
				txs.SortOperations(tx.Ops, x.backend.Codec)
			}
		}
		return ok && len(tx.Ops) > 0
	}
}

func amountOf(in *avax.TransferableInput) *secp256k1fx.TransferInput {
	return in.In.(*secp256k1fx.TransferInput)
}

// authorization returns the part of an operation that names its signers.
func authorization(op *txs.Operation) *secp256k1fx.Input {
	switch o := op.Op.(type) {
	case *secp256k1fx.MintOperation:
		return &o.MintInput
	case *nftfx.MintOperation:
		return &o.MintInput
	case *nftfx.TransferOperation:
		return &o.Input
	case *propertyfx.MintOperation:
		return &o.MintInput
	case *propertyfx.BurnOperation:
		return &o.Input
	}
	return nil
}

var faults = []fault{
	inBase(func(_ *xchain, b *avax.BaseTx) { b.NetworkID = 5 }),
	inBase(func(x *xchain, b *avax.BaseTx) { b.BlockchainID = x.c }),
	inBase(func(_ *xchain, b *avax.BaseTx) { b.Memo = make([]byte, 257) }),
	inBase(func(_ *xchain, b *avax.BaseTx) { slices.Reverse(b.Ins) }),
	inBase(func(_ *xchain, b *avax.BaseTx) { slices.Reverse(b.Outs) }),
	inBase(func(x *xchain, b *avax.BaseTx) { b.Ins = append(b.Ins, b.Ins...) }),
	inBase(func(x *xchain, b *avax.BaseTx) { b.Outs = append(b.Outs, x.output(ids.ID{0xff}, 1)) }),
	inBase(func(x *xchain, b *avax.BaseTx) { b.Outs = nil }),
	inBase(func(x *xchain, b *avax.BaseTx) { b.Ins, b.Outs = nil, nil }),
	inBase(func(x *xchain, b *avax.BaseTx) { // spends what is locked
		locked := x.sorted(func(u *avax.UTXO) bool { return isAmount(u) && u.Out.(*secp256k1fx.TransferOutput).Locktime > 0 })[0]
		b.Ins = append(b.Ins, x.input(locked))
		utils.Sort(b.Ins)
	}),
	inBase(func(x *xchain, b *avax.BaseTx) { // spends what is no amount
		right := x.sorted(func(u *avax.UTXO) bool { return !isAmount(u) })
		u := right[x.pick(len(right))]
		b.Ins = append(b.Ins, &avax.TransferableInput{UTXOID: u.UTXOID, Asset: u.Asset, In: &secp256k1fx.TransferInput{Amt: 1, Input: secp256k1fx.Input{SigIndices: []uint32{0}}}})
		utils.Sort(b.Ins)
	}),
	inSomeInput(func(_ *xchain, in *avax.TransferableInput) { in.OutputIndex += 1000 }),
	inSomeInput(func(_ *xchain, in *avax.TransferableInput) { in.Asset.ID = ids.Empty }),
	inSomeInput(func(x *xchain, in *avax.TransferableInput) { in.Asset.ID = x.plain }),
	inSomeInput(func(_ *xchain, in *avax.TransferableInput) { amountOf(in).Amt = 0 }),
	inSomeInput(func(_ *xchain, in *avax.TransferableInput) { amountOf(in).Amt++ }),
	inSomeInput(func(_ *xchain, in *avax.TransferableInput) { amountOf(in).Amt = 1<<64 - 1 }),
	inSomeInput(func(_ *xchain, in *avax.TransferableInput) { amountOf(in).SigIndices = []uint32{1, 0} }),
	inSomeInput(func(_ *xchain, in *avax.TransferableInput) { amountOf(in).SigIndices = []uint32{0, 1, 2} }),
	inSomeInput(func(_ *xchain, in *avax.TransferableInput) { amountOf(in).SigIndices = nil }),
	inSomeInput(func(_ *xchain, in *avax.TransferableInput) { amountOf(in).SigIndices = []uint32{7} }),
	inSomeOutput(func(_ *xchain, out *avax.TransferableOutput) { out.Asset.ID = ids.Empty }),
	inSomeOutput(func(x *xchain, out *avax.TransferableOutput) { out.Asset.ID = x.nfts }),
	inSomeOutput(func(_ *xchain, out *avax.TransferableOutput) { out.Out.(*secp256k1fx.TransferOutput).Amt = 0 }),
	inSomeOutput(func(_ *xchain, out *avax.TransferableOutput) { out.Out.(*secp256k1fx.TransferOutput).Amt++ }),
	inSomeOutput(func(_ *xchain, out *avax.TransferableOutput) { out.Out.(*secp256k1fx.TransferOutput).Amt = 1<<64 - 1 }),
	inSomeOutput(func(_ *xchain, out *avax.TransferableOutput) { out.Out.(*secp256k1fx.TransferOutput).Threshold = 2 }),
	inSomeOutput(func(_ *xchain, out *avax.TransferableOutput) { out.Out.(*secp256k1fx.TransferOutput).Threshold = 0 }),
	inSomeOutput(func(x *xchain, out *avax.TransferableOutput) {
		o := out.Out.(*secp256k1fx.TransferOutput)
		o.Addrs = []ids.ShortID{o.Addrs[0], o.Addrs[0]}
	}),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Name = "" }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Name = strings.Repeat("N", 129) }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Name = " N" }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Name = "N\u00a0" }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Name = "N-1" }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Name = "Né" }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Symbol = "" }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Symbol = "ABCDE" }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Symbol = "A1" }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Symbol = "É" }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.Denomination = 33 }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.States = nil }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { slices.Reverse(u.States) }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.States = append(u.States, &txs.InitialState{FxIndex: 3}) }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.States = append(u.States, &txs.InitialState{FxIndex: 2}) }),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) {
		for _, state := range u.States {
			slices.Reverse(state.Outs)
		}
	}),
	inAsset(func(x *xchain, u *txs.CreateAssetTx) { // an extension's output within another's
		u.States = []*txs.InitialState{{FxIndex: uint32(x.pick(3)), Outs: []verify.State{&propertyfx.OwnedOutput{OutputOwners: x.owner}}}}
	}),
	inAsset(func(x *xchain, u *txs.CreateAssetTx) {
		u.States = []*txs.InitialState{{Outs: []verify.State{&secp256k1fx.TransferOutput{OutputOwners: x.owner}}}}
	}),
	inAsset(func(x *xchain, u *txs.CreateAssetTx) {
		u.States = []*txs.InitialState{{FxIndex: 1, Outs: []verify.State{&nftfx.TransferOutput{Payload: make([]byte, 1024+x.pick(2)), OutputOwners: x.owner}}}}
	}),
	inAsset(func(x *xchain, u *txs.CreateAssetTx) {
		u.States = []*txs.InitialState{{FxIndex: 2, Outs: []verify.State{&propertyfx.MintOutput{OutputOwners: secp256k1fx.OutputOwners{Threshold: 1}}}}}
	}),
	inAsset(func(_ *xchain, u *txs.CreateAssetTx) { u.States = []*txs.InitialState{{FxIndex: 1}} }),
	func(_ *xchain, u txs.UnsignedTx) bool {
		tx, ok := u.(*txs.OperationTx)
		if ok {
			tx.Ops = nil
		}
		return ok
	},
	func(_ *xchain, u txs.UnsignedTx) bool {
		tx, ok := u.(*txs.OperationTx)
		if ok {
			slices.Reverse(tx.Ops)
		}
		return ok
	},
	func(_ *xchain, u txs.UnsignedTx) bool { // the same operation twice
		tx, ok := u.(*txs.OperationTx)
		if ok = ok && len(tx.Ops) > 0; ok {
			tx.Ops = append(tx.Ops, tx.Ops[len(tx.Ops)-1])
		}
		return ok
	},
	func(x *xchain, u txs.UnsignedTx) bool { // operations on outputs whose asset does not support them
		tx, ok := u.(*txs.OperationTx)
		if ok {
			all := x.sorted(func(u *avax.UTXO) bool { return !isAmount(u) && u.AssetID() == x.fixed })
			tx.Ops = append(tx.Ops, x.operation(all[x.pick(len(all))]))
			txs.SortOperations(tx.Ops, x.backend.Codec)
		}
		return ok
	},
	func(x *xchain, u txs.UnsignedTx) bool { // a right that is locked still
		tx, ok := u.(*txs.OperationTx)
		if ok {
			locked := x.sorted(func(u *avax.UTXO) bool { o, ok := u.Out.(*secp256k1fx.MintOutput); return ok && o.Locktime > 0 })[0]
			tx.Ops = append(tx.Ops, x.operation(locked))
			txs.SortOperations(tx.Ops, x.backend.Codec)
		}
		return ok
	},
	func(x *xchain, u txs.UnsignedTx) bool { // what an input spends
		tx, ok := u.(*txs.OperationTx)
		if ok = ok && len(tx.Ops) > 0 && len(tx.Ins) > 0 && len(tx.Ops[0].UTXOIDs) > 0; ok {
			tx.Ops[0].UTXOIDs[0] = &tx.Ins[0].UTXOID
			txs.SortOperations(tx.Ops, x.backend.Codec)
		}
		return ok
	},
	inOperation(func(_ *xchain, op *txs.Operation) { op.UTXOIDs = nil }),
	inOperation(func(_ *xchain, op *txs.Operation) { op.UTXOIDs = append(op.UTXOIDs, op.UTXOIDs...) }),
	inOperation(func(_ *xchain, op *txs.Operation) {
		op.UTXOIDs = append(op.UTXOIDs, &avax.UTXOID{TxID: ids.ID{9}, OutputIndex: 1})
	}),
	inOperation(func(x *xchain, op *txs.Operation) { // two outputs of its asset
		if len(op.UTXOIDs) == 0 {
			return
		}
		for _, u := range x.sorted(func(u *avax.UTXO) bool { return u.AssetID() == op.AssetID() && u.UTXOID.Compare(op.UTXOIDs[0]) > 0 }) {
			op.UTXOIDs = append(op.UTXOIDs[:1], &u.UTXOID)
		}
	}),
	inOperation(func(_ *xchain, op *txs.Operation) {
		if len(op.UTXOIDs) > 0 {
			op.UTXOIDs = []*avax.UTXOID{{TxID: op.UTXOIDs[0].TxID, OutputIndex: 999}}
		}
	}),
	inOperation(func(_ *xchain, op *txs.Operation) { op.Asset.ID = ids.Empty }),
	inOperation(func(x *xchain, op *txs.Operation) { op.Asset.ID = x.fixed }),
	inOperation(func(_ *xchain, op *txs.Operation) { authorization(op).SigIndices = []uint32{1, 0} }),
	inOperation(func(_ *xchain, op *txs.Operation) { authorization(op).SigIndices = []uint32{4} }),
	inOperation(func(_ *xchain, op *txs.Operation) { authorization(op).SigIndices = nil }),
	inOperation(func(x *xchain, op *txs.Operation) { // another kind's operation
		all := x.sorted(func(u *avax.UTXO) bool { return !isAmount(u) })
		op.Op = x.operation(all[x.pick(len(all))]).Op
	}),
	inOperation(func(x *xchain, op *txs.Operation) {
		switch o := op.Op.(type) {
		case *secp256k1fx.MintOperation:
			switch x.pick(4) {
			case 0:
				o.MintOutput.Threshold, o.MintOutput.Addrs = 0, nil
			case 1:
				o.MintOutput.Threshold = 3
			case 2:
				o.TransferOutput.Amt = 0
			case 3:
				o.TransferOutput.Threshold = 2
			}
		case *nftfx.MintOperation:
			switch x.pick(4) {
			case 0:
				o.GroupID++
			case 1:
				o.Payload = make([]byte, 1025)
			case 2:
				o.Outputs = []*secp256k1fx.OutputOwners{{Threshold: 1}}
			case 3:
				o.Outputs = nil
			}
		case *nftfx.TransferOperation:
			switch x.pick(4) {
			case 0:
				o.Output.GroupID++
			case 1:
				o.Output.Payload = []byte("other")
			case 2:
				o.Output.Payload = make([]byte, 1025)
			case 3:
				o.Output.Threshold = 2
			}
		case *propertyfx.MintOperation:
			switch x.pick(3) {
			case 0:
				o.MintOutput.Threshold, o.MintOutput.Addrs = 0, nil
			case 1:
				o.MintOutput.Threshold = 3
			case 2:
				o.OwnedOutput.Threshold = 3
			}
		}
	}),
	func(_ *xchain, u txs.UnsignedTx) bool {
		switch u := u.(type) {
		case *txs.ImportTx:
			u.ImportedIns = nil
		case *txs.ExportTx:
			u.ExportedOuts = nil
		default:
			return false
		}
		return true
	},
	func(_ *xchain, u txs.UnsignedTx) bool {
		switch u := u.(type) {
		case *txs.ImportTx:
			slices.Reverse(u.ImportedIns)
		case *txs.ExportTx:
			slices.Reverse(u.ExportedOuts)
		default:
			return false
		}
		return true
	},
	func(x *xchain, u txs.UnsignedTx) bool { // what is locked still
		tx, ok := u.(*txs.ImportTx)
		if ok {
			tx.ImportedIns = append(tx.ImportedIns, x.input(x.imported[1]))
			utils.Sort(tx.ImportedIns)
		}
		return ok
	},
	func(x *xchain, u txs.UnsignedTx) bool {
		chain := []ids.ID{x.x, x.l1, {0x99}}[x.pick(3)]
		switch u := u.(type) {
		case *txs.ImportTx:
			u.SourceChain = chain
		case *txs.ExportTx:
			u.DestinationChain = chain
		default:
			return false
		}
		return true
	},
}

// signed signs each input and operation, and then sometimes makes a mistake in it.
func (x *xchain) signed(u txs.UnsignedTx, wrong bool) (*txs.Tx, error) {
	tx := &txs.Tx{Unsigned: u}
	if err := tx.Initialize(x.backend.Codec); err != nil {
		return nil, err
	}
	unsigned, err := x.backend.Codec.Marshal(txs.CodecVersion, &tx.Unsigned)
	if err != nil {
		return nil, err
	}
	keys := []*secp256k1.PrivateKey{x.key, x.other}
	sign := func(in *secp256k1fx.Input, id ids.ID) (c secp256k1fx.Credential) {
		owners := []ids.ShortID{x.key.Address()}
		if u, found := x.utxos[id]; found {
			if o, ok := u.Out.(interface{ Owners() interface{} }); ok {
				owners = o.Owners().(*secp256k1fx.OutputOwners).Addrs
			}
		}
		for _, i := range in.SigIndices {
			key := x.key
			for _, k := range keys {
				if int(i) < len(owners) && k.Address() == owners[i] {
					key = k
				}
			}
			sig, err := key.Sign(unsigned)
			if err != nil {
				return c
			}
			c.Sigs = append(c.Sigs, [secp256k1.SignatureLen]byte(sig))
		}
		return c
	}
	inputs := baseOf(u).Ins
	if i, ok := u.(*txs.ImportTx); ok {
		inputs = append(slices.Clone(inputs), i.ImportedIns...)
	}
	for _, in := range inputs {
		c := sign(&amountOf(in).Input, in.InputID())
		tx.Creds = append(tx.Creds, &fxs.FxCredential{Credential: &c})
	}
	if o, ok := u.(*txs.OperationTx); ok {
		for _, op := range o.Ops {
			id := ids.Empty
			if len(op.UTXOIDs) > 0 {
				id = op.UTXOIDs[0].InputID()
			}
			c := sign(authorization(op), id)
			var credential verify.Verifiable = &c
			switch op.Op.(type) {
			case *nftfx.MintOperation, *nftfx.TransferOperation:
				credential = &nftfx.Credential{Credential: c}
			case *propertyfx.MintOperation, *propertyfx.BurnOperation:
				credential = &propertyfx.Credential{Credential: c}
			}
			tx.Creds = append(tx.Creds, &fxs.FxCredential{Credential: credential})
		}
	}
	if wrong && len(tx.Creds) > 0 {
		x.missign(tx, unsigned)
	}
	return tx, tx.Initialize(x.backend.Codec)
}

// missign makes a mistake in one of the credentials.
func (x *xchain) missign(tx *txs.Tx, unsigned []byte) {
	i := x.pick(len(tx.Creds))
	sigs := signaturesOf(tx.Creds[i])
	switch x.pick(9) {
	case 0:
		tx.Creds = slices.Delete(tx.Creds, i, i+1)
	case 1:
		tx.Creds = append(tx.Creds, tx.Creds[i])
	case 2:
		tx.Creds[i] = &fxs.FxCredential{Credential: &nftfx.Credential{Credential: secp256k1fx.Credential{Sigs: *sigs}}}
	case 3:
		tx.Creds[i] = &fxs.FxCredential{Credential: &propertyfx.Credential{Credential: secp256k1fx.Credential{Sigs: *sigs}}}
	case 4:
		*sigs = append(*sigs, [secp256k1.SignatureLen]byte{1})
	case 5: // another's
		if sig, err := x.other.Sign(unsigned); err == nil && len(*sigs) > 0 {
			(*sigs)[0] = [secp256k1.SignatureLen]byte(sig)
		}
	case 6: // not one of anybody
		if len(*sigs) > 0 {
			(*sigs)[x.pick(len(*sigs))] = [secp256k1.SignatureLen]byte{64: byte(x.pick(2) * 9)}
		}
	case 7: // with the other s
		if len(*sigs) > 0 {
			sig := &(*sigs)[0]
			s := new(big.Int).SetBytes(sig[32:64])
			s.Sub(crypto.S256().Params().N, s).FillBytes(sig[32:64])
			sig[64] ^= 1
		}
	case 8: // of a compressed key
		if len(*sigs) > 0 {
			(*sigs)[0][64] += 4
		}
	}
}

func signaturesOf(c *fxs.FxCredential) *[][secp256k1.SignatureLen]byte {
	switch c := c.Credential.(type) {
	case *secp256k1fx.Credential:
		return &c.Sigs
	case *nftfx.Credential:
		return &c.Sigs
	case *propertyfx.Credential:
		return &c.Sigs
	}
	return nil
}

// judge returns the error with which avalanchego refuses a transaction.
func (x *xchain) judge(tx *txs.Tx) error {
	if err := tx.Unsigned.Visit(&executor.SyntacticVerifier{Backend: x.backend, Tx: tx}); err != nil {
		return err
	}
	return tx.Unsigned.Visit(&executor.SemanticVerifier{Backend: x.backend, State: x, Tx: tx})
}

// judged is one transaction and the error, empty if it is valid.
type judged struct {
	Tx    string `json:"tx"`
	Error string `json:"error,omitempty"`
}

// recordXChain writes an X-Chain and transactions with no, one or two mistakes, each with the verdict of avalanchego's verifiers.
func recordXChain(w io.Writer) error {
	x, err := newXChain()
	if err != nil {
		return err
	}
	var list struct {
		Time     uint64              `json:"time"`
		L1       ids.ID              `json:"l1"`
		Assets   map[string][]uint32 `json:"assets"`
		UTXOs    []string            `json:"utxos"`
		Imported []string            `json:"imported"`
		Txs      []judged            `json:"txs"`
	}
	list.Time, list.L1, list.Assets = now, x.l1, map[string][]uint32{}
	for id, tx := range x.assets {
		for _, state := range tx.Unsigned.(*txs.CreateAssetTx).States {
			list.Assets[id.String()] = append(list.Assets[id.String()], state.FxIndex)
		}
	}
	for to, from := range map[*[]string][]*avax.UTXO{&list.UTXOs: x.sorted(func(*avax.UTXO) bool { return true }), &list.Imported: x.imported} {
		for _, u := range from {
			b, err := x.backend.Codec.Marshal(txs.CodecVersion, u)
			if err != nil {
				return err
			}
			*to = append(*to, hex.EncodeToString(b))
		}
	}
	add := func(u txs.UnsignedTx, wrong bool) error {
		tx, err := x.signed(u, wrong)
		if err != nil {
			return err
		}
		j := judged{Tx: hex.EncodeToString(tx.Bytes())}
		if tx, err = x.parser.ParseTx(tx.Bytes()); err != nil { // without the ids that inputs remember
			return err
		}
		if err := x.judge(tx); err != nil {
			j.Error = err.Error()
		}
		list.Txs = append(list.Txs, j)
		return nil
	}
	for range 12 {
		if err := add(x.build(), false); err != nil {
			return err
		}
	}
	for range 80 {
		if err := add(x.build(), true); err != nil {
			return err
		}
	}
	// Each mistake by itself and together with another.
	for _, first := range faults {
		for nth := range 9 {
			u := x.build()
			for !first(x, u) {
				u = x.build()
			}
			if nth > 1 {
				for !faults[x.pick(len(faults))](x, u) {
				}
			}
			if err := add(u, nth > 6); err != nil {
				return err
			}
		}
	}
	if len(list.Txs) < 200 {
		return errors.New("too few transactions")
	}
	return pack(w, list)
}

func pack(w io.Writer, list any) error {
	packed := gzip.NewWriter(w)
	if err := json.NewEncoder(packed).Encode(list); err != nil {
		return err
	}
	return packed.Close()
}
