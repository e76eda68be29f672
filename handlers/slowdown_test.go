// Time limits without the race detector.

//go:build !race

package handlers_test

// slowdown is the factor by which everything takes longer: 1 without the race detector.
const slowdown = 1
