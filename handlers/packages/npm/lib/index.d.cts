/// <reference lib="esnext.disposable" />

/** Starts a simulator with its own world on a free port of this machine. It stops with this process, if not before. */
export function start(options?: Options): Promise<World>

/** The world of a running server, such as one that `snowglobe exec` started. stop leaves it running. */
export function connect(url: string): Promise<World>

/** Path of the program: SNOWGLOBE_BINARY, or the program in the optional package for this system and processor. */
export function binaryPath(): string

/** A request that the server refused, or a server that did not start. */
export class SnowglobeError extends Error {
  /** HTTP status, or the code of a JSON-RPC error; undefined if there was no answer. */
  readonly code?: number
  /** Data of a JSON-RPC error: the revert bytes, and Snowglobe's explanation. */
  readonly data?: unknown
}

export interface Options {
  /** tiny (the default), default, large, or a YAML file that describes a world. */
  profile?: string
  /** Seed of the world's random numbers; default: 1. */
  seed?: number
  /** The world's file, which is opened or created, and kept. Default: in memory. */
  file?: string
  /** The digest that the world must have, such as the one from `snowglobe types`. */
  digest?: string
  /** Further flags of `snowglobe serve`, such as `['--no-mining']`. */
  flags?: string[]
}

/** A running world. */
export interface World extends AsyncDisposable {
  /** URL of the world, such as http://127.0.0.1:40001. */
  readonly url: string
  readonly urls: Urls
  /** SHA-256 of the world as it began, hex. */
  readonly digest: string
  /** Mnemonic of the first ten personas. */
  readonly mnemonic: string
  /** Accounts by name. */
  readonly personas: Record<PersonaName, Persona> & Record<string, Persona>
  /** EVM chains: C, fujiC, and L1s by name. viem accepts each as a chain. */
  readonly chains: Record<'C' | 'fujiC', Chain> & Record<string, Chain>

  /** Calls a JSON-RPC method and returns its result. The chain is mainnet's C-Chain by default. */
  rpc<T = any>(method: string, params?: readonly unknown[], chain?: string): Promise<T>
  /** Requests a path below the world's URL and returns the answer. The method is POST with a body, GET without. */
  ask<T = any>(path: string, body?: unknown, method?: string): Promise<T>

  /** Pays an account from the faucet, in whole coins or tokens on the chain of the address. The default amount is 1. On P and X, token is an asset of the X-Chain. */
  fund(address: string, amount?: string | number | bigint, options?: { chain?: string; token?: string }): Promise<Funding>
  /** Deploys a contract, as alice by default. code is its bytecode, a Foundry or Hardhat artifact, or the path of one; args are encoded. */
  deploy(code: Hex | Artifact | string, options?: { args?: Hex; from?: Hex; value?: bigint; chain?: string }): Promise<Hex>
  /** Advances the clock by a duration such as 36h. Everything that falls due on the way happens. */
  advance(span: string): Promise<Date>
  /** The world's time. */
  now(): Promise<Date>
  /** Makes blocks; one by default. */
  mine(blocks?: number, chain?: string): Promise<void>

  /** Takes a snapshot of the whole world: all chains, the clock, the pool, exports and webhooks. */
  snapshot(): Promise<string>
  /** Reverts to a snapshot and keeps it; deletes all later ones. Without one, reverts to the world as it began. */
  revert(snapshot?: string): Promise<void>
  /** Copies this world within the same process, for example for one test. stop deletes the copy. */
  copy(name?: string): Promise<World>

  /** Makes responses fail, with a rule as in `POST /sim/faults`. Call remove on the result, or use `await using`, to end that. */
  fault(rule: FaultRule): Promise<Fault>
  /** The latest requests to the server and their responses, newest first, with the filters of `GET /sim/requests`. */
  journal(filter?: Record<string, string | number | boolean>): Promise<JournalEntry[]>
  /** Rejects unless clients made the described requests, as in `POST /sim/requests:verify`: at least once, unless times says otherwise. */
  verifyRequests(expected: RequestCriteria): Promise<number>
  /** What a transaction did: calls, events, console.log and, if it failed, why and where. */
  inspect(hash: string): Promise<Inspection>

  /** Stops the simulator, or deletes a copy. */
  stop(): Promise<void>
}

export type Hex = `0x${string}`

export interface Urls {
  /** JSON-RPC of mainnet's C-Chain. */
  readonly rpc: string
  /** The same over WebSocket. */
  readonly ws: string
  /** Base of the Data API's paths. */
  readonly data: string
  /** Base of the Metrics API's paths. */
  readonly metrics: string
}

export type PersonaName =
  | 'alice' | 'bob' | 'whale' | 'deployer' | 'collector' | 'clumsy' | 'spammed' | 'indirect' | 'fresh' | 'nobody'
  | 'ewoq' | 'hoarder' | 'committee' | 'locked' | 'traveller' | 'staker' | 'delegator'

/** A named account. */
export interface Persona {
  readonly name: string
  readonly purpose: string
  /** secp256k1, hex. */
  readonly key: Hex
  /** Address on every EVM chain. */
  readonly address: Hex
  readonly mainnet: Addresses
  readonly fuji: Addresses
}

/** An account's addresses on the chains of a network. */
export interface Addresses {
  readonly P: string
  readonly X: string
  readonly C: Hex
}

/** An EVM chain in viem's form, with its contracts and samples. */
export interface Chain {
  readonly id: number
  readonly name: string
  readonly nativeCurrency: { readonly name: string; readonly symbol: string; readonly decimals: number }
  readonly rpcUrls: { readonly default: { readonly http: readonly [string]; readonly webSocket: readonly [string] } }
  readonly network: 'mainnet' | 'fuji'
  readonly blockchainId: string
  readonly subnetId: string
  /** Contracts by role. `snowglobe types` has them with their ABIs. */
  readonly contracts: Record<string, { readonly address: Hex; readonly token?: Token }>
  /** Ids of sample transactions and the like, by what they show. */
  readonly samples: Record<string, string>
}

export interface Token {
  readonly standard: 'ERC-20' | 'ERC-721' | 'ERC-1155'
  readonly name: string
  readonly symbol: string
  readonly decimals?: number
}

/** A contract's artifact from Foundry or Hardhat. */
export interface Artifact {
  readonly bytecode: Hex | { readonly object: Hex | string }
}

/** A payment from the faucet. */
export interface Funding {
  /** Hash on an EVM chain, id on P and X. */
  readonly txHash: string
  readonly status: string
  readonly [member: string]: unknown
}

export interface FaultRule {
  /** Which requests, by operation, rpcMethod, path, chain, address and so on; default: all. */
  readonly match?: Record<string, unknown>
  /** What happens to them, such as `{ status: 429 }`, `{ delay: '2s' }`, `{ drop: true }`, `{ mining: 'never' }`. */
  readonly action: Record<string, unknown>
  /** Which of them, such as `{ first: 2 }`. */
  readonly times?: Record<string, unknown>
}

export interface Fault extends AsyncDisposable {
  readonly id: string
  remove(): Promise<void>
}

export interface RequestCriteria {
  readonly interface?: string
  /** Id of an operation, or a JSON-RPC method. */
  readonly operation?: string
  readonly method?: string
  readonly path?: string
  readonly status?: number
  readonly times?: { readonly exactly?: number; readonly atLeast?: number; readonly atMost?: number }
  readonly [member: string]: unknown
}

export interface JournalEntry {
  readonly id: number
  readonly method: string
  readonly path: string
  readonly status: number
  readonly [member: string]: any
}

export interface Inspection {
  readonly chainId: string
  readonly hash: Hex
  /** Absent if the transaction succeeded. */
  readonly failure?: any
  /** The failure as text. */
  readonly trace?: string
  readonly console: readonly any[]
  readonly events: readonly any[]
  readonly call: any
}
