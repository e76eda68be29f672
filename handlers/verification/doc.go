// Package verification knows the source of contracts on chain: those that clients verify, those of the artifacts that the user names, and the
// program's own.
//
// To verify a contract is to compile what the client sends with the compiler that it names, and to compare the result with the code on chain byte
// by byte: only the values of immutable variables, the addresses of libraries and the metadata's hash may differ. What matches is written to the
// world's file (table verified) and added to the registry of package artifacts, which from then on finds it for all code that is the same.
package verification
