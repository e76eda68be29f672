//go:build !long

package seed_test

// Sample sizes of a full run. -tags long leaves nothing out, and takes minutes.
const (
	damageEvery  = 17 // one in so many damages of a column is tried
	damagedPages = 20
	profilesMade = 40
)
