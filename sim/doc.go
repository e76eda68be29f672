// Package sim is an open world: one SQLite file with two Avalanche networks, mainnet and fuji, their P-, X- and C-Chains and
// L1s, at a time that only the world's own clock tells. It creates, opens and commits worlds, keeps their clock and digest,
// and finds their chains and networks. What can be asked of a world beyond that is in packages that take a *World or a
// *Network: query, signing, export and verify.
//
// # Glossary
//
//	world            the file with everything in it; (generator version, seed, profile, end time) decide its bytes
//	network          mainnet or fuji: a P-, an X- and a C-Chain with its subnets and L1s
//	chain            a blockchain with an id (cb58): P, X, or an EVM chain, which has an EVM chain id as well
//	primary chain    P or X, or the atomic transactions of C; a primary network is the three together
//	subnet, L1       who validates a blockchain: a permissioned subnet, or an L1 that manages its validators itself (ACP-77)
//	staker           a validator or delegator with a stake and a time: of the primary network or a permissioned subnet
//	L1 validator     has a validation id, a weight and a balance that pays a continuous fee; without balance it is inactive
//	local node       the validator of a network for which the JSON-RPC API answers
//	UTXO             an unspent output of P, X or shared memory; inputs consume it, an owner's signatures permit that
//	shared memory    the UTXOs on their way between two chains of one network, by export and import transactions
//	asset, token     what an X-Chain output holds; what an ERC-20, ERC-721 or ERC-1155 contract counts
//	warp message     bytes that validators sign for another chain; the P-Chain sends them too
//	Teleporter       the contract by which applications send ICM messages inside warp messages; relayers deliver them
//	canonical set    the validators of a subnet at a P-Chain height, in the order in which a signature names them
//	signer set       a canonical set with those of its validators whose keys the world has and whose nodes are connected
//	alias            another name of a chain: P, platform, or one given by admin.aliasChain
//	persona          an account with a name and a purpose (alice, whale), the same key in every world
//	position         where a row is in the file: chain, block number, index in the block
//	delta            all rows that one block adds
//	roll-up          the counts of a metric for an hour, day, week or month, written with each block
//	operation        a job that a client started: a transaction export, with its file in chunks
//	digest           of the chains and the clock; equal digests are equal worlds
//	pool             the transactions of an EVM chain that wait for a block
//	state change     what a client changes of an EVM chain's state without a transaction, after its newest block
//	impersonation    sending for an account without its key; such a transaction has no signature
//	override         what a block has otherwise than the network's rules, because a client asked for it
//
// # The way of a block
//
// Generation and clients use one path. An EVM block: evm.Builder takes signed transactions, executes and traces them and
// computes header and fees; evm/index reads tokens, transfers and messages out of the receipts; the result is a store.Delta. A
// P- or X-Chain block: pchain or xchain verifies its transactions against a utxo diff, primary accepts it and records stakers,
// UTXOs, owners and fees in a store.PrimaryDelta. While a world is made, Builder writes deltas in one transaction and Finish
// computes the digest. In an open world Network.IssueP and IssueX restore the state of P and X from the file, accept the blocks
// that time asks for (stakers begin and end) and one with the transaction, and World.commit writes the deltas with the new
// digest in one transaction; what fails leaves the file as it was. On EVM chains miner.Miner does the same: it takes what clients send
// into a txpool.Pool and lets an evm.Builder, restored from the file, make blocks of it; World.commit writes them, and the chain's
// reader makes each the head and tells subscribers. Before a block of an EVM chain, what falls due on its network's P-Chain by
// then is made (advance.go); Network.IssueC hands an atomic transaction to the C-Chain's miner. One lock, World.writer, is held from
// reading a block's parent to the commit. The clock, which blocks move, is written with them. A state change
// is in no block: evm.Builder.Change makes its rows, which take the place of those of the newest block, and the next block begins with
// them. What a block says of messages is told
// to the Relayer, which delivers them when the call that made the block has released the lock.
//
// # The way of a request
//
// handlers/rest finds the operation of the path and reads its parameters; a family of handlers/data or handlers/metrics, or a
// service of handlers/node, asks once: the store for rows, evm/reader for calls and proofs, query for joins and series, signing for
// signatures, export for jobs; and encodes the answer. Answers are kept until World.Revision or the clock changes.
package sim
