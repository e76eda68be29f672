// Package session records what was done to a world, as a text that package fixtures/session reads, and plays such a text.
//
// A [Recorder] gets every call of a method or an operation that changes the world. It keeps the calls in the order in which they took the
// writer's lock, as they came, and puts them into words only when somebody asks (write.go). A [Player] turns each line into the requests that a
// client would send (play.go); the server answers them like those of its own pages, so that no fault, rate limit or journal concerns them.
package session
