// Package etherscan serves the history in the shape of Etherscan's API, which Routescan and Blockscout imitate and wallets, explorers and
// deployment tools ask: one path, a module and an action by name, everything else as parameters of a query or of a form.
//
// The paths, all of which take GET and POST:
//
//	/api                                               the C-Chain of the network that the request is for; chainid names another chain
//	/v2/api                                            Etherscan's second version, which needs chainid
//	/mainnet/api, /fuji/api                            the C-Chain of one network
//	/v2/network/{network}/evm/{chainId}/etherscan/api  one chain, as Routescan names it
//
// Every answer has the status 200 and an envelope: status "1" with a result, or "0" with the reason; the module proxy answers in JSON-RPC. Texts
// are those of https://docs.etherscan.io. The rows are the ones that the Data API shows, and an index that lags lags here too.
package etherscan
