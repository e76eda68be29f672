// Package signing is the validators of a network as they sign warp messages: which message follows from a P-Chain transaction
// (PChainMessageOf) or a justification, whether a node would sign one (VerifyMessage, with the error texts of avalanchego's
// vms/platformvm/network/warp.go), and the aggregate signature of those who do (SignerSet.Sign), as the signature aggregator of
// icm-services collects it.
//
// The world has the secret key of every node. A validator signs if its node is connected; one without a BLS key, such as an
// inactive validator of an L1, counts in the weight and never signs.
package signing
