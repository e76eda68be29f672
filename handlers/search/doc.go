// Package search looks for a schedule of faults that makes a command fail, and shrinks it.
//
// search.go draws schedules and runs them, shrink.go removes faults that a failure doesn't need, corpus.go keeps schedules in a file, and report.go
// describes the result.
package search
