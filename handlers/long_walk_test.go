// Exhaustive runs take every case of TestLongTextsAreAnsweredAtOnce.

//go:build long

package handlers_test

// walkEvery selects one in so many requests with long texts for a full run.
const walkEvery = 1
