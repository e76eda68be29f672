// Package seed decides what happens in a world: who is in it, what they want and when. It knows nothing of rows: what it
// decides becomes signed transactions that package sim executes, indexes and commits like anyone else's.
//
// Randomness is keyed by what it is for (see dice), so that adding one thing does not move another, and nothing here
// looks at the wall clock.
package seed
