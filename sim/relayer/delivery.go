package relayer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm/index"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/signing"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

var (
	errNotAllowed = errors.New("only other relayers may deliver it (allowedRelayerAddresses)")
	errGasLimit   = fmt.Errorf("its requiredGasLimit is more than %d", maxRequiredGas)
	errNoWarp     = errors.New("the destination accepts no warp messages now")
	errRewound    = errors.New("the world was rewound")
)

type delivery struct {
	*Relayer
	by          account
	sent        *index.TeleporterMessage
	unsigned    *warp.UnsignedMessage
	destination *reader.Chain
}

// deliver delivers the message in a log. It skips messages that are not a relayer's business, without an error.
func (r *Relayer) deliver(ctx context.Context, id store.Position) error {
	rewinds := r.rewound()
	d, err := r.read(ctx, id)
	if err != nil || d == nil {
		return err
	}
	if !d.sent.RequiredGasLimit.IsUint64() || d.sent.RequiredGasLimit.Uint64() > maxRequiredGas {
		return errGasLimit
	}
	if allowed := d.sent.AllowedRelayerAddresses; len(allowed) > 0 && !slices.Contains(allowed, d.by.address) {
		return errNotAllowed
	}
	m := r.world.MinerOf(d.destination)
	waits, err := d.waits(m)
	if err != nil || waits {
		return err
	}
	err = m.SendNext(ctx, d.by.address, func(next miner.Next) (*types.Transaction, error) {
		if r.rewound() > rewinds { // Rewound has queued the messages that are left
			return nil, errRewound
		}
		return d.transaction(ctx, next)
	})
	if errors.Is(err, errRewound) {
		err = nil
	}
	return err
}

// read parses an undelivered message that the messenger sent to a chain of the same network; nil for any other.
func (r *Relayer) read(ctx context.Context, id store.Position) (*delivery, error) {
	logs, err := r.world.DB.LogsBetween(ctx, id, id+1, 2) // the messenger's own log, and right after it the precompile's
	if err != nil || len(logs) < 2 || !bytes.Equal(logs[0].Address, fixtures.TeleporterMessenger[:]) || !bytes.Equal(logs[1].Address, precompile.WarpAddress[:]) {
		return nil, err
	}
	log := index.ParseTeleporterLog(&logs[0])
	if log == nil {
		return nil, nil
	}
	source, destination := r.world.ChainAt(id), r.world.ChainByBlockchainID(log.Peer)
	if destination == nil || destination.Row.Network != source.Row.Network {
		return nil, nil
	}
	if delivered, err := r.wasDelivered(ctx, log.ID, destination); err != nil || delivered {
		return nil, err
	}
	unsigned, err := warp.ParseSent(logs[1].Data)
	if err != nil {
		return nil, err
	}
	by, err := r.account()
	return &delivery{r, by, &log.Message, unsigned, destination}, err
}

// wasDelivered reports whether a chain's messenger received the message with an id.
func (r *Relayer) wasDelivered(ctx context.Context, message common.Hash, destination *reader.Chain) (bool, error) {
	events, err := r.world.DB.MessageEvents(ctx, message[:])
	if err != nil {
		return false, err
	}
	var received []store.Position
	for i := range events {
		if events[i].Kind == store.MessageReceived && events[i].ID.Chain() == destination.Row.ID {
			received = append(received, events[i].ID)
		}
	}
	logs, err := r.world.DB.LogsAt(ctx, received)
	return slices.ContainsFunc(logs, func(l store.Log) bool { return bytes.Equal(l.Address, fixtures.TeleporterMessenger[:]) }), err
}

// waits reports whether a transaction that delivers the message is in the destination's pool.
func (d *delivery) waits(m *miner.Miner) (bool, error) {
	id, err := d.unsigned.ID()
	if err != nil {
		return false, err
	}
	pending, queued := m.Pool.Of(d.by.address)
	for _, tx := range append(pending, queued...) {
		for _, entry := range tx.AccessList() {
			if entry.Address != precompile.WarpAddress {
				continue
			}
			signed, err := precompile.Predicate(entry.StorageKeys).Message()
			if err != nil {
				continue // the account's key is public: others may have sent it
			}
			if other, err := signed.UnsignedMessage.ID(); err == nil && other == id {
				return true, nil
			}
		}
	}
	return false, nil
}

// baseFeeFactor is the growth of the base fee that a waiting delivery survives (icm-services, vms/evm/destination_client.go).
const baseFeeFactor = 3

func (d *delivery) transaction(ctx context.Context, next miner.Next) (*types.Transaction, error) {
	messenger, err := contracts.Load("Messenger")
	if err != nil {
		return nil, err
	}
	call, err := messenger.ABI.Pack("receiveCrossChainMessage", uint32(0), d.by.address)
	if err != nil {
		return nil, err
	}
	predicate, signers, err := d.sign(ctx, next.Time)
	if err != nil {
		return nil, err
	}
	chainID, tip := new(big.Int).SetUint64(d.destination.Row.EVMID), big.NewInt(1)
	feeCap := new(big.Int).Mul(next.BaseFee, big.NewInt(baseFeeFactor))
	return types.SignNewTx(d.by.key, types.LatestSignerForChainID(chainID), &types.DynamicFeeTx{
		ChainID: chainID, Nonce: next.Nonce, GasTipCap: tip, GasFeeCap: feeCap.Add(feeCap, tip), Gas: d.gas(predicate, signers),
		To: &fixtures.TeleporterMessenger, Data: call, AccessList: types.AccessList{{Address: precompile.WarpAddress, StorageKeys: predicate}},
	})
}

// sign collects the signatures that the destination requires in a block at a time, and returns how many there are.
func (d *delivery) sign(ctx context.Context, time uint64) (precompile.Predicate, int, error) {
	config, on := d.destination.Genesis.Precompiles.At(time)[precompile.Warp.Key]
	if !on {
		return nil, 0, errNoWarp
	}
	subnet, quorum, err := d.destination.NetworkContext.Signers(d.unsigned.SourceChainID, config)
	if err != nil {
		return nil, 0, err
	}
	set, err := d.aggregator(ctx, subnet, time)
	if err != nil {
		return nil, 0, err
	}
	signed, err := set.Sign(d.unsigned, quorum, 0)
	if err != nil {
		return nil, 0, err
	}
	raw, err := signed.Bytes()
	if err != nil {
		return nil, 0, err
	}
	indices, err := warp.SignerIndices(signed.Signature.Signers)
	return precompile.NewPredicate(raw), len(indices), err
}

// aggregator returns the aggregator of a subnet's validators as blocks at a time see them.
func (d *delivery) aggregator(ctx context.Context, subnet ids.ID, time uint64) (*signing.Aggregator, error) {
	n := d.world.NetworkOf(d.destination)
	epoch, err := n.EpochAt(ctx, time)
	if err != nil {
		return nil, err
	}
	return signing.NewAggregator(ctx, n, subnet, epoch.PHeight)
}

// Gas of a delivery in addition to the message's own limit. For the precompile's part these are the numbers of icm-services
// (icm-contracts/utils/gas-utils); the messenger itself needs more here than there.
const (
	maxRequiredGas = 12_000_000 // the most a message may ask for: block-gas-limit in a relayer's configuration

	overheadGas = 125_000 + 750 + 400_000 // to verify, to read, and to record the message and its receipt
	chunkGas    = 2 * 512                 // of the predicate, verified and read
	signerGas   = 250
	decodeGas   = 35     // per byte
	settleGas   = 50_000 // per receipt that the message carries
	forwardGas  = 64     // a call leaves one part in this many to its caller (EIP-150)
)

// gas returns enough gas for the messenger to give the recipient its limit.
func (d *delivery) gas(predicate precompile.Predicate, signers int) uint64 {
	required := d.sent.RequiredGasLimit.Uint64()
	return required + required/(forwardGas-1) + overheadGas + uint64(len(predicate))*chunkGas + uint64(signers)*signerGas +
		uint64(len(d.unsigned.Payload))*decodeGas + uint64(len(d.sent.Receipts))*settleGas
}
