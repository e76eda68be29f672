// Package artifacts knows contracts by what their compiler wrote: name, source, ABI, code and source map.
//
// A Contract comes from a folder that Foundry or Hardhat wrote (Registry.AddFolder), or from the compiler's standard JSON
// (https://docs.soliditylang.org/en/latest/using-the-compiler.html#compiler-input-and-output-json-description) by ParseStandard, whose contracts
// Registry.Add makes known. Registry.Runtime and Registry.Creation find the contract of code that a chain has or a transaction creates. They
// compare bytes: only the addresses of linked libraries, immutable variables and the hash in the compiler's metadata may differ.
//
// Folders are other people's files. The package bounds sizes and numbers, follows no symbolic links or paths out of the project, and runs nothing.
package artifacts
