package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/chains"
	"github.com/ava-labs/avalanchego/chains/atomic"
	"github.com/ava-labs/avalanchego/database/memdb"
	"github.com/ava-labs/avalanchego/database/prefixdb"
	"github.com/ava-labs/avalanchego/genesis"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/snow"
	"github.com/ava-labs/avalanchego/snow/engine/snowman/block"
	"github.com/ava-labs/avalanchego/snow/uptime"
	"github.com/ava-labs/avalanchego/snow/validators"
	"github.com/ava-labs/avalanchego/upgrade"
	"github.com/ava-labs/avalanchego/utils"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/crypto/bls"
	"github.com/ava-labs/avalanchego/utils/crypto/bls/signer/localsigner"
	"github.com/ava-labs/avalanchego/utils/crypto/secp256k1"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/ava-labs/avalanchego/utils/logging"
	"github.com/ava-labs/avalanchego/utils/set"
	"github.com/ava-labs/avalanchego/utils/units"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/components/verify"
	"github.com/ava-labs/avalanchego/vms/platformvm/block/executor"
	"github.com/ava-labs/avalanchego/vms/platformvm/config"
	"github.com/ava-labs/avalanchego/vms/platformvm/fx"
	"github.com/ava-labs/avalanchego/vms/platformvm/metrics"
	"github.com/ava-labs/avalanchego/vms/platformvm/signer"
	"github.com/ava-labs/avalanchego/vms/platformvm/stakeable"
	"github.com/ava-labs/avalanchego/vms/platformvm/state"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs/mempool"
	"github.com/ava-labs/avalanchego/vms/platformvm/utxo"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp/message"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp/payload"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"
	"github.com/prometheus/client_golang/prometheus"

	linear "github.com/ava-labs/avalanchego/codec/linearcodec"
	pblock "github.com/ava-labs/avalanchego/vms/platformvm/block"
	platformgenesis "github.com/ava-labs/avalanchego/vms/platformvm/genesis"
	txexecutor "github.com/ava-labs/avalanchego/vms/platformvm/txs/executor"
	platformvalidators "github.com/ava-labs/avalanchego/vms/platformvm/validators"
)

const (
	day = 24 * 60 * 60
	fee = 10 * units.MilliAvax // more than any of the transactions costs
)

// pchain is the real P-Chain with a few subnets, validators and an L1.
type pchain struct {
	network    uint32
	activation time.Time // of Helicon
	start      int64     // of the chain
	plain      int       // plain outputs of the genesis
	state      *state.State
	manager    executor.Manager
	vm         *secp256k1fx.TestVM
	internal   *config.Internal
	memory     *atomic.Memory
	avax, x, c ids.ID
	keys       []*secp256k1.PrivateKey
	owner      secp256k1fx.OutputOwners
	random     *rand.Rand

	genesis  []byte
	blocks   []string
	imported []*avax.UTXO
	spent    int  // outputs of the genesis that the first blocks used
	ready    bool // nothing more is accepted, so that each transaction can spend the same

	permissioned, legacy, shared ids.ID // subnets: with a chain and a validator, without either, of two owners
	l1, chain                    ids.ID // an L1 and its chain
	other                        ids.ID // the chain of the permissioned subnet

	renewed map[byte]ids.ID // the latest transactions of auto-renewed validators, by node
	earlier ids.ID          // of a node that left and came back
}

// validatorState answers verification's questions about the P-Chain with the present validators.
type validatorState struct {
	validators.State
	p *pchain
}

func (validatorState) GetMinimumHeight(context.Context) (uint64, error) { return 0, nil }

func (s validatorState) GetSubnetID(ctx context.Context, chain ids.ID) (ids.ID, error) {
	if chain == s.p.x || chain == s.p.c { // which the genesis does not name
		return constants.PrimaryNetworkID, nil
	}
	return s.State.GetSubnetID(ctx, chain)
}

func (s validatorState) GetValidatorSet(_ context.Context, _ uint64, subnet ids.ID) (map[ids.NodeID]*validators.GetValidatorOutput, error) {
	return s.p.internal.Validators.GetMap(subnet), nil
}

func nodeID(n byte) ids.NodeID { return ids.NodeID{19: n} }

func blsKey(n byte) *localsigner.LocalSigner {
	key, err := localsigner.FromBytes(append(make([]byte, 31), n))
	if err != nil {
		panic(err)
	}
	return key
}

// newPChain makes a P-Chain on which Helicon activates at a time. If that has passed, validators renew themselves on it.
func newPChain(network uint32, activation time.Time) (*pchain, error) {
	genesisBytes, avaxAssetID, err := genesis.FromConfig(genesis.GetConfig(network))
	if err != nil {
		return nil, err
	}
	p := &pchain{
		network: network, activation: activation, start: now - day, plain: 16, avax: avaxAssetID, random: rand.New(rand.NewPCG(5, 6)),
		vm: &secp256k1fx.TestVM{Log: logging.NoLog{}, Codec: linear.NewDefault()}, renewed: map[byte]ids.ID{},
	}
	renews := !activation.After(time.Unix(now, 0))
	if renews {
		p.start, p.plain = now-46*day, 40
	}
	for vm, id := range map[ids.ID]*ids.ID{constants.AVMID: &p.x, constants.EVMID: &p.c} {
		tx, err := genesis.VMGenesis(genesisBytes, vm)
		if err != nil {
			return nil, err
		}
		*id = tx.ID()
	}
	for i := range byte(2) {
		key, err := secp256k1.ToPrivateKey(hashing.ComputeHash256([]byte{i}))
		if err != nil {
			return nil, err
		}
		p.keys = append(p.keys, key)
	}
	p.owner = secp256k1fx.OutputOwners{Threshold: 1, Addrs: []ids.ShortID{p.keys[0].Address()}}
	if err := p.begin(); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	if renews {
		if err := p.renew(); err != nil {
			return nil, err
		}
	}
	err = p.populate()
	p.ready = true
	return p, err
}

func (p *pchain) two() secp256k1fx.OutputOwners {
	two := secp256k1fx.OutputOwners{Threshold: 2, Addrs: []ids.ShortID{p.keys[0].Address(), p.keys[1].Address()}}
	two.Sort()
	return two
}

// genesisUTXOs are plenty of plain outputs, and one of each other kind at the end.
func (p *pchain) genesisUTXOs() (all []*platformgenesis.UTXO) {
	put := func(asset ids.ID, out verify.State) {
		u := avax.UTXO{UTXOID: avax.UTXOID{TxID: ids.ID{1}, OutputIndex: uint32(len(all))}, Asset: avax.Asset{ID: asset}, Out: out}
		all = append(all, &platformgenesis.UTXO{UTXO: u, Message: []byte{}})
	}
	plain := func(owner secp256k1fx.OutputOwners) *secp256k1fx.TransferOutput {
		return &secp256k1fx.TransferOutput{Amt: 5000 * units.Avax, OutputOwners: owner}
	}
	for range p.plain {
		put(p.avax, plain(p.owner))
	}
	later := p.owner
	later.Locktime = now + 30*day
	put(p.avax, plain(later))
	put(p.avax, plain(p.two()))
	put(p.avax, &stakeable.LockOut{Locktime: now + 40*day, TransferableOut: plain(p.owner)})
	put(p.avax, &stakeable.LockOut{Locktime: now - 40*day, TransferableOut: plain(p.owner)})
	put(ids.ID{0xa1}, plain(p.owner))
	if p.start < now-day {
		put(p.avax, &secp256k1fx.TransferOutput{Amt: 3 * units.MegaAvax, OutputOwners: p.owner})
	}
	return all
}

// begin makes the state after a genesis without validators, and a manager that verifies.
func (p *pchain) begin() (err error) {
	staking, fees := genesis.GetStakingConfig(p.network), genesis.GetTxFeeConfig(p.network)
	manager := validators.NewManager()
	p.internal = &config.Internal{
		Chains: chains.TestManager, Validators: manager, SybilProtectionEnabled: true,
		DynamicFeeConfig: fees.DynamicFeeConfig, ValidatorFeeConfig: fees.ValidatorFeeConfig,
		MinValidatorStake: staking.MinValidatorStake, MaxValidatorStake: staking.MaxValidatorStake, MinDelegatorStake: staking.MinDelegatorStake,
		MinDelegationFee: staking.MinDelegationFee, UptimePercentage: staking.UptimeRequirement, MinStakeDuration: staking.MinStakeDuration,
		MaxStakeDuration: staking.MaxStakeDuration, HeliconMinStakeDuration: staking.HeliconMinStakeDuration, RewardConfig: staking.RewardConfig, UpgradeConfig: upgrade.GetConfig(p.network),
	}
	p.internal.UpgradeConfig.HeliconTime = p.activation
	g := &platformgenesis.Genesis{UTXOs: p.genesisUTXOs(), Timestamp: uint64(p.start), InitialSupply: 400_000_000 * units.Avax, Message: "judged"}
	if p.genesis, err = platformgenesis.Codec.Marshal(platformgenesis.CodecVersion, g); err != nil {
		return err
	}
	db := memdb.New()
	p.memory = atomic.NewMemory(prefixdb.New([]byte("shared"), db)) // whose batches carry the state
	snowContext := &snow.Context{
		NetworkID: p.network, SubnetID: constants.PrimaryNetworkID, ChainID: constants.PlatformChainID, XChainID: p.x, CChainID: p.c, AVAXAssetID: p.avax,
		Log: logging.NoLog{}, SharedMemory: p.memory.NewSharedMemory(constants.PlatformChainID),
	}
	settings := config.Default
	p.state, err = state.New(db, p.genesis, prometheus.NewRegistry(), manager, p.internal.UpgradeConfig, &settings, snowContext, metrics.Noop, staking.RewardConfig)
	if err != nil {
		return err
	}
	first, err := pblock.NewApricotCommitBlock(hashing.ComputeHash256Array(p.genesis), 0)
	if err != nil {
		return err
	}
	p.state.AddStatelessBlock(first)
	p.state.SetLastAccepted(first.ID())
	if err := p.state.Commit(); err != nil {
		return err
	}
	fx := &secp256k1fx.Fx{}
	if err := errors.Join(fx.Initialize(p.vm), fx.Bootstrapping(), fx.Bootstrapped()); err != nil {
		return err
	}
	bootstrapped := &utils.Atomic[bool]{}
	bootstrapped.Set(true)
	known := platformvalidators.NewManager(*p.internal, p.state, metrics.Noop, p.vm.Clock())
	snowContext.ValidatorState = validatorState{known, p}
	pool, err := mempool.New("mempool", fees.DynamicFeeConfig.Weights, fees.DynamicFeeConfig.MaxCapacity, p.avax, prometheus.NewRegistry())
	p.manager = executor.NewManager(pool, metrics.Noop, p.state, &txexecutor.Backend{
		Config: p.internal, Ctx: snowContext, Clk: p.vm.Clock(), Fx: fx, FlowChecker: utxo.NewVerifier(snowContext, p.vm.Clock(), fx),
		Uptimes: uptime.TestCalculator{}, Bootstrapped: bootstrapped,
	}, known)
	return err
}

// accept puts transactions into the next block.
func (p *pchain) accept(at int64, unsigned ...txs.UnsignedTx) ([]*txs.Tx, error) {
	var all []*txs.Tx
	for _, u := range unsigned {
		tx, err := p.signed(u, false)
		if err != nil {
			return nil, err
		}
		all = append(all, tx)
	}
	p.vm.Clk.Set(time.Unix(at, 0))
	last, err := p.state.GetStatelessBlock(p.state.GetLastAccepted())
	if err != nil {
		return nil, err
	}
	b, err := pblock.NewBanffStandardBlock(time.Unix(at, 0), last.ID(), last.Height()+1, all)
	if err != nil {
		return nil, err
	}
	return all, p.take(b)
}

// take verifies a block, accepts it, and remembers it.
func (p *pchain) take(b pblock.Block) error {
	parsed, ok := p.manager.NewBlock(b).(*executor.Block)
	if !ok {
		return errors.New("not a block of the executor")
	}
	if err := parsed.VerifyWithContext(context.Background(), &block.Context{}); err != nil {
		return fmt.Errorf("block %d: %w", b.Height(), err)
	}
	p.blocks = append(p.blocks, hex.EncodeToString(b.Bytes()))
	if err := parsed.Accept(context.Background()); err != nil {
		return fmt.Errorf("accept block %d: %w", b.Height(), err)
	}
	p.manager.SetPreference(b.ID(), nil)
	return nil
}

// populate makes subnets, validators, a delegator and an L1.
func (p *pchain) populate() error {
	at := int64(now - day + 60)
	subnets, err := p.accept(at,
		&txs.CreateSubnetTx{BaseTx: p.base(0), Owner: &p.owner}, &txs.CreateSubnetTx{BaseTx: p.base(0), Owner: &p.owner},
		&txs.CreateSubnetTx{BaseTx: p.base(0), Owner: ptr(p.two())}, &txs.CreateSubnetTx{BaseTx: p.base(0), Owner: &p.owner})
	if err != nil {
		return err
	}
	p.permissioned, p.l1, p.shared, p.legacy = subnets[0].ID(), subnets[1].ID(), subnets[2].ID(), subnets[3].ID()
	created, err := p.accept(at+60, p.createChain(p.permissioned), p.createChain(p.l1))
	if err != nil {
		return err
	}
	p.other, p.chain = created[0].ID(), created[1].ID()
	if _, err := p.accept(at+120, p.validator(1, 3000*units.Avax, 60*day), p.validator(2, 2000*units.Avax, 20*day)); err != nil {
		return err
	}
	if _, err := p.accept(at+180, p.delegator(1, 25*units.Avax, 30*day), p.subnetValidator(1, p.permissioned, 20*day), p.conversion(10, 11)); err != nil {
		return err
	}
	out := func(n uint32, asset ids.ID, amount uint64, owner secp256k1fx.OutputOwners) {
		p.imported = append(p.imported, &avax.UTXO{UTXOID: avax.UTXOID{TxID: ids.ID{8}, OutputIndex: n}, Asset: avax.Asset{ID: asset}, Out: &secp256k1fx.TransferOutput{Amt: amount, OutputOwners: owner}})
	}
	later := p.owner
	later.Locktime = now + day
	out(0, p.avax, units.Avax, p.owner)
	out(1, p.avax, units.Avax, later)
	out(2, ids.ID{0xa1}, 9, p.owner)
	request := &atomic.Requests{}
	for _, u := range p.imported {
		value, err := txs.Codec.Marshal(txs.CodecVersion, u)
		if err != nil {
			return err
		}
		id := u.InputID()
		request.PutRequests = append(request.PutRequests, &atomic.Element{Key: id[:], Value: value})
	}
	return p.memory.NewSharedMemory(p.c).Apply(map[ids.ID]*atomic.Requests{constants.PlatformChainID: request})
}

func ptr[T any](v T) *T { return &v }

// base spends the next plain output, and pays all but the fee and more back.
func (p *pchain) base(more uint64) txs.BaseTx {
	b := txs.BaseTx{BaseTx: avax.BaseTx{NetworkID: p.network, BlockchainID: constants.PlatformChainID}}
	n := p.spent
	count := uint64(1)
	if !p.ready {
		p.spent++
	} else {
		count += uint64(p.random.IntN(3))
	}
	for i := range count {
		b.Ins = append(b.Ins, p.input(uint32(n)+uint32(i)))
	}
	rest := count*5000*units.Avax - fee - more
	for _, part := range []uint64{rest / 3, rest - rest/3} {
		b.Outs = append(b.Outs, p.output(part))
	}
	return b
}

func (p *pchain) input(n uint32) *avax.TransferableInput {
	in := &secp256k1fx.TransferInput{Amt: 5000 * units.Avax, Input: secp256k1fx.Input{SigIndices: []uint32{0}}}
	return &avax.TransferableInput{UTXOID: avax.UTXOID{TxID: ids.ID{1}, OutputIndex: n}, Asset: avax.Asset{ID: p.avax}, In: in}
}

// special is an input of an output that is no plain one: locked, of two owners, under a stakeable lock, no longer so, of another asset.
func (p *pchain) special(n int) *avax.TransferableInput { return p.input(uint32(p.plain + n)) }

func (p *pchain) output(amount uint64) *avax.TransferableOutput {
	return &avax.TransferableOutput{Asset: avax.Asset{ID: p.avax}, Out: &secp256k1fx.TransferOutput{Amt: amount, OutputOwners: p.owner}}
}

func auth() *secp256k1fx.Input { return &secp256k1fx.Input{SigIndices: []uint32{0}} }

func (p *pchain) createChain(subnet ids.ID) *txs.CreateChainTx {
	return &txs.CreateChainTx{BaseTx: p.base(0), SubnetID: subnet, ChainName: "a chain 1", VMID: ids.ID{5}, FxIDs: []ids.ID{{1}, {2}}, GenesisData: []byte("{}"), SubnetAuth: auth()}
}

// lasting returns a stake that began with its block and lasts so long.
func (p *pchain) lasting(node byte, weight uint64, duration int64) txs.Validator {
	return txs.Validator{NodeID: nodeID(node), End: uint64(p.vm.Clk.Time().Unix() + 60 + duration), Wght: weight}
}

func (p *pchain) proof(n byte) *signer.ProofOfPossession {
	proof, err := signer.NewProofOfPossession(blsKey(n))
	if err != nil {
		panic(err)
	}
	return proof
}

func (p *pchain) validator(node byte, weight uint64, duration int64) *txs.AddPermissionlessValidatorTx {
	return &txs.AddPermissionlessValidatorTx{
		BaseTx: p.base(weight), Validator: p.lasting(node, weight, duration), Subnet: constants.PrimaryNetworkID, Signer: p.proof(node),
		StakeOuts: []*avax.TransferableOutput{p.output(weight)}, ValidatorRewardsOwner: ptr(p.owner), DelegatorRewardsOwner: ptr(p.owner), DelegationShares: 20_000,
	}
}

func (p *pchain) delegator(node byte, weight uint64, duration int64) *txs.AddPermissionlessDelegatorTx {
	return &txs.AddPermissionlessDelegatorTx{
		BaseTx: p.base(weight), Validator: p.lasting(node, weight, duration), Subnet: constants.PrimaryNetworkID,
		StakeOuts: []*avax.TransferableOutput{p.output(weight)}, DelegationRewardsOwner: ptr(p.owner),
	}
}

func (p *pchain) subnetValidator(node byte, subnet ids.ID, duration int64) *txs.AddSubnetValidatorTx {
	return &txs.AddSubnetValidatorTx{BaseTx: p.base(0), SubnetValidator: txs.SubnetValidator{Validator: p.lasting(node, 20, duration), Subnet: subnet}, SubnetAuth: auth()}
}

func (p *pchain) conversion(nodes ...byte) *txs.ConvertSubnetToL1Tx {
	subnet, chain := p.l1, p.chain
	if p.ready {
		subnet, chain = p.permissioned, p.other
	}
	owner := message.PChainOwner{Threshold: 1, Addresses: []ids.ShortID{p.keys[0].Address()}}
	tx := &txs.ConvertSubnetToL1Tx{BaseTx: p.base(20 * units.Avax), Subnet: subnet, ChainID: chain, Address: []byte{19: 0xaa}, SubnetAuth: auth()}
	for _, n := range nodes {
		id := nodeID(n)
		tx.Validators = append(tx.Validators, &txs.ConvertSubnetToL1Validator{NodeID: id[:], Weight: 100, Balance: 10 * units.Avax, Signer: *p.proof(n), RemainingBalanceOwner: owner, DeactivationOwner: owner})
	}
	return tx
}

// message returns one of the L1's manager, signed by some of its validators.
func (p *pchain) message(chain ids.ID, sender, content []byte, signers ...byte) []byte {
	call, err := payload.NewAddressedCall(sender, content)
	if err != nil {
		panic(err)
	}
	unsigned, err := warp.NewUnsignedMessage(p.network, chain, call.Bytes())
	if err != nil {
		panic(err)
	}
	canonical, err := warp.GetCanonicalValidatorSetFromSubnetID(context.Background(), validatorState{p: p}, 0, p.l1)
	if err != nil {
		panic(err)
	}
	bits := set.NewBits()
	var all []*bls.Signature
	for i, v := range canonical.Validators {
		if n := v.NodeIDs[0][19]; slices.Contains(signers, n) {
			s, err := blsKey(n).Sign(unsigned.Bytes())
			if err != nil {
				panic(err)
			}
			bits.Add(i)
			all = append(all, s)
		}
	}
	signature := &warp.BitSetSignature{Signers: bits.Bytes()}
	if len(all) > 0 {
		sum, err := bls.AggregateSignatures(all)
		if err != nil {
			panic(err)
		}
		signature.Signature = [bls.SignatureLen]byte(bls.SignatureToBytes(sum))
	}
	m, err := warp.NewMessage(unsigned, signature)
	if err != nil {
		panic(err)
	}
	return m.Bytes()
}

var manager = []byte{19: 0xaa}

func (p *pchain) registration() *message.RegisterL1Validator {
	id, owner := nodeID(12), message.PChainOwner{Threshold: 1, Addresses: []ids.ShortID{p.keys[0].Address()}}
	return &message.RegisterL1Validator{SubnetID: p.l1, NodeID: id[:], BLSPublicKey: p.proof(12).PublicKey, Expiry: now + 3600, RemainingBalanceOwner: owner, DisableOwner: owner, Weight: 10}
}

func bytesOf(m message.Payload) []byte {
	if err := message.Initialize(m); err != nil {
		panic(err)
	}
	return m.Bytes()
}

func (p *pchain) register(change func(*message.RegisterL1Validator)) *txs.RegisterL1ValidatorTx {
	m := p.registration()
	change(m)
	return &txs.RegisterL1ValidatorTx{BaseTx: p.base(units.Avax), Balance: units.Avax, ProofOfPossession: p.proof(12).ProofOfPossession, Message: p.message(p.chain, manager, bytesOf(m), 10, 11)}
}

func (p *pchain) weight(validation ids.ID, nonce, weight uint64) *txs.SetL1ValidatorWeightTx {
	m := &message.L1ValidatorWeight{ValidationID: validation, Nonce: nonce, Weight: weight}
	return &txs.SetL1ValidatorWeightTx{BaseTx: p.base(0), Message: p.message(p.chain, manager, bytesOf(m), 10, 11)}
}

// build makes one of the transactions that the chain accepts.
func (p *pchain) build() txs.UnsignedTx {
	switch p.random.IntN(15) {
	case 0:
		return ptr(p.base(0))
	case 1:
		tx := &txs.ImportTx{BaseTx: p.base(0), SourceChain: p.c, ImportedInputs: []*avax.TransferableInput{p.imports(0)}}
		tx.Outs = append(tx.Outs, p.output(units.Avax))
		avax.SortTransferableOutputs(tx.Outs, txs.Codec)
		return tx
	case 2:
		return &txs.ExportTx{BaseTx: p.base(300), DestinationChain: []ids.ID{p.x, p.c}[p.random.IntN(2)], ExportedOutputs: []*avax.TransferableOutput{p.output(100), p.output(200)}}
	case 3, 4:
		return p.validator(3, 2500*units.Avax, int64(14+p.random.IntN(300))*day)
	case 5, 6:
		return p.delegator(1, 30*units.Avax, int64(14+p.random.IntN(20))*day)
	case 7:
		return p.subnetValidator([]byte{1, 2}[p.random.IntN(2)], p.legacy, 15*day)
	case 8:
		return &txs.RemoveSubnetValidatorTx{BaseTx: p.base(0), NodeID: nodeID(1), Subnet: p.permissioned, SubnetAuth: auth()}
	case 9:
		return &txs.TransferSubnetOwnershipTx{BaseTx: p.base(0), Subnet: p.permissioned, SubnetAuth: auth(), Owner: ptr(p.two())}
	case 10:
		if p.random.IntN(2) == 0 {
			return &txs.CreateSubnetTx{BaseTx: p.base(0), Owner: ptr(p.owner)}
		}
		return p.createChain(p.permissioned)
	case 11:
		return p.conversion(20, 21)
	case 12:
		return p.register(func(*message.RegisterL1Validator) {})
	case 13:
		return p.weight(p.l1.Append(uint32(p.random.IntN(2))), 0, uint64(p.random.IntN(3)))
	}
	if p.random.IntN(2) == 0 {
		return &txs.IncreaseL1ValidatorBalanceTx{BaseTx: p.base(units.Avax), ValidationID: p.l1.Append(0), Balance: units.Avax}
	}
	return &txs.DisableL1ValidatorTx{BaseTx: p.base(0), ValidationID: p.l1.Append(1), DisableAuth: auth()}
}

func (p *pchain) imports(n int) *avax.TransferableInput {
	u := p.imported[n]
	in := &secp256k1fx.TransferInput{Amt: u.Out.(*secp256k1fx.TransferOutput).Amt, Input: secp256k1fx.Input{SigIndices: []uint32{0}}}
	return &avax.TransferableInput{UTXOID: avax.UTXOID{TxID: u.TxID, OutputIndex: u.OutputIndex}, Asset: u.Asset, In: in}
}

func pBase(u txs.UnsignedTx) *avax.BaseTx {
	switch u := u.(type) {
	case *txs.BaseTx:
		return &u.BaseTx
	case *txs.ImportTx:
		return &u.BaseTx.BaseTx
	case *txs.ExportTx:
		return &u.BaseTx.BaseTx
	case *txs.AddPermissionlessValidatorTx:
		return &u.BaseTx.BaseTx
	case *txs.AddPermissionlessDelegatorTx:
		return &u.BaseTx.BaseTx
	case *txs.AddSubnetValidatorTx:
		return &u.BaseTx.BaseTx
	case *txs.RemoveSubnetValidatorTx:
		return &u.BaseTx.BaseTx
	case *txs.TransferSubnetOwnershipTx:
		return &u.BaseTx.BaseTx
	case *txs.CreateSubnetTx:
		return &u.BaseTx.BaseTx
	case *txs.CreateChainTx:
		return &u.BaseTx.BaseTx
	case *txs.ConvertSubnetToL1Tx:
		return &u.BaseTx.BaseTx
	case *txs.RegisterL1ValidatorTx:
		return &u.BaseTx.BaseTx
	case *txs.SetL1ValidatorWeightTx:
		return &u.BaseTx.BaseTx
	case *txs.IncreaseL1ValidatorBalanceTx:
		return &u.BaseTx.BaseTx
	case *txs.DisableL1ValidatorTx:
		return &u.BaseTx.BaseTx
	case *txs.AddAutoRenewedValidatorTx:
		return &u.BaseTx.BaseTx
	case *txs.SetAutoRenewedValidatorConfigTx:
		return &u.BaseTx.BaseTx
	}
	return nil
}

// authorizationOf returns where a transaction says who authorizes it, and the subnet or validator whose owners must.
func authorizationOf(u txs.UnsignedTx) (*verify.Verifiable, *ids.ID) {
	switch u := u.(type) {
	case *txs.AddSubnetValidatorTx:
		return &u.SubnetAuth, &u.Subnet
	case *txs.RemoveSubnetValidatorTx:
		return &u.SubnetAuth, &u.Subnet
	case *txs.TransferSubnetOwnershipTx:
		return &u.SubnetAuth, &u.Subnet
	case *txs.CreateChainTx:
		return &u.SubnetAuth, &u.SubnetID
	case *txs.ConvertSubnetToL1Tx:
		return &u.SubnetAuth, &u.Subnet
	case *txs.DisableL1ValidatorTx:
		return &u.DisableAuth, &u.ValidationID
	case *txs.SetAutoRenewedValidatorConfigTx:
		return &u.Auth, &u.TxID
	}
	return nil, nil
}

// pFault makes one mistake in a transaction, and reports whether it applies to the transaction.
type pFault func(p *pchain, u txs.UnsignedTx) bool

// in makes a mistake in transactions of one type.
func in[T txs.UnsignedTx](do func(p *pchain, u T)) pFault {
	return func(p *pchain, u txs.UnsignedTx) bool {
		tx, ok := u.(T)
		if ok {
			do(p, tx)
		}
		return ok
	}
}

func pInBase(do func(p *pchain, b *avax.BaseTx)) pFault {
	return func(p *pchain, u txs.UnsignedTx) bool { do(p, pBase(u)); return true }
}

func pInInput(do func(p *pchain, in *avax.TransferableInput)) pFault {
	return func(p *pchain, u txs.UnsignedTx) bool {
		all := pBase(u).Ins
		if i, ok := u.(*txs.ImportTx); ok {
			all = append(slices.Clone(all), i.ImportedInputs...)
		}
		if len(all) > 0 {
			do(p, all[p.random.IntN(len(all))])
		}
		return len(all) > 0
	}
}

func pInOutput(do func(p *pchain, out *avax.TransferableOutput)) pFault {
	return func(p *pchain, u txs.UnsignedTx) bool {
		all := slices.Clone(pBase(u).Outs)
		switch u := u.(type) {
		case *txs.ExportTx:
			all = append(all, u.ExportedOutputs...)
		case *txs.AddPermissionlessValidatorTx:
			all = append(all, u.StakeOuts...)
		case *txs.AddPermissionlessDelegatorTx:
			all = append(all, u.StakeOuts...)
		case *txs.AddAutoRenewedValidatorTx:
			all = append(all, u.StakeOuts...)
		}
		if len(all) > 0 {
			do(p, all[p.random.IntN(len(all))])
		}
		return len(all) > 0
	}
}

func pAmount(out *avax.TransferableOutput) *secp256k1fx.TransferOutput {
	body := out.Out
	for {
		lock, ok := body.(*stakeable.LockOut)
		if !ok {
			return body.(*secp256k1fx.TransferOutput)
		}
		body = lock.TransferableOut
	}
}

func pInputOf(in *avax.TransferableInput) *secp256k1fx.TransferInput {
	body := in.In
	for {
		lock, ok := body.(*stakeable.LockIn)
		if !ok {
			return body.(*secp256k1fx.TransferInput)
		}
		body = lock.TransferableIn
	}
}

func inAuth(do func(p *pchain, where *verify.Verifiable, subnet *ids.ID)) pFault {
	return func(p *pchain, u txs.UnsignedTx) bool {
		where, subnet := authorizationOf(u)
		if where != nil {
			do(p, where, subnet)
		}
		return where != nil
	}
}

// stakeOf returns the parts that validators and delegators share.
func inStake(do func(p *pchain, v *txs.Validator, stake *[]*avax.TransferableOutput, b *avax.BaseTx)) pFault {
	return func(p *pchain, u txs.UnsignedTx) bool {
		switch u := u.(type) {
		case *txs.AddPermissionlessValidatorTx:
			do(p, &u.Validator, &u.StakeOuts, &u.BaseTx.BaseTx)
		case *txs.AddPermissionlessDelegatorTx:
			do(p, &u.Validator, &u.StakeOuts, &u.BaseTx.BaseTx)
		default:
			return false
		}
		return true
	}
}

// stakes changes the stake to an amount, at the expense of the change.
func stakes(p *pchain, v *txs.Validator, stake *[]*avax.TransferableOutput, b *avax.BaseTx, amount uint64) {
	v.Wght = amount
	*stake = []*avax.TransferableOutput{p.output(amount)}
	b.Ins, b.Outs = nil, nil
	n := (amount + fee + 5000*units.Avax) / (5000 * units.Avax)
	for i := range n {
		b.Ins = append(b.Ins, p.input(uint32(p.spent)+uint32(i)))
	}
	if rest := n*5000*units.Avax - amount - fee; rest > 0 {
		b.Outs = []*avax.TransferableOutput{p.output(rest)}
	}
}

var pFaults = []pFault{
	pInBase(func(_ *pchain, b *avax.BaseTx) { b.NetworkID = 5 }),
	pInBase(func(p *pchain, b *avax.BaseTx) { b.BlockchainID = p.c }),
	pInBase(func(p *pchain, b *avax.BaseTx) { b.Memo = make([]byte, []int{1, 256, 257}[p.random.IntN(3)]) }),
	pInBase(func(_ *pchain, b *avax.BaseTx) { slices.Reverse(b.Ins) }),
	pInBase(func(_ *pchain, b *avax.BaseTx) { slices.Reverse(b.Outs) }),
	pInBase(func(_ *pchain, b *avax.BaseTx) { b.Ins = append(b.Ins, b.Ins...) }),
	pInBase(func(_ *pchain, b *avax.BaseTx) { b.Ins = nil }),
	pInBase(func(_ *pchain, b *avax.BaseTx) { b.Outs = nil }),
	pInBase(func(p *pchain, b *avax.BaseTx) { // an asset that nobody spends
		b.Outs = append(b.Outs, &avax.TransferableOutput{Asset: avax.Asset{ID: ids.ID{0xff}}, Out: p.output(1).Out})
	}),
	pInBase(func(p *pchain, b *avax.BaseTx) { b.Ins = append(b.Ins, p.special(0)) }), // locked until later
	pInBase(func(p *pchain, b *avax.BaseTx) { b.Ins = append(b.Ins, p.special(2)) }), // under a stakeable lock, not marked
	pInBase(func(p *pchain, b *avax.BaseTx) { // under a stakeable lock, marked
		in := p.special(2)
		in.In = &stakeable.LockIn{Locktime: now + uint64(39+p.random.IntN(2))*day, TransferableIn: in.In}
		b.Ins = append(b.Ins, in)
		if p.random.IntN(2) == 0 {
			b.Outs = append(b.Outs, &avax.TransferableOutput{Asset: avax.Asset{ID: p.avax}, Out: &stakeable.LockOut{Locktime: now + 40*day, TransferableOut: &secp256k1fx.TransferOutput{Amt: uint64(4999+p.random.IntN(3)) * units.Avax, OutputOwners: p.owner}}})
			avax.SortTransferableOutputs(b.Outs, txs.Codec)
		}
	}),
	pInBase(func(p *pchain, b *avax.BaseTx) { // no longer locked, marked
		in := p.special(3)
		in.In = &stakeable.LockIn{Locktime: now - 40*day, TransferableIn: in.In}
		b.Ins = append(b.Ins, in)
	}),
	pInBase(func(p *pchain, b *avax.BaseTx) { // a lock of no time
		in := p.special(2)
		in.In = &stakeable.LockIn{TransferableIn: in.In}
		b.Ins = append(b.Ins, in)
	}),
	pInBase(func(p *pchain, b *avax.BaseTx) { // value gets locked
		if len(b.Outs) > 0 {
			b.Outs[0].Out = &stakeable.LockOut{Locktime: uint64(p.random.IntN(2)) * (now + 5), TransferableOut: pAmount(b.Outs[0])}
			avax.SortTransferableOutputs(b.Outs, txs.Codec)
		}
	}),
	pInBase(func(p *pchain, b *avax.BaseTx) { // another asset, burned
		in := p.special(4)
		in.Asset.ID = ids.ID{0xa1}
		b.Ins = append(b.Ins, in)
	}),
	pInInput(func(_ *pchain, in *avax.TransferableInput) { in.OutputIndex += 1000 }),
	pInInput(func(_ *pchain, in *avax.TransferableInput) { in.Asset.ID = ids.Empty }),
	pInInput(func(_ *pchain, in *avax.TransferableInput) { in.Asset.ID = ids.ID{0xa1} }),
	pInInput(func(_ *pchain, in *avax.TransferableInput) { pInputOf(in).Amt = 0 }),
	pInInput(func(_ *pchain, in *avax.TransferableInput) { pInputOf(in).Amt++ }),
	pInInput(func(_ *pchain, in *avax.TransferableInput) { pInputOf(in).Amt = math.MaxUint64 }),
	pInInput(func(_ *pchain, in *avax.TransferableInput) { pInputOf(in).SigIndices = []uint32{1, 0} }),
	pInInput(func(_ *pchain, in *avax.TransferableInput) { pInputOf(in).SigIndices = []uint32{0, 1} }),
	pInInput(func(_ *pchain, in *avax.TransferableInput) { pInputOf(in).SigIndices = nil }),
	pInInput(func(_ *pchain, in *avax.TransferableInput) { pInputOf(in).SigIndices = []uint32{7} }),
	pInOutput(func(_ *pchain, out *avax.TransferableOutput) { out.Asset.ID = ids.Empty }),
	pInOutput(func(_ *pchain, out *avax.TransferableOutput) { out.Asset.ID = ids.ID{0xa1} }),
	pInOutput(func(_ *pchain, out *avax.TransferableOutput) { pAmount(out).Amt = 0 }),
	pInOutput(func(_ *pchain, out *avax.TransferableOutput) { pAmount(out).Amt++ }),
	pInOutput(func(_ *pchain, out *avax.TransferableOutput) { pAmount(out).Amt += units.Avax }),
	pInOutput(func(_ *pchain, out *avax.TransferableOutput) { pAmount(out).Amt = math.MaxUint64 }),
	pInOutput(func(_ *pchain, out *avax.TransferableOutput) { pAmount(out).Threshold = 2 }),
	pInOutput(func(_ *pchain, out *avax.TransferableOutput) { pAmount(out).Threshold = 0 }),
	pInOutput(func(_ *pchain, out *avax.TransferableOutput) {
		o := pAmount(out)
		o.Addrs = []ids.ShortID{o.Addrs[0], o.Addrs[0]}
	}),
	inAuth(func(_ *pchain, where *verify.Verifiable, _ *ids.ID) {
		*where = &secp256k1fx.Input{SigIndices: []uint32{1, 0}}
	}),
	inAuth(func(_ *pchain, where *verify.Verifiable, _ *ids.ID) {
		*where = &secp256k1fx.Input{SigIndices: []uint32{3}}
	}),
	inAuth(func(_ *pchain, where *verify.Verifiable, _ *ids.ID) { *where = &secp256k1fx.Input{} }),
	inAuth(func(_ *pchain, where *verify.Verifiable, _ *ids.ID) {
		*where = &secp256k1fx.TransferInput{Amt: 1, Input: *auth()}
	}),
	inAuth(func(p *pchain, _ *verify.Verifiable, subnet *ids.ID) { *subnet = ids.Empty }),
	inAuth(func(p *pchain, _ *verify.Verifiable, subnet *ids.ID) { *subnet = ids.ID{0x77} }),
	inAuth(func(p *pchain, _ *verify.Verifiable, subnet *ids.ID) { *subnet = p.shared }),
	inAuth(func(p *pchain, _ *verify.Verifiable, subnet *ids.ID) { *subnet = p.l1 }),
	inAuth(func(p *pchain, _ *verify.Verifiable, subnet *ids.ID) { *subnet = p.legacy }),
	inAuth(func(p *pchain, _ *verify.Verifiable, subnet *ids.ID) { *subnet = p.other }), // a blockchain's
	inStake(func(_ *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) {
		v.NodeID = ids.EmptyNodeID
	}),
	inStake(func(_ *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) { v.NodeID = nodeID(1) }),
	inStake(func(_ *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) {
		v.NodeID = nodeID(99)
	}),
	inStake(func(_ *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) {
		v.NodeID = nodeID(10)
	}),
	inStake(func(_ *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) { v.Wght = 0 }),
	inStake(func(_ *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) { v.Wght++ }),
	inStake(func(_ *pchain, _ *txs.Validator, s *[]*avax.TransferableOutput, _ *avax.BaseTx) { *s = nil }),
	inStake(func(p *pchain, _ *txs.Validator, s *[]*avax.TransferableOutput, _ *avax.BaseTx) {
		*s = append(*s, p.output(1))
	}),
	inStake(func(p *pchain, _ *txs.Validator, s *[]*avax.TransferableOutput, _ *avax.BaseTx) {
		*s = append(*s, &avax.TransferableOutput{Asset: avax.Asset{ID: ids.ID{0xff}}, Out: p.output(1).Out})
	}),
	inStake(func(_ *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) { v.End = now }),
	inStake(func(_ *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) { v.End = now - 5 }),
	inStake(func(_ *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) { v.End = 0 }),
	inStake(func(p *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) {
		v.End = now + 14*day - uint64(p.random.IntN(2))
	}),
	inStake(func(p *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) {
		v.End = now + 365*day + uint64(p.random.IntN(2))
	}),
	inStake(func(p *pchain, v *txs.Validator, _ *[]*avax.TransferableOutput, _ *avax.BaseTx) {
		v.End = now - day + 180 + 60*day + uint64(p.random.IntN(3)) // when validator 1 ends
	}),
	inStake(func(p *pchain, v *txs.Validator, s *[]*avax.TransferableOutput, b *avax.BaseTx) {
		stakes(p, v, s, b, 2000*units.Avax-uint64(p.random.IntN(2)))
	}),
	inStake(func(p *pchain, v *txs.Validator, s *[]*avax.TransferableOutput, b *avax.BaseTx) {
		stakes(p, v, s, b, 25*units.Avax-uint64(p.random.IntN(2)))
	}),
	inStake(func(p *pchain, v *txs.Validator, s *[]*avax.TransferableOutput, b *avax.BaseTx) {
		stakes(p, v, s, b, (5*3000-3000-25)*units.Avax+uint64(p.random.IntN(2))) // the most that validator 1 takes
	}),
	in(func(p *pchain, u *txs.AddPermissionlessValidatorTx) {
		u.Subnet = []ids.ID{p.permissioned, p.l1, {0x77}}[p.random.IntN(3)]
	}),
	in(func(p *pchain, u *txs.AddPermissionlessDelegatorTx) {
		u.Subnet = []ids.ID{p.permissioned, p.l1, {0x77}}[p.random.IntN(3)]
	}),
	in(func(_ *pchain, u *txs.AddPermissionlessValidatorTx) { u.Signer = &signer.Empty{} }),
	in(func(p *pchain, u *txs.AddPermissionlessValidatorTx) {
		u.Subnet, u.Signer = p.permissioned, &signer.Empty{}
	}),
	in(func(p *pchain, u *txs.AddPermissionlessValidatorTx) {
		proof := p.proof(3)
		proof.ProofOfPossession = p.proof(4).ProofOfPossession
		u.Signer = proof
	}),
	in(func(p *pchain, u *txs.AddPermissionlessValidatorTx) {
		proof := p.proof(3)
		proof.ProofOfPossession[3] ^= 1
		u.Signer = proof
	}),
	in(func(p *pchain, u *txs.AddPermissionlessValidatorTx) {
		u.DelegationShares = uint32([]int{19_999, 20_000, 1_000_000, 1_000_001, 0}[p.random.IntN(5)])
	}),
	in(func(p *pchain, u *txs.AddPermissionlessValidatorTx) {
		owner := &secp256k1fx.OutputOwners{Threshold: 1}
		*[]*fx.Owner{&u.ValidatorRewardsOwner, &u.DelegatorRewardsOwner}[p.random.IntN(2)] = owner
	}),
	in(func(_ *pchain, u *txs.AddPermissionlessDelegatorTx) {
		u.DelegationRewardsOwner = &secp256k1fx.OutputOwners{Threshold: 1}
	}),
	in(func(p *pchain, u *txs.AddSubnetValidatorTx) { u.Wght = uint64(p.random.IntN(2)) }),
	in(func(p *pchain, u *txs.AddSubnetValidatorTx) {
		u.SubnetValidator.NodeID = []ids.NodeID{{}, nodeID(99), nodeID(10)}[p.random.IntN(3)]
	}),
	in(func(p *pchain, u *txs.AddSubnetValidatorTx) {
		u.Subnet, u.SubnetValidator.NodeID = p.permissioned, nodeID(1)
	}), // validates it already
	in(func(p *pchain, u *txs.AddSubnetValidatorTx) {
		u.End = []uint64{now, now - 1, now + 14*day - 1, now + 61*day, 0}[p.random.IntN(5)]
	}),
	in(func(p *pchain, u *txs.AddSubnetValidatorTx) {
		u.SubnetValidator.NodeID, u.End = nodeID(2), now-day+180+20*day+uint64(p.random.IntN(2))
	}),
	in(func(p *pchain, u *txs.RemoveSubnetValidatorTx) {
		u.NodeID = []ids.NodeID{{}, nodeID(2), nodeID(10)}[p.random.IntN(3)]
	}),
	in(func(_ *pchain, u *txs.TransferSubnetOwnershipTx) { u.Owner = &secp256k1fx.OutputOwners{Threshold: 2} }),
	in(func(_ *pchain, u *txs.CreateSubnetTx) { u.Owner = &secp256k1fx.OutputOwners{Threshold: 2} }),
	in(func(_ *pchain, u *txs.CreateSubnetTx) { u.Owner = &secp256k1fx.OutputOwners{} }),
	in(func(_ *pchain, u *txs.CreateChainTx) { u.ChainName = strings.Repeat("n", 129) }),
	in(func(_ *pchain, u *txs.CreateChainTx) { u.ChainName = "" }),
	in(func(_ *pchain, u *txs.CreateChainTx) { u.ChainName = "né" }),
	in(func(_ *pchain, u *txs.CreateChainTx) { u.VMID = ids.Empty }),
	in(func(_ *pchain, u *txs.CreateChainTx) { slices.Reverse(u.FxIDs) }),
	in(func(p *pchain, u *txs.ConvertSubnetToL1Tx) { u.Address = make([]byte, 4096+p.random.IntN(2)) }),
	in(func(_ *pchain, u *txs.ConvertSubnetToL1Tx) { u.Validators = nil }),
	in(func(_ *pchain, u *txs.ConvertSubnetToL1Tx) { slices.Reverse(u.Validators) }),
	in(func(p *pchain, u *txs.ConvertSubnetToL1Tx) {
		u.ChainID = []ids.ID{{}, {0x78}, p.chain}[p.random.IntN(3)]
	}),
	in(func(p *pchain, u *txs.ConvertSubnetToL1Tx) {
		if len(u.Validators) == 0 {
			return
		}
		v := u.Validators[p.random.IntN(len(u.Validators))]
		switch p.random.IntN(11) {
		case 8: // validates the subnet already
			v.NodeID = ptr(nodeID(1))[:]
		case 9:
			v.Balance = math.MaxUint64 - uint64(p.random.IntN(2))*10*units.Avax
		case 10:
			v.Balance, u.Validators[0].Balance = math.MaxUint64-1_000_000_000_000, math.MaxUint64-1_000_000_000_000
		case 0:
			v.Weight = 0
		case 1:
			v.Weight = math.MaxUint64
		case 2:
			v.NodeID = v.NodeID[:p.random.IntN(20)]
		case 3:
			v.NodeID = make([]byte, 20)
		case 4:
			v.Balance = 0
		case 5:
			v.Signer = *p.proof(20)
			v.Signer.PublicKey = p.proof(22).PublicKey
		case 6:
			v.RemainingBalanceOwner.Threshold = 2
		case 7:
			v.DeactivationOwner.Addresses = nil
		}
		slices.SortFunc(u.Validators, func(a, b *txs.ConvertSubnetToL1Validator) int { return bytes.Compare(a.NodeID, b.NodeID) })
	}),
	in(func(p *pchain, u *txs.RegisterL1ValidatorTx) {
		change := []func(*message.RegisterL1Validator){
			func(m *message.RegisterL1Validator) { m.Expiry = now - uint64(p.random.IntN(2)) },
			func(m *message.RegisterL1Validator) { m.Expiry = now + day + uint64(p.random.IntN(2)) },
			func(m *message.RegisterL1Validator) { m.SubnetID = p.legacy },
			func(m *message.RegisterL1Validator) { m.SubnetID = ids.Empty },
			func(m *message.RegisterL1Validator) { m.Weight = 0 },
			func(m *message.RegisterL1Validator) { m.Weight = math.MaxUint64 },
			func(m *message.RegisterL1Validator) { m.NodeID = ptr(nodeID(10))[:] },
			func(m *message.RegisterL1Validator) { m.NodeID = make([]byte, 20) },
			func(m *message.RegisterL1Validator) { m.NodeID = []byte{1} },
			func(m *message.RegisterL1Validator) { m.BLSPublicKey = p.proof(13).PublicKey },
			func(m *message.RegisterL1Validator) { m.RemainingBalanceOwner.Threshold = 2 },
			func(m *message.RegisterL1Validator) { m.DisableOwner.Addresses = nil },
		}
		*u = *p.register(change[p.random.IntN(len(change))])
	}),
	in(func(p *pchain, u *txs.RegisterL1ValidatorTx) {
		u.Balance = []uint64{0, 1, math.MaxUint64}[p.random.IntN(3)]
	}),
	in(func(p *pchain, u *txs.RegisterL1ValidatorTx) {
		content := bytesOf(p.registration())
		u.Message = [][]byte{
			p.message(p.chain, manager, content, 10), p.message(p.chain, manager, content), p.message(p.other, manager, content, 10, 11), p.message(p.chain, []byte{19: 0xbb}, content, 10, 11),
			p.message(p.chain, manager, content[:len(content)-1], 10, 11), p.message(ids.ID{0x78}, manager, content, 10, 11), {1, 2, 3}, nil,
			p.message(p.chain, manager, bytesOf(&message.L1ValidatorWeight{ValidationID: p.l1.Append(0), Nonce: 1, Weight: 5}), 10, 11),
		}[p.random.IntN(9)]
	}),
	in(func(p *pchain, u *txs.SetL1ValidatorWeightTx) {
		*u = *p.weight([]ids.ID{p.l1.Append(0), p.l1.Append(7), {}}[p.random.IntN(3)], []uint64{0, 1, math.MaxUint64}[p.random.IntN(3)], []uint64{0, 1, math.MaxUint64}[p.random.IntN(3)])
	}),
	in(func(p *pchain, u *txs.SetL1ValidatorWeightTx) {
		content := bytesOf(&message.L1ValidatorWeight{ValidationID: p.l1.Append(0), Nonce: 1, Weight: 5})
		u.Message = [][]byte{
			p.message(p.chain, manager, content, 11), p.message(p.other, manager, content, 10, 11), p.message(p.chain, nil, content, 10, 11), p.message(p.chain, manager, bytesOf(p.registration()), 10, 11), {},
		}[p.random.IntN(5)]
	}),
	in(func(p *pchain, u *txs.IncreaseL1ValidatorBalanceTx) {
		u.Balance = []uint64{0, math.MaxUint64}[p.random.IntN(2)]
	}),
	in(func(p *pchain, u *txs.IncreaseL1ValidatorBalanceTx) {
		u.ValidationID = []ids.ID{{}, p.l1, p.l1.Append(5)}[p.random.IntN(3)]
	}),
	in(func(_ *pchain, u *txs.ImportTx) { u.ImportedInputs = nil }),
	in(func(p *pchain, u *txs.ImportTx) {
		u.ImportedInputs = append(u.ImportedInputs, p.imports(1+p.random.IntN(2)))
	}),
	in(func(p *pchain, u *txs.ImportTx) { u.SourceChain = []ids.ID{{}, p.x, p.chain, {0x99}}[p.random.IntN(4)] }),
	in(func(_ *pchain, u *txs.ExportTx) { u.ExportedOutputs = nil }),
	in(func(_ *pchain, u *txs.ExportTx) { slices.Reverse(u.ExportedOutputs) }),
	in(func(p *pchain, u *txs.ExportTx) { u.DestinationChain = []ids.ID{{}, p.chain, {0x99}}[p.random.IntN(3)] }),
	in(func(_ *pchain, u *txs.ExportTx) {
		if len(u.ExportedOutputs) > 0 {
			u.ExportedOutputs[0].Out = &stakeable.LockOut{Locktime: 5, TransferableOut: pAmount(u.ExportedOutputs[0])}
		}
	}),
}

// signed signs each input and authorization, and then sometimes makes a mistake in it.
func (p *pchain) signed(u txs.UnsignedTx, wrong bool) (*txs.Tx, error) {
	var inputs []*avax.TransferableInput
	if b := pBase(u); b != nil {
		inputs = b.Ins
	}
	if i, ok := u.(*txs.ImportTx); ok {
		inputs = append(slices.Clone(inputs), i.ImportedInputs...)
	}
	var asked [][]uint32
	for _, in := range inputs {
		asked = append(asked, pInputOf(in).SigIndices)
	}
	if where, _ := authorizationOf(u); where != nil {
		switch a := (*where).(type) {
		case *secp256k1fx.Input:
			asked = append(asked, a.SigIndices)
		case *secp256k1fx.TransferInput:
			asked = append(asked, a.SigIndices)
		}
	}
	var signers [][]*secp256k1.PrivateKey
	for _, indices := range asked {
		var keys []*secp256k1.PrivateKey
		for _, i := range indices {
			keys = append(keys, p.keys[i%2])
		}
		signers = append(signers, keys)
	}
	if u, ok := u.(*txs.SetAutoRenewedValidatorConfigTx); ok && u.TxID == p.renewed[pairNode] && p.two().Addrs[0] != p.keys[0].Address() {
		slices.Reverse(signers[len(signers)-1])
	}
	if wrong && len(signers) > 0 {
		i := p.random.IntN(len(signers))
		switch p.random.IntN(4) {
		case 0:
			signers = slices.Delete(signers, i, i+1)
		case 1:
			signers = append(signers, signers[i])
		case 2:
			signers[i] = append(signers[i], p.keys[1])
		case 3:
			if len(signers[i]) > 0 {
				signers[i][0] = p.keys[1]
			}
		}
	}
	tx := &txs.Tx{Unsigned: u}
	if err := tx.Sign(txs.Codec, signers); err != nil {
		return nil, err
	}
	return txs.Parse(txs.Codec, tx.Bytes()) // without the ids that inputs remember
}

// judgedChain is a P-Chain, and what the node says of transactions on it.
type judgedChain struct {
	Time     uint64   `json:"time"`
	Genesis  string   `json:"genesis"`
	Blocks   []string `json:"blocks"`
	Imported []string `json:"imported"`
	Txs      []judged `json:"txs"`
}

// record sets the clock to the time at which transactions are judged, and returns the chain without any.
func (p *pchain) record() (*judgedChain, error) {
	p.vm.Clk.Set(time.Unix(now, 0))
	c := &judgedChain{Time: now, Genesis: hex.EncodeToString(p.genesis), Blocks: p.blocks}
	for _, u := range p.imported {
		b, err := txs.Codec.Marshal(txs.CodecVersion, u)
		if err != nil {
			return nil, err
		}
		c.Imported = append(c.Imported, hex.EncodeToString(b))
	}
	return c, nil
}

// add has the node judge a transaction, in the signatures of which there may be a mistake.
func (c *judgedChain) add(p *pchain, u txs.UnsignedTx, wrong bool) error {
	tx, err := p.signed(u, wrong)
	if err != nil {
		return fmt.Errorf("%T: %w", u, err)
	}
	j := judged{Tx: hex.EncodeToString(tx.Bytes())}
	if err := p.manager.VerifyTx(tx); err != nil {
		j.Error = strings.ReplaceAll(err.Error(), tx.ID().String(), "{tx}")
	}
	c.Txs = append(c.Txs, j)
	return nil
}

// recordPChain writes a P-Chain and transactions with no, one or two mistakes, each with avalanchego's verdict.
func recordPChain(w io.Writer) error {
	p, err := newPChain(constants.MainnetID, upgrade.UnscheduledActivationTime)
	if err != nil {
		return err
	}
	list, err := p.record()
	if err != nil {
		return err
	}
	add := func(u txs.UnsignedTx, wrong bool) error { return list.add(p, u, wrong) }
	for i := range 90 {
		if err := add(p.build(), i >= 40); err != nil {
			return err
		}
	}
	for i, first := range pFaults {
		times := 7
		if i > len(pFaults)-17 { // each of those is of several kinds
			times = 24
		}
		for nth := range times {
			u := p.build()
			for !first(p, u) {
				u = p.build()
			}
			if nth%7 > 3 {
				for !pFaults[p.random.IntN(len(pFaults))](p, u) {
				}
			}
			if err := add(u, nth%7 == 6); err != nil {
				return err
			}
		}
	}
	return pack(w, list)
}
