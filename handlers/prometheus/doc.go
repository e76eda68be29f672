// Package prometheus answers /ext/metrics in the text format of Prometheus: requests by operation, the heights of the chains and what
// the process holds.
package prometheus
