// Package search looks for a schedule of faults with which a command fails, and shrinks what it finds.
//
// search.go draws schedules and runs them, shrink.go leaves out what a failure does not need, corpus.go keeps schedules in a file, report.go
// says what was found.
package search
