// Package outbox has the statements about webhooks: who wants to be told of what, what they are promised, and what became of it.
//
// A message is promised in the commit of the block that it is about, and so survives whatever happens to the process; its text
// follows from the history. What became of it is in tables of their own, which stay when the world goes back.
package outbox
