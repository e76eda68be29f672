package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ava-labs/avalanchego/api/info"
	"github.com/ava-labs/avalanchego/chains"
	"github.com/ava-labs/avalanchego/chains/atomic"
	"github.com/ava-labs/avalanchego/database/memdb"
	"github.com/ava-labs/avalanchego/database/prefixdb"
	"github.com/ava-labs/avalanchego/genesis"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/snow"
	"github.com/ava-labs/avalanchego/snow/uptime"
	"github.com/ava-labs/avalanchego/snow/validators"
	"github.com/ava-labs/avalanchego/upgrade"
	"github.com/ava-labs/avalanchego/utils"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/ava-labs/avalanchego/utils/logging"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/platformvm/block"
	"github.com/ava-labs/avalanchego/vms/platformvm/block/executor"
	"github.com/ava-labs/avalanchego/vms/platformvm/config"
	"github.com/ava-labs/avalanchego/vms/platformvm/metrics"
	"github.com/ava-labs/avalanchego/vms/platformvm/reward"
	"github.com/ava-labs/avalanchego/vms/platformvm/state"
	"github.com/ava-labs/avalanchego/vms/platformvm/status"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs/mempool"
	"github.com/ava-labs/avalanchego/vms/platformvm/utxo"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"
	"github.com/klauspost/compress/s2"
	"github.com/prometheus/client_golang/prometheus"
	_ "modernc.org/sqlite" // the world's file, in which the genesis is

	linear "github.com/ava-labs/avalanchego/codec/linearcodec"
	"github.com/ava-labs/avalanchego/graft/coreth/plugin/evm/client"
	snowmanblock "github.com/ava-labs/avalanchego/snow/engine/snowman/block"
	platformgenesis "github.com/ava-labs/avalanchego/vms/platformvm/genesis"
	txexecutor "github.com/ava-labs/avalanchego/vms/platformvm/txs/executor"
	platformvalidators "github.com/ava-labs/avalanchego/vms/platformvm/validators"

	atomictx "github.com/ava-labs/avalanchego/graft/coreth/plugin/evm/atomic"
)

// platform is the P-Chain in the real node's own state and executor.
type platform struct {
	*network
	upgrades   upgrade.Config // as the world has them
	state      *state.State
	validators validators.Manager
	vm         *secp256k1fx.TestVM // has the clock that all of it reads
	blocks     executor.Manager
}

// executePlatform has the real node begin with the world's genesis and execute every block of the P-Chain: whether it may be at its time,
// signatures, fees, stakes, rewards, messages. Afterwards both know the same.
func (n *network) executePlatform(ctx context.Context) error {
	upgrades, err := info.NewClient(n.url).Upgrades(ctx)
	if err != nil {
		return err
	}
	raw, err := readGenesis(ctx, n.server.World(), n.id)
	if err != nil {
		return err
	}
	p := &platform{network: n, upgrades: *upgrades, validators: validators.NewManager(), vm: &secp256k1fx.TestVM{Log: logging.NoLog{}, Codec: linear.NewDefault()}}
	if err := p.begin(ctx, raw); err != nil {
		return fmt.Errorf("genesis: %w", err)
	}
	for _, b := range n.pBlocks[1:] {
		if err := p.execute(ctx, b); err != nil {
			return fmt.Errorf("P block %d, %T: %w", b.Height(), b, err)
		}
		n.seen.platform++
	}
	return p.compare(ctx)
}

// readGenesis reads the P-Chain's genesis from the world's file, which a server has open.
func readGenesis(ctx context.Context, file string, id uint32) (raw []byte, err error) {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var kept []byte
	if err := db.QueryRowContext(ctx, `SELECT platform FROM primary_network WHERE id = ?`, id).Scan(&kept); err != nil {
		return nil, err
	}
	if len(kept) == 0 || kept[0] != 1 {
		return kept[min(1, len(kept)):], nil
	}
	dictionary, err := readDictionary() // as the first byte says, what follows is compressed
	if err != nil {
		return nil, err
	}
	return dictionary.Decode(nil, kept[1:])
}

// readDictionary reads the dictionary with which the file is compressed: pieces in hex or between quotes.
func readDictionary() (*s2.Dict, error) {
	text, err := os.ReadFile("../../sim/store/dictionary.txt")
	if err != nil {
		return nil, err
	}
	var all []byte
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#':
		case line[0] == '"':
			all = append(all, line[1:len(line)-1]...)
		default:
			piece, err := hex.DecodeString(line)
			if err != nil {
				return nil, err
			}
			all = append(all, piece...)
		}
	}
	return s2.MakeDict(all, make([]byte, 32)), nil
}

// begin makes the state after the genesis, and an executor for the blocks that follow.
func (p *platform) begin(ctx context.Context, raw []byte) error {
	staking, fees := genesis.GetStakingConfig(p.id), genesis.GetTxFeeConfig(p.id)
	internal := &config.Internal{
		Chains: chains.TestManager, Validators: p.validators, SybilProtectionEnabled: true,
		DynamicFeeConfig: fees.DynamicFeeConfig, ValidatorFeeConfig: fees.ValidatorFeeConfig,
		MinValidatorStake: staking.MinValidatorStake, MaxValidatorStake: staking.MaxValidatorStake, MinDelegatorStake: staking.MinDelegatorStake,
		MinDelegationFee: staking.MinDelegationFee, UptimePercentage: staking.UptimeRequirement, MinStakeDuration: staking.MinStakeDuration,
		MaxStakeDuration: staking.MaxStakeDuration, HeliconMinStakeDuration: staking.HeliconMinStakeDuration,
		RewardConfig: staking.RewardConfig, UpgradeConfig: p.upgrades,
	}
	db := memdb.New()
	memory := atomic.NewMemory(prefixdb.New([]byte("shared"), db))
	snowContext := p.context(constants.PlatformChainID)
	snowContext.Log, snowContext.SharedMemory = logging.NoLog{}, memory.NewSharedMemory(constants.PlatformChainID)

	if err := p.beginState(raw, db, internal, snowContext); err != nil {
		return err
	}
	if err := p.export(ctx, memory); err != nil {
		return err
	}
	manager := platformvalidators.NewManager(*internal, p.state, metrics.Noop, p.vm.Clock())
	snowContext.ValidatorState = primaryChains{manager, p.network}
	fx := &secp256k1fx.Fx{}
	if err := errors.Join(fx.Initialize(p.vm), fx.Bootstrapping(), fx.Bootstrapped()); err != nil {
		return err
	}
	bootstrapped := &utils.Atomic[bool]{}
	bootstrapped.Set(true)
	pool, err := mempool.New("mempool", fees.DynamicFeeConfig.Weights, fees.DynamicFeeConfig.MaxCapacity, p.avax, prometheus.NewRegistry())
	p.blocks = executor.NewManager(pool, metrics.Noop, p.state, &txexecutor.Backend{
		Config: internal, Ctx: snowContext, Clk: p.vm.Clock(), Fx: fx, FlowChecker: utxo.NewVerifier(snowContext, p.vm.Clock(), fx),
		Uptimes: uptime.TestCalculator{}, Bootstrapped: bootstrapped,
	}, manager)
	return err
}

// beginState makes the state after the genesis. The real node's own genesis has only active validators; delegators and pending stakers are
// added as the node's executor would.
func (p *platform) beginState(raw []byte, db *memdb.Database, internal *config.Internal, snowContext *snow.Context) error {
	g, err := platformgenesis.Parse(raw)
	if err != nil {
		return err
	}
	bare := *g
	bare.Validators = nil
	bareRaw, err := platformgenesis.Codec.Marshal(platformgenesis.CodecVersion, &bare)
	if err != nil {
		return err
	}
	settings := config.Default
	p.state, err = state.New(db, bareRaw, prometheus.NewRegistry(), p.validators, internal.UpgradeConfig, &settings, snowContext, metrics.Noop, internal.RewardConfig)
	if err != nil {
		return err
	}
	first, err := block.NewApricotCommitBlock(hashing.ComputeHash256Array(raw), 0)
	if err != nil {
		return err
	}
	if have := p.pBlocks[0].ID(); first.ID() != have {
		return fmt.Errorf("block 0 is %s, the node makes %s", have, first.ID())
	}
	p.state.AddStatelessBlock(first)
	p.state.SetLastAccepted(first.ID())
	rewards := reward.NewPrimaryNetworkCalculator(internal.RewardConfig, internal.UpgradeConfig)
	for _, tx := range g.Validators {
		if err := p.stake(tx, rewards); err != nil {
			return err
		}
	}
	return p.state.Commit()
}

func (p *platform) stake(tx *txs.Tx, rewards reward.Calculator) error {
	p.state.AddTx(tx, status.Committed)
	scheduled, ok := tx.Unsigned.(txs.ScheduledStaker)
	if !ok {
		return fmt.Errorf("%T stakes", tx.Unsigned)
	}
	_, validates := tx.Unsigned.(txs.ValidatorTx)
	if scheduled.StartTime().After(p.state.GetTimestamp()) {
		s, err := state.NewPendingStaker(tx.ID(), scheduled)
		if err == nil && validates {
			return p.state.PutPendingValidator(s)
		}
		if err == nil {
			p.state.PutPendingDelegator(s)
		}
		return err
	}
	supply, err := p.state.GetCurrentSupply(constants.PrimaryNetworkID)
	if err != nil {
		return err
	}
	potential := rewards.Calculate(scheduled.StartTime(), scheduled.EndTime().Sub(scheduled.StartTime()), scheduled.Weight(), supply)
	p.state.SetCurrentSupply(constants.PrimaryNetworkID, supply+potential)
	s, err := state.NewCurrentStaker(tx.ID(), scheduled, scheduled.StartTime(), scheduled.EndTime(), scheduled.Weight(), potential)
	if err == nil && validates {
		return p.state.PutCurrentValidator(s)
	}
	if err == nil {
		p.state.PutCurrentDelegator(s)
	}
	return err
}

// export puts everything that the other chains ever exported to the P-Chain into shared memory.
func (p *platform) export(ctx context.Context, memory *atomic.Memory) error {
	for _, tx := range p.pTxs {
		imports, ok := tx.Unsigned.(*txs.ImportTx)
		if !ok {
			continue
		}
		request := &atomic.Requests{}
		for _, in := range imports.ImportedInputs {
			u, err := p.exported(ctx, imports.SourceChain, &in.UTXOID)
			if err != nil {
				return fmt.Errorf("transaction %s: %w", tx.ID(), err)
			}
			value, err := txs.GenesisCodec.Marshal(txs.CodecVersion, u)
			if err != nil {
				return err
			}
			id := u.InputID()
			request.PutRequests = append(request.PutRequests, &atomic.Element{Key: id[:], Value: value})
		}
		if err := memory.NewSharedMemory(imports.SourceChain).Apply(map[ids.ID]*atomic.Requests{constants.PlatformChainID: request}); err != nil {
			return err
		}
	}
	return nil
}

// execute has the node verify a block, at its own time and with the validators of its epoch, and accept it.
func (p *platform) execute(ctx context.Context, b block.Block) error {
	timed, ok := b.(block.BanffBlock)
	if !ok {
		return errors.New("has no time")
	}
	p.vm.Clk.Set(timed.Timestamp())
	height, err := p.heightFor(uint64(timed.Timestamp().Unix()))
	if err != nil {
		height = 0 // the first epoch begins with the genesis
	}
	parsed, ok := p.blocks.NewBlock(b).(*executor.Block)
	if !ok {
		return errors.New("is no block of the executor")
	}
	if err := parsed.VerifyWithContext(ctx, &snowmanblock.Context{PChainHeight: height}); err != nil {
		return err
	}
	return parsed.Accept(ctx)
}

// primaryChains knows who validates the chains of the primary network, which the world's genesis does not name.
type primaryChains struct {
	*platformvalidators.Manager
	n *network
}

func (v primaryChains) GetSubnetID(ctx context.Context, chain ids.ID) (ids.ID, error) {
	if chain == v.n.xID || chain == v.n.cID {
		return constants.PrimaryNetworkID, nil
	}
	return v.Manager.GetSubnetID(ctx, chain)
}

// exported returns an output that an import transaction of the P-Chain consumes.
func (p *platform) exported(ctx context.Context, source ids.ID, in *avax.UTXOID) (*avax.UTXO, error) {
	if u, made := p.utxos[in.InputID()]; made || source != p.cID {
		if !made {
			return nil, fmt.Errorf("nobody exported %s", in.InputID())
		}
		return u, nil
	}
	raw, err := client.NewCChainClient(p.url).GetAtomicTx(ctx, in.TxID)
	if err != nil {
		return nil, err
	}
	tx, err := atomictx.ExtractAtomicTx(raw, atomictx.Codec)
	if err != nil {
		return nil, err
	}
	exports, ok := tx.UnsignedAtomicTx.(*atomictx.UnsignedExportTx)
	if !ok || int(in.OutputIndex) >= len(exports.ExportedOutputs) {
		return nil, fmt.Errorf("%T of the C-Chain has no output %d", tx.UnsignedAtomicTx, in.OutputIndex)
	}
	out := exports.ExportedOutputs[in.OutputIndex]
	return &avax.UTXO{UTXOID: *in, Asset: out.Asset, Out: out.Out}, nil
}
