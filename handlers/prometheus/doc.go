// Package prometheus serves /ext/metrics in Prometheus's text format: requests by operation, the chains' heights and the process's
// resources.
package prometheus
