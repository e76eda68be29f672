// Time limits under the race detector.

//go:build race

package handlers_test

// slowdown bounds how much longer everything takes under the detector.
const slowdown = 20
