// Package solc finds the Solidity compilers that Foundry, Hardhat or the user keep on this machine, and runs them.
//
// A compiler's input may come from a client, so a compiler runs in an empty folder, without environment or search path, one at a time, with bounds
// on time, memory and output; on Linux it may write no file and, where the system allows user namespaces, reach no network. It gets its input once it
// is bounded. The input has the text of every source: a URL or a path in it is refused, and an import that it lacks is a compiler's error. Solvers that
// a source asks for (modelChecker) are left out, so that the compiler starts no other program.
package solc
