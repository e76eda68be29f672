// Package metrics serves the Metrics API: time series and rolling values of the EVM chains, by chain, by network and over all of them; the
// stakers of a subnet; the fees of L1 validators; the messages between chains. Package sim/metric defines each metric and settles the
// points that the definitions leave open.
//
// Points come newest first, one per interval from the first block's to that of the world's clock. The last interval is partial, and has no
// point while the clock stands at its very beginning. startTimestamp is inclusive, endTimestamp exclusive, and it must not come first.
// Without timeInterval, points are days.
package metrics
