// Package signing models how a network's validators sign warp messages: which message follows from a P-Chain transaction (PChainMessageOf)
// or a justification, whether a node would sign it (VerifyMessage, with the error texts of avalanchego's vms/platformvm/network/warp.go),
// and the aggregate signature of the validators that do, which an Aggregator collects as icm-services' signature aggregator does.
//
// The world has every node's secret key. A validator signs if its node is connected; one without a BLS key, such as an inactive validator
// of an L1, counts in the weight and never signs.
package signing
