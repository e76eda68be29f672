// Short runs try some of the cases of TestLongTextsAreAnsweredAtOnce.

//go:build !long

package handlers_test

// walkEvery selects one in so many requests with long texts for a full run, about one for each parameter. All of them take minutes; make exhaustive
// tries them.
const walkEvery = 11
