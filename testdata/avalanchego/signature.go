package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/snow/validators"
	"github.com/ava-labs/avalanchego/vms/platformvm"
	"github.com/ava-labs/avalanchego/vms/platformvm/api"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp/message"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp/payload"
)

// errRefused is the aggregator's answer when too few validators sign.
var errRefused = errors.New("too few validators sign")

// request is the aggregator's request.
type request struct {
	Message string `json:"message"`
	Quorum  uint64 `json:"quorumPercentage"`
	Buffer  uint64 `json:"quorumPercentageBuffer"`
	Height  uint64 `json:"pChainHeight"`
}

// quorums lists the percentages to ask for: at least the first, and the second more where it can be had.
var quorums = [][2]uint64{{1, 0}, {67, 0}, {100, 0}, {34, 33}, {50, 50}}

// aggregator is the signature aggregator, with the findings of the real node's code about it.
type aggregator struct{ *network }

// use has messages of every chain signed at several heights, and verifies them.
func (n aggregator) use(ctx context.Context) error {
	last, err := n.p.GetHeight(ctx)
	if err != nil {
		return err
	}
	chains := []ids.ID{ids.Empty, n.xID, n.cID}
	all, err := n.p.GetBlockchains(ctx)
	if err != nil {
		return err
	}
	for _, b := range all {
		chains = append(chains, b.ID)
	}
	for _, chain := range chains {
		heights := []uint64{last, last - 1, last / 2}
		for _, c := range n.changes {
			if c.source == chain {
				heights = append(heights, c.height-1, c.height)
			}
		}
		slices.Sort(heights)
		for _, height := range slices.Compact(heights) {
			if err := n.signAt(ctx, chain, height); err != nil {
				return fmt.Errorf("message of %s at height %d: %w", chain, height, err)
			}
		}
	}
	if n.seen.signed == 0 || n.seen.refused == 0 {
		return fmt.Errorf("%d messages signed, %d refused: want some of both", n.seen.signed, n.seen.refused)
	}
	return n.useStatements(ctx, last)
}

func (n aggregator) signAt(ctx context.Context, chain ids.ID, height uint64) error {
	set, err := n.setOf(ctx, chain, height)
	if err != nil || set.TotalWeight == 0 {
		return err
	}
	call, err := payload.NewAddressedCall(bytes.Repeat([]byte{1}, 20), fmt.Appendf(nil, "at %d", height))
	if err != nil {
		return err
	}
	unsigned, err := warp.NewUnsignedMessage(n.id, chain, call.Bytes())
	if err != nil {
		return err
	}
	for _, q := range quorums {
		raw, err := n.aggregate(ctx, request{hex.EncodeToString(unsigned.Bytes()), q[0], q[1], height})
		if errors.Is(err, errRefused) {
			n.seen.refused++
			continue
		}
		if err != nil {
			return err
		}
		if err := n.checkSigned(raw, unsigned.Bytes(), set, q[0]); err != nil {
			return fmt.Errorf("quorum %d+%d: %w", q[0], q[1], err)
		}
	}
	return nil
}

// setOf returns the canonical set of the subnet that validates a chain.
func (n aggregator) setOf(ctx context.Context, chain ids.ID, height uint64) (validators.WarpSet, error) {
	subnet := ids.Empty
	if chain != ids.Empty {
		var err error
		if subnet, err = n.p.ValidatedBy(ctx, chain); err != nil {
			return validators.WarpSet{}, err
		}
	}
	return n.subnetSet(ctx, subnet, height)
}

func (n aggregator) subnetSet(ctx context.Context, subnet ids.ID, height uint64) (validators.WarpSet, error) {
	members, err := n.p.GetValidatorsAt(ctx, subnet, api.Height(height))
	if err != nil {
		return validators.WarpSet{}, err
	}
	return validators.FlattenValidatorSet(members)
}

// checkSigned verifies a signed message, and that nothing in it or in the set may be another.
func (n aggregator) checkSigned(raw, unsigned []byte, set validators.WarpSet, quorum uint64) error {
	m, err := warp.ParseMessage(raw)
	if err != nil {
		return err
	}
	if unsigned != nil && !bytes.Equal(m.UnsignedMessage.Bytes(), unsigned) {
		return errors.New("another message was signed")
	}
	verify := func(set validators.WarpSet) error {
		return m.Signature.Verify(&m.UnsignedMessage, n.id, set, quorum, quorumDenominator)
	}
	if err := verify(set); err != nil {
		return err
	}
	n.seen.signed++
	signature := m.Signature.(*warp.BitSetSignature)
	signature.Signers[len(signature.Signers)-1] ^= 1
	if len(signature.Signers) > 1 && verify(set) == nil {
		return errors.New("a wrong bit passes")
	}
	signature.Signers[len(signature.Signers)-1] ^= 1
	light := validators.WarpSet{Validators: set.Validators, TotalWeight: set.TotalWeight * 100 / quorum * 2}
	if verify(light) == nil {
		return errors.New("a wrong weight passes")
	}
	turned := validators.WarpSet{Validators: slices.Clone(set.Validators), TotalWeight: set.TotalWeight}
	slices.Reverse(turned.Validators)
	if len(turned.Validators) > 1 && quorum > 50 && verify(turned) == nil && !symmetric(signature.Signers, len(turned.Validators)) {
		return errors.New("a wrong order passes")
	}
	return nil
}

// symmetric reports whether the bits of a set are a palindrome, so that the signers do not depend on the order.
func symmetric(signers []byte, size int) bool {
	bit := func(i int) bool {
		at := len(signers) - 1 - i/8
		return at >= 0 && signers[at]>>(i%8)&1 == 1
	}
	for i := range size {
		if bit(i) != bit(size-1-i) {
			return false
		}
	}
	return true
}

// useStatements requests the P-Chain's message for every transaction about an L1.
func (n aggregator) useStatements(ctx context.Context, height uint64) error {
	for _, tx := range n.pTxs {
		var subnet ids.ID
		var err error
		switch u := tx.Unsigned.(type) {
		case *txs.ConvertSubnetToL1Tx:
			subnet = u.Subnet
		case *txs.RegisterL1ValidatorTx:
			subnet, err = n.subnetOf(ctx, u.Message)
		case *txs.SetL1ValidatorWeightTx:
			subnet, err = n.subnetOf(ctx, u.Message)
		case *txs.DisableL1ValidatorTx:
			var l1 platformvm.L1Validator
			l1, _, err = n.p.GetL1Validator(ctx, u.ValidationID)
			subnet = l1.SubnetID
		default:
			continue
		}
		if err != nil {
			return err
		}
		raw, err := n.signed(http.MethodGet, "/"+tx.ID().String(), nil)
		if errors.Is(err, errRefused) {
			n.seen.refused++
			continue
		}
		if err != nil {
			return fmt.Errorf("transaction %s: %w", tx.ID(), err)
		}
		if err := n.checkStatement(ctx, raw, subnet, height); err != nil {
			return fmt.Errorf("transaction %s: %w", tx.ID(), err)
		}
	}
	return nil
}

// subnetOf returns the L1 whose manager sent a message.
func (n aggregator) subnetOf(ctx context.Context, raw []byte) (ids.ID, error) {
	m, err := warp.ParseMessage(raw)
	if err != nil {
		return ids.Empty, err
	}
	return n.p.ValidatedBy(ctx, m.SourceChainID)
}

func (n aggregator) checkStatement(ctx context.Context, raw []byte, subnet ids.ID, height uint64) error {
	set, err := n.subnetSet(ctx, subnet, height)
	if err != nil {
		return err
	}
	m, err := warp.ParseMessage(raw)
	if err != nil {
		return err
	}
	call, err := payload.ParseAddressedCall(m.Payload)
	if err != nil || m.SourceChainID != ids.Empty || len(call.SourceAddress) > 0 {
		return fmt.Errorf("not a message of the P-Chain: %+v, %w", m, err)
	}
	if _, err := message.Parse(call.Payload); err != nil {
		return err
	}
	return n.checkSigned(raw, nil, set, quorumNumerator)
}

func (n aggregator) aggregate(ctx context.Context, r request) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return n.signed(http.MethodPost, "", body)
}

// signed asks the aggregator.
func (n aggregator) signed(method, path string, body []byte) ([]byte, error) {
	r, err := http.NewRequest(method, n.server.URL+"/v1/signatureAggregator/"+n.name+"/aggregateSignatures"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode == http.StatusServiceUnavailable && bytes.Contains(text, []byte("threshold of signatures")):
		return nil, errRefused
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s", answer.Status, text)
	}
	var reply struct {
		SignedMessage string `json:"signedMessage"`
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return nil, err
	}
	return hex.DecodeString(reply.SignedMessage)
}
