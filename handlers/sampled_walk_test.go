//go:build !long

package handlers_test

// walkEvery is of how many requests with long texts one is made in a full run, one or two with each parameter: all of them take minutes, with -tags long.
const walkEvery = 7
