package platform

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim"
)

// SampleArgs asks for a sample of a subnet's validators.
type SampleArgs struct {
	Size     jsonrpc.Uint16 `json:"size"`
	SubnetID ids.ID         `json:"subnetID"`
}

// SampleReply lists a sample's validators, ordered by node id.
type SampleReply struct {
	Validators []ids.NodeID `json:"validators"`
}

// The errors of avalanchego's snow/validators.
var (
	errMissingValidators  = errors.New("missing validators")
	errInsufficientWeight = errors.New("insufficient weight")
)

// SampleValidators returns a sample of a subnet's validators: units of weight drawn without replacement, so a validator may appear more
// than once. The same state of the chain and the same request give the same sample.
func (a *Service) SampleValidators(r *http.Request, args *SampleArgs, reply *SampleReply) error {
	reply.Validators = []ids.NodeID{}
	if args.Size == 0 {
		return nil
	}
	head, err := a.state.Head(r.Context())
	if err != nil {
		return err
	}
	all, err := a.Network.ValidatorsAt(r.Context(), args.SubnetID, head.ID.Number())
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("sampling %s errored with %w", args.SubnetID, errMissingValidators)
	}
	seed := binary.BigEndian.AppendUint16(append(bytes.Clone(head.Digest), args.SubnetID[:]...), uint16(args.Size))
	sample := sampleOf(all, int(args.Size), rand.New(rand.NewChaCha8(sha256.Sum256(seed))))
	if sample == nil {
		return fmt.Errorf("sampling %s errored with %w", args.SubnetID, errInsufficientWeight)
	}
	slices.SortFunc(sample, func(a, b ids.NodeID) int { return bytes.Compare(a[:], b[:]) })
	reply.Validators = sample
	return nil
}

// sampleOf draws units of weight, nil if there are fewer than requested.
func sampleOf(all []sim.Validator, size int, rng *rand.Rand) []ids.NodeID {
	slices.SortFunc(all, func(a, b sim.Validator) int { return bytes.Compare(a.Node[:], b.Node[:]) })
	left, total := make([]uint64, len(all)), uint64(0)
	for i, v := range all {
		left[i] = v.Weight
		total += v.Weight
	}
	if total < uint64(size) {
		return nil
	}
	sample := make([]ids.NodeID, size)
	for k := range sample {
		at := rng.Uint64N(total)
		i := 0
		for at >= left[i] {
			at -= left[i]
			i++
		}
		left[i]--
		total--
		sample[k] = all[i].Node
	}
	return sample
}
