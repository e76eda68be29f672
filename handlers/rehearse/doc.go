// Package rehearse compares the requests that a command sends in two worlds, and the answers it gets.
//
// Requests match if they have the same operation or method, the same parameters except for a world's own hashes and ids, and the same number of
// earlier requests like them. Between matching responses it compares the presence, kind and value of each field, but not hashes and times, which
// differ between worlds with different blocks. A field that also differs between two runs in the same world says nothing about the rules.
package rehearse
