//go:build !long

package seed_test

// How much a full run tries of what there is in great numbers. With -tags long it is all of it, which takes minutes.
const (
	damageEvery  = 17 // of how many damages of a column one is made
	damagedPages = 20
	profilesMade = 40
)
