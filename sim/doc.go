// Package sim opens and runs a world: one SQLite file with two Avalanche networks, mainnet and fuji, their P-, X- and C-Chains and
// L1s, at a time that only the world's own clock tells. It creates, opens and commits worlds, keeps their clock and digest, and
// finds their chains and networks. Packages that take a *World or a *Network do the rest: query, signing, export and verify.
//
// # Glossary
//
//	world            the file with everything in it; (generator version, seed, profile, end time) decide its bytes
//	network          mainnet or fuji: a P-, an X- and a C-Chain with its subnets and L1s
//	chain            a blockchain with an id (cb58): P, X, or an EVM chain, which has an EVM chain id as well
//	primary chain    P or X, or the atomic transactions of C; a primary network is the three together
//	subnet, L1       the validators of a blockchain: a permissioned subnet, or an L1 that manages its validators itself (ACP-77)
//	staker           a validator or delegator, with stake and times, of the primary network or a permissioned subnet
//	L1 validator     has a validation id, a weight and a balance that pays a continuous fee; without balance it is inactive
//	local node       the validator of a network for which the JSON-RPC API answers
//	UTXO             an unspent output of P, X or shared memory; an input with its owners' signatures consumes it
//	shared memory    the UTXOs in transit between two chains of one network, by export and import transactions
//	asset, token     what an X-Chain output holds; what an ERC-20, ERC-721 or ERC-1155 contract counts
//	warp message     bytes that validators sign for another chain; the P-Chain sends them too
//	Teleporter       the contract through which applications send ICM messages inside warp messages; relayers deliver them
//	canonical set    the validators of a subnet at a P-Chain height, in the order in which a signature names them
//	signer set       the members of a canonical set whose keys the world has and whose nodes are connected
//	alias            another name of a chain: P, platform, or one given by admin.aliasChain
//	persona          an account with a name and a purpose (alice, whale), with the same key in every world
//	position         the place of a row in the file: chain, block number, index in the block
//	delta            all rows that one block adds
//	roll-up          the counts of a metric for an hour, day, week or month, updated by each block
//	operation        a job that a client started: a transaction export
//	digest           a hash over the chains and the clock; equal digests are equal worlds
//	pool             the transactions of an EVM chain that wait for a block
//	state change     a client's change to an EVM chain's state without a transaction, after its newest block
//	impersonation    sending from an account without its key; such a transaction has no signature
//	override         a field of the next block that a client chose instead of the network's rules
//
// # The way of a block
//
// Generation and clients use one path. For an EVM block, evm.Builder executes and traces signed transactions and computes the header and
// fees; evm/index derives tokens, transfers and messages from the receipts; the result is a store.Delta. For a P- or X-Chain block,
// pchain or xchain verifies its transactions against a utxo diff, and primary accepts it and records stakers, UTXOs, owners and fees in a
// store.PrimaryDelta.
//
// During generation, Builder writes the deltas in one transaction, and Finish computes the digest. In an open world, Network.IssueP and IssueX
// restore the state of P and X from the file and accept the blocks that fall due, then one with the transaction; World.commit writes the deltas and
// the new digest in one database transaction, so a failure leaves the file as it was. On EVM chains miner.Miner does the same: it adds what clients
// send to a txpool.Pool, and an evm.Builder restored from the file makes blocks of it; World.commit writes them, and the chain's reader publishes
// each as the head and tells subscribers.
//
// Before an EVM block, the P-Chain blocks that fall due by its time are made (advance.go). Network.IssueC hands an atomic
// transaction to the C-Chain's miner. One lock, World.writer, is held from reading a block's parent to the commit, which also
// writes the clock. A state change is in no block: evm.Builder.Change makes its rows, which replace those of the newest block, and the
// next block starts from them. The Relayer hears of a block's messages at the commit, and delivers them once the call that made the
// block has released the lock.
//
// # The way of a request
//
// handlers/rest finds the operation of a path and reads its parameters. Then a family of handlers/data or handlers/metrics, or a
// service of handlers/node, asks once: the store for rows, evm/reader for calls and proofs, query for joins and series, signing for
// signatures, export for jobs. It encodes the answer, which is cached until World.Revision or the clock changes.
package sim
