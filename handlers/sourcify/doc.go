// Package sourcify serves Sourcify's API, version 2 (https://docs.sourcify.dev/docs/api/), as far as Foundry and hardhat-verify use it: verification
// from standard JSON input or from metadata, the state of a verification, and what the server knows about a contract.
//
//	POST /v2/verify/{chainId}/{address}
//	POST /v2/verify/metadata/{chainId}/{address}
//	GET  /v2/verify/{verificationId}
//	GET  /v2/contract/{chainId}/{address}
//	GET  /repo-ui/{chainId}/{address}             the contract's page, to which clients link
//
// What a client verifies here is what package etherscan and the pages show, and the other way round.
package sourcify
