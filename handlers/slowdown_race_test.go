// Time limits under the race detector.

//go:build race

package handlers_test

// slowdown bounds how much the race detector slows everything down.
const slowdown = 20
