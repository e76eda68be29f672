// Package rehearse compares what a command asked in two worlds, and what it was answered.
//
// A request is matched by what it is: its operation or method, its parameters without what only one world has, and how many times it was asked
// before. Of matched answers, fields are compared: which are there, of what kind they are, and what they count. Hashes and times are not, because
// worlds with different blocks have different ones. A field that differs also between two runs in the same world tells nothing about the rules.
package rehearse
