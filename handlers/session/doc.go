// Package session records what was done to a world, in the text form of package fixtures/session, and plays such text.
//
// A [Recorder] gets every call of a method or an operation that changes the world. It keeps the raw calls in the order in which they took the
// writer's lock, and writes them as lines only when somebody asks (write.go). A [Player] turns each line into the requests that a client would send
// (play.go). The server treats them like requests of its own pages: faults, rate limits and the journal don't apply.
package session
