//go:build !long

package handlers_test

// walkEvery is of how many requests with long texts one is made in a full run, two or more with each parameter: all of them take minutes, with -tags long.
const walkEvery = 4
