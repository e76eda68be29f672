// Package query answers what more than one interface asks of a world and what one row does not say: points of metrics up to
// the clock, staking and fee series, counts of ICM messages by route, markets of tokens, what a reward output is for.
//
// Series end with the interval in which the clock stands, although no block has opened it yet: rows say what blocks brought,
// query adds what time alone changes. It only reads.
package query
