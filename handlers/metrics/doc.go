// Package metrics serves the Metrics API: time series and rolling values of the EVM chains, by chain, by network and
// over all of them; who stakes on a subnet; what L1 validators pay; how many messages chains send each other. What each
// metric means, and what the definitions leave open, is said in package sim/metric.
//
// Points come newest first, one for every interval from that of the first block to that in which the world's clock
// stands; that one is partial, and there is none while the clock stands at its very beginning. startTimestamp is included, endTimestamp is not, and must not come first. Without timeInterval points are days.
package metrics
