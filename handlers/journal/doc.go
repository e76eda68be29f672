// Package journal remembers the latest requests and responses. Tests assert on them afterwards, and developers see what an application
// really sent.
//
// An [Exchange] is recorded as it passes, with its original bytes and as little work as possible: slices and maps that exist anyway, in a
// ring of fixed length. The package parses them (parameters, members of a batch, the cause of a rejection) only when somebody asks
// (describe.go). It removes every secret from what it returns (redact.go).
//
// Each world of a process has its own journal.
package journal
