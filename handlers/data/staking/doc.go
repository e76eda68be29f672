// Package staking serves the Data API's operations about validators, delegators, L1 validators (ACP-77) and rewards. It asks the
// staker index of package query and encodes what it says; what was written of an index's entries is kept as long as the index.
package staking
