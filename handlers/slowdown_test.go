//go:build !race

package handlers_test

// slowdown is how much longer everything takes.
const slowdown = 1
