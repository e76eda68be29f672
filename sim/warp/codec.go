package warp

import (
	"math"

	"github.com/ava-labs/avalanchego/codec"
	"github.com/ava-labs/avalanchego/codec/linearcodec"
)

const codecVersion = 0

// messageCodec registers the signature types, l1MessageCodec the L1 messages of ACP-77.
var (
	messageCodec   = newCodec(&BitSetSignature{})
	l1MessageCodec = newCodec(&SubnetToL1Conversion{}, &RegisterL1Validator{}, &L1ValidatorRegistration{}, &L1ValidatorWeight{})
)

// newCodec builds a manager that gives each type its position as id. Like avalanchego's, it sets no limit: the readers of messages do, and
// every message that was read can be signed. If a type cannot be registered, the manager has no codec version and every use of it fails.
func newCodec(types ...any) codec.Manager {
	c := linearcodec.NewDefault()
	manager := codec.NewManager(math.MaxInt)
	for _, t := range types {
		if c.RegisterType(t) != nil {
			return manager
		}
	}
	_ = manager.RegisterCodec(codecVersion, c)
	return manager
}
