//go:build long

package seed_test

// Sample sizes of make exhaustive, which tries everything.
const (
	damageEvery  = 1
	damagedPages = 60
	profilesMade = 200
)
