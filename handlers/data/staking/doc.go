// Package staking serves the Data API's operations on validators, delegators, L1 validators (ACP-77) and rewards. It encodes the entries of
// package query's staker index, and keeps the encoded entries as long as the index.
package staking
