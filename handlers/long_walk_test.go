// Exhaustive runs take every case of TestLongTextsAreAnsweredAtOnce.

//go:build long

package handlers_test

// walkEvery is of how many requests with long texts one is made in a full run.
const walkEvery = 1
