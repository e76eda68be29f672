// Package prometheus serves /ext/metrics in Prometheus's text format: requests by operation, the chains' heights, the execution of the
// C-Chains' blocks and the process's resources.
package prometheus
