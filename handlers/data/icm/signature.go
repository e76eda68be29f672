package icm

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/parse"
	"snowglobe/sim/signing"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// SignatureRequest asks a subnet's validators to sign a message.
type SignatureRequest struct {
	Message          string `json:"message,omitempty" doc:"An unsigned warp message, or the data of its SendWarpMessage event; hexadecimal, with or without 0x. Without a message, the justification determines the P-Chain's message."`
	Justification    string `json:"justification,omitempty" doc:"Evidence for a P-Chain message: the id of a converted subnet, or the justification of an L1 validator; hexadecimal, with or without 0x."`
	SigningSubnetID  string `json:"signingSubnetId,omitempty" doc:"In cb58 or hexadecimal. Default: the subnet of the message's source chain."`
	QuorumPercentage uint64 `json:"quorumPercentage,omitempty" min:"0" max:"100" doc:"Percentage of the subnet's weight that must sign; 67 if 0 or absent."`
	QuorumBuffer     uint64 `json:"quorumPercentageBuffer,omitempty" min:"0" max:"100" doc:"Additional percentage of the weight that signs if possible; at most 100 together with quorumPercentage or its default."`
	PChainHeight     uint64 `json:"pChainHeight,omitempty" min:"0" max:"18446744073709551615" doc:"P-Chain height whose validators sign; the proposed height if 0 or absent."`
}

// SignedMessage is a message with its aggregate signature.
type SignedMessage struct {
	SignedMessage string `json:"signedMessage" pattern:"^([0-9a-f]{2})+$" doc:"The signed warp message, hexadecimal."`
}

const signaturePath = "/v1/signatureAggregator/{network}/aggregateSignatures"

func (a *signatureAPI) signatureOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "aggregateSignatures", Method: http.MethodPost, Path: signaturePath, Summary: "Have a subnet's validators sign a message",
			Spec: "Signature aggregator", Params: data.JoinParams(data.PathNetworkParam), UpstreamStatus: http.StatusCreated,
			Body: reflect.TypeFor[SignatureRequest](), Answer: reflect.TypeFor[SignedMessage](), Handle: a.OnNetwork(a.aggregateSignatures)},
		{ID: "getAggregatedSignatures", Path: signaturePath + "/{txHash}", Summary: "Get the signed message that the P-Chain sends an L1 about a transaction",
			Spec: "Signature aggregator", UpstreamStatus: http.StatusCreated,
			Params: data.JoinParams(data.PathNetworkParam, rest.Param{Name: "txHash", Kind: schema.KindIDOrHex, Doc: "The id of a P-Chain transaction."}),
			Answer: reflect.TypeFor[SignedMessage](), Handle: a.OnNetwork(a.getAggregatedSignatures)},
	}
}

func (a *signatureAPI) aggregateSignatures(r *rest.Request, n *sim.Network) (any, error) {
	ask, err := a.readSigning(r, n)
	if err != nil {
		return nil, err
	}
	return a.sign(r.Context(), n, ask)
}

func (a *signatureAPI) getAggregatedSignatures(r *rest.Request, n *sim.Network) (any, error) {
	hash := rest.Value[ids.ID](r, "txHash")
	s, err := signing.PChainMessageOf(r.Context(), n, hash)
	switch {
	case errors.Is(err, signing.ErrNoPChainMessage):
		return nil, rest.BadRequest(fmt.Sprintf("txHash %s has nothing to sign: %s", hash, err))
	case err != nil:
		return nil, data.OrNotFound(err, rest.NotFound("transaction %s does not exist on %s", hash, n.Name))
	}
	height, err := n.PHeight(r.Context())
	if err != nil {
		return nil, err
	}
	return a.sign(r.Context(), n, &signatureAsk{message: s.Message, justification: s.Justification, subnet: s.Subnet, height: height, quorum: warp.DefaultQuorumNumerator, field: "txHash"})
}

// sign responds with the signed message. Too few signers are the network's fault, not the client's, so that is no 400.
func (a *signatureAPI) sign(ctx context.Context, n *sim.Network, ask *signatureAsk) (any, error) {
	c, err := signing.NewAggregator(ctx, n, ask.subnet, ask.height)
	if err != nil {
		return nil, err
	}
	if c.TotalWeight == 0 {
		return nil, rest.BadRequest(fmt.Sprintf("%s: subnet %s has no validators at height %d of the P-Chain", ask.field, ask.subnet, ask.height))
	}
	if a.options.KnownOnly {
		if err = signing.VerifyMessage(ctx, n, ask.message, ask.justification); errors.Is(err, signing.ErrRefused) {
			return nil, unsigned(c.Refusal(ask.quorum, err))
		}
		if err != nil {
			return nil, err
		}
	}
	m, err := c.Sign(ask.message, ask.quorum, ask.buffer)
	if missed, ok := errors.AsType[*signing.QuorumError](err); ok {
		return nil, unsigned(missed)
	}
	if err != nil {
		return nil, err
	}
	raw, err := m.Bytes()
	return SignedMessage{hex.EncodeToString(raw)}, err
}

func unsigned(missed *signing.QuorumError) error {
	return rest.Unavailable("failed to aggregate signatures: " + missed.Error())
}

// signatureAsk is a parsed signature request.
type signatureAsk struct {
	message       *warp.UnsignedMessage
	justification []byte
	subnet        ids.ID
	height        uint64
	quorum        uint64
	buffer        uint64
	field         string // that selected the subnet or the height

	problems []string
}

func (s *signatureAsk) fail(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// readSigning reads a signature request and reports all its faults at once.
func (a *signatureAPI) readSigning(r *rest.Request, n *sim.Network) (*signatureAsk, error) {
	body, s := rest.Body[SignatureRequest](r), &signatureAsk{}
	if body.Message == "" && body.Justification == "" {
		s.fail("message or justification is required: expected hexadecimal digits in one of them")
	}
	s.quorum, s.buffer = body.QuorumPercentage, body.QuorumBuffer
	if s.quorum == 0 {
		s.quorum = warp.DefaultQuorumNumerator
	}
	if s.quorum+s.buffer > warp.QuorumDenominator {
		s.fail("quorumPercentage %d and quorumPercentageBuffer %d add up to more than 100", s.quorum, s.buffer)
	}
	raw := s.readHex("message", body.Message)
	s.justification = s.readHex("justification", body.Justification)
	for _, read := range []func() error{
		func() error { return s.readMessage(r.Context(), n, body.Message != "", raw) },
		func() error { return s.readSubnet(r.Context(), n, body.SigningSubnetID) },
		func() error { return s.readHeight(r.Context(), n, body.PChainHeight) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if len(s.problems) > 0 {
		return nil, rest.BadRequest(s.problems...)
	}
	return s, nil
}

func (s *signatureAsk) readHex(field, text string) []byte {
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	switch {
	case text == "":
	case errors.Is(err, hex.ErrLength):
		s.fail("%s has an odd number of hexadecimal digits", field)
	case err != nil:
		s.fail("%s is not hexadecimal: expected digits with or without 0x before them", field)
	case text == "0x":
		s.fail("%s is empty: expected hexadecimal digits after 0x", field)
	default:
		return raw
	}
	return nil
}

// readMessage reads the message, or derives it from the justification, and finds the subnet of its source.
func (s *signatureAsk) readMessage(ctx context.Context, n *sim.Network, given bool, raw []byte) (err error) {
	switch {
	case given && raw != nil:
		if s.message, err = warp.ParseSent(raw); err != nil {
			s.fail("message is not a warp message: expected the bytes of an unsigned one, or the data of a SendWarpMessage event")
			return nil
		}
	case !given && s.justification != nil:
		if s.message, err = signing.MessageFromJustification(ctx, n, s.justification); errors.Is(err, signing.ErrRefused) {
			s.fail("the justification alone does not determine a message: %s", err)
			return nil
		}
	}
	if err != nil || s.message == nil {
		return err
	}
	if s.message.NetworkID != n.Rules.NetworkID {
		s.fail("message is for network %d: expected %d, which is %s", s.message.NetworkID, n.Rules.NetworkID, n.Name)
		return nil
	}
	s.subnet, err = n.SubnetOf(ctx, s.message.SourceChainID)
	if errors.Is(err, store.ErrNotFound) {
		s.fail("message is from blockchain %s: expected one of %s", s.message.SourceChainID, n.Name)
		return nil
	}
	return err
}

func (s *signatureAsk) readSubnet(ctx context.Context, n *sim.Network, text string) error {
	if s.field = "message"; text == "" {
		return nil
	}
	s.field = "signingSubnetId"
	id, err := parse.ID(text)
	if raw, bad := hex.DecodeString(strings.TrimPrefix(text, "0x")); bad == nil && len(raw) == ids.IDLen {
		id, err = ids.ID(raw), nil
	}
	if err != nil {
		s.fail("signingSubnetId is not an id: expected cb58 with its checksum, or 64 hexadecimal digits")
		return nil
	}
	s.subnet = id
	known, err := n.HasSubnet(ctx, id)
	if err == nil && !known {
		s.fail("signingSubnetId %s is not known: expected a subnet of %s", id, n.Name)
	}
	return err
}

// readHeight reads the height of the validator set.
func (s *signatureAsk) readHeight(ctx context.Context, n *sim.Network, height uint64) error {
	last, err := n.PHeight(ctx)
	if err != nil {
		return err
	}
	if height > last {
		s.fail("pChainHeight %d is above the last block of the P-Chain: expected at most %d", height, last)
	}
	if s.height = height; height == 0 {
		s.height = last
	} else {
		s.field = "pChainHeight"
	}
	return nil
}
