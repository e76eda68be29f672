// Time limits under the race detector.

//go:build race

package handlers_test

// slowdown bounds the factor by which the race detector slows everything down.
const slowdown = 20
