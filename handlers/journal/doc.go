// Package journal remembers the latest requests and their answers: what a test asks after the fact, and what a developer reads
// who wonders what an application really sent.
//
// An [Exchange] is taken down as it passes, with the bytes as they came and as little work as can be: slices and maps that exist
// anyway, in a ring of fixed length. What they say, parameters, members of a batch, the cause of a refusal, is read only when
// somebody asks (describe.go). Nothing leaves the package with a secret in it (redact.go).
//
// Each world of a process has its own.
package journal
