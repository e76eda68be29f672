//go:build !long

package seed_test

// Sample sizes of a full run. With -tags long nothing is left out, which takes minutes.
const (
	damageEvery  = 17 // of how many damages of a column one is made
	damagedPages = 20
	profilesMade = 40
)
