package platform

import (
	"net/http"
	"time"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/rules"
)

// FeeConfigReply holds the parameters of the P-Chain's dynamic fee (ACP-103): avalanchego's gas.Config.
type FeeConfigReply struct {
	Weights                  [4]uint64 `json:"weights"` // of bandwidth, reads, writes and compute
	MaxCapacity              uint64    `json:"maxCapacity"`
	MaxPerSecond             uint64    `json:"maxPerSecond"`
	TargetPerSecond          uint64    `json:"targetPerSecond"`
	MinPrice                 uint64    `json:"minPrice"`
	ExcessConversionConstant uint64    `json:"excessConversionConstant"`
}

// FeeStateReply is the state of the dynamic fee: avalanchego's gas.State and the price.
type FeeStateReply struct {
	Capacity  uint64    `json:"capacity"`
	Excess    uint64    `json:"excess"`
	Price     uint64    `json:"price"` // nAVAX per unit of gas
	Timestamp time.Time `json:"timestamp"`
}

// ValidatorFeeConfigReply holds the parameters of the L1 validators' continuous fee (ACP-77): avalanchego's fee.Config.
type ValidatorFeeConfigReply struct {
	Capacity                 uint64 `json:"capacity"`
	Target                   uint64 `json:"target"`
	MinPrice                 uint64 `json:"minPrice"`
	ExcessConversionConstant uint64 `json:"excessConversionConstant"`
}

// ValidatorFeeStateReply is the state of the continuous fee.
type ValidatorFeeStateReply struct {
	Excess    uint64    `json:"excess"`
	Price     uint64    `json:"price"` // nAVAX per second
	Timestamp time.Time `json:"timestamp"`
}

// GetFeeConfig returns the parameters of the dynamic fee.
func (a *Service) GetFeeConfig(_ *http.Request, _ *jsonrpc.NoArgs, reply *FeeConfigReply) error {
	f := &a.Network.Rules.Fees
	*reply = FeeConfigReply{
		[4]uint64{f.Weights.Bandwidth, f.Weights.Reads, f.Weights.Writes, f.Weights.Compute},
		f.MaxCapacity, f.MaxPerSecond, f.TargetPerSecond, f.MinPrice, f.ExcessConversion,
	}
	return nil
}

// GetFeeState returns the dynamic fee after the last block.
func (a *Service) GetFeeState(r *http.Request, _ *jsonrpc.NoArgs, reply *FeeStateReply) error {
	head, err := a.state.Head(r.Context())
	if err != nil {
		return err
	}
	state := rules.FeeState{Capacity: head.GasCapacity, Excess: head.GasExcess}
	*reply = FeeStateReply{state.Capacity, state.Excess, state.Price(&a.Network.Rules.Fees), time.Unix(head.Time, 0).UTC()}
	return nil
}

// GetValidatorFeeConfig returns the parameters of the continuous fee.
func (a *Service) GetValidatorFeeConfig(_ *http.Request, _ *jsonrpc.NoArgs, reply *ValidatorFeeConfigReply) error {
	f := &a.Network.Rules.ValidatorFees
	*reply = ValidatorFeeConfigReply{f.Capacity, f.Target, f.MinPrice, f.ExcessConversion}
	return nil
}

// GetValidatorFeeState returns the continuous fee after the last block.
func (a *Service) GetValidatorFeeState(r *http.Request, _ *jsonrpc.NoArgs, reply *ValidatorFeeStateReply) error {
	head, err := a.state.Head(r.Context())
	if err != nil {
		return err
	}
	*reply = ValidatorFeeStateReply{head.L1Excess, a.Network.Rules.ValidatorFees.Price(head.L1Excess), time.Unix(head.Time, 0).UTC()}
	return nil
}
