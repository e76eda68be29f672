// Package rehearse compares the requests that a command sends in two worlds, and the answers it gets.
//
// A request is matched by its operation or method, its parameters without hashes and ids of one world, and how many times it was asked before. In
// matched answers, the presence, kind and value of each field are compared. Hashes and times are not, because worlds with different blocks have
// different ones. A field that also differs between two runs in the same world says nothing about the rules.
package rehearse
