// Short runs take some of the cases of TestLongTextsAreAnsweredAtOnce.

//go:build !long

package handlers_test

// walkEvery is of how many requests with long texts one is made in a full run, about one with each parameter: all of them take minutes, as make exhaustive tries them.
const walkEvery = 11
