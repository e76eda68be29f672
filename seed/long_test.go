//go:build long

package seed_test

// Everything, as make exhaustive tries it.
const (
	damageEvery  = 1
	damagedPages = 60
	profilesMade = 200
)
