//go:build race

package handlers_test

// slowdown is how much longer everything takes under the detector, at most.
const slowdown = 20
