package warp

import (
	"context"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/rpc"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/parse"
	"snowglobe/sim/signing"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// Namespaces returns the warp methods of a network's chain.
func Namespaces(c *reader.Chain, network *sim.Network) []rpc.Namespace {
	if network == nil {
		return nil
	}
	return []rpc.Namespace{{Name: "warp", Methods: &api{c, network}}}
}

type api struct {
	chain   *reader.Chain
	network *sim.Network
}

var (
	errNoValidators  = errors.New("cannot aggregate signatures from subnet with no validators")
	errValidatorSet  = errors.New("cannot retrieve validator set")
	errValidateBlock = errors.New("failed to validate block message")
)

// verifyErrCode is the code with which a validator refuses to sign (warp.VerifyErrCode).
const verifyErrCode = 2

// boundedID is an id parameter of bounded length: decoding takes time quadratic in the length.
type boundedID struct{ ids.ID }

// idLength exceeds the length of any quoted id.
const idLength = 64

var errLongID = fmt.Errorf("couldn't decode ID to bytes: it has more than %d characters", idLength)

func (id *boundedID) UnmarshalJSON(text []byte) error {
	if len(text) > idLength {
		return errLongID
	}
	return id.ID.UnmarshalJSON(text)
}

func (a *api) sent(ctx context.Context, id ids.ID) (*warp.UnsignedMessage, error) {
	return signing.SentMessage(ctx, a.network, a.chain, id)
}

// GetMessage returns an unsigned message of the chain by its id.
func (a *api) GetMessage(ctx context.Context, id boundedID) (hexutil.Bytes, error) {
	m, err := a.sent(ctx, id.ID)
	if err != nil {
		return nil, fmt.Errorf("failed to get message %s with error %w", id, err)
	}
	return m.Bytes()
}

// GetMessageSignature returns the node's own signature of a message.
func (a *api) GetMessageSignature(ctx context.Context, id boundedID) (hexutil.Bytes, error) {
	m, err := a.sent(ctx, id.ID)
	if err != nil {
		return nil, fmt.Errorf("failed to get message %s with error %w", id, err)
	}
	return a.sign(m)
}

// GetBlockSignature returns the node's own signature of the message that the chain accepted a block.
func (a *api) GetBlockSignature(ctx context.Context, block boundedID) (hexutil.Bytes, error) {
	m, err := signing.BlockMessage(ctx, a.network, a.chain, block.ID)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: %d: failed to get block %s: %w", errValidateBlock, verifyErrCode, block, err)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to get signature for block %s with error %w", block, err)
	}
	return a.sign(m)
}

// sign signs with the answering node's key.
func (a *api) sign(m *warp.UnsignedMessage) (hexutil.Bytes, error) {
	unsigned, err := m.Bytes()
	if err != nil {
		return nil, err
	}
	signature, err := warp.NewSecretKey([32]byte(a.network.LocalNode.Secret)).Sign(unsigned)
	if err != nil {
		return nil, err
	}
	text := signature.Bytes()
	return text[:], nil
}

// GetMessageAggregateSignature returns a message signed by a subnet's validators: the chain's own unless the caller names another.
func (a *api) GetMessageAggregateSignature(ctx context.Context, id boundedID, quorum uint64, subnet string) (hexutil.Bytes, error) {
	m, err := a.sent(ctx, id.ID)
	if err != nil {
		return nil, err
	}
	return a.aggregate(ctx, m, quorum, subnet)
}

// GetBlockAggregateSignature returns the message that the chain accepted a block, signed by a subnet's validators.
func (a *api) GetBlockAggregateSignature(ctx context.Context, block boundedID, quorum uint64, subnet string) (hexutil.Bytes, error) {
	m, err := signing.BlockMessage(ctx, a.network, a.chain, block.ID)
	if err != nil {
		return nil, err
	}
	return a.aggregate(ctx, m, quorum, subnet)
}

func (a *api) aggregate(ctx context.Context, m *warp.UnsignedMessage, quorum uint64, subnet string) (hexutil.Bytes, error) {
	id := ids.ID(a.chain.Row.SubnetID)
	if subnet != "" {
		var err error
		if id, err = parse.ID(subnet); err != nil {
			return nil, fmt.Errorf("failed to parse subnetID: %q", subnet)
		}
	}
	height, err := a.network.PHeight(ctx)
	if err != nil {
		return nil, err
	}
	if known, err := a.network.HasSubnet(ctx, id); err != nil || !known {
		return nil, errors.Join(err, fmt.Errorf("%w: %s source subnet not found", errValidatorSet, id))
	}
	signers, err := signing.NewAggregator(ctx, a.network, id, height)
	if err != nil {
		return nil, err
	}
	if len(signers.Validators) == 0 {
		return nil, fmt.Errorf("%w (SubnetID: %s, Height: %d)", errNoValidators, id, height)
	}
	signed, err := signers.Collect(m, quorum)
	if err != nil {
		return nil, err
	}
	return signed.Bytes()
}
