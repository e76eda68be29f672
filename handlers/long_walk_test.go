// Exhaustive runs try every case of TestLongTextsAreAnsweredAtOnce.

//go:build long

package handlers_test

// walkEvery makes a full run try every request with long texts.
const walkEvery = 1
