/// <reference lib="esnext.disposable" />

/** Starts a simulator with a world of its own on a free port of this machine. It stops with the process, if not before. */
export function start(options?: Options): Promise<World>

/** The world of a server that runs already, such as that of `snowglobe exec`. stop leaves it running. */
export function connect(url: string): Promise<World>

/** The program for this machine: SNOWGLOBE_BINARY, or that of the optional package for this system and processor. */
export function binaryPath(): string

/** A request that the server refused, or a server that did not start. */
export class SnowglobeError extends Error {
  /** HTTP status, or the code of a JSON-RPC error; undefined if there was no answer. */
  readonly code?: number
  /** Of a JSON-RPC error: what Snowglobe explains beside the revert bytes. */
  readonly data?: unknown
}

export interface Options {
  /** tiny (the default), default, large, or a YAML file that describes a world. */
  profile?: string
  /** Of the world's random numbers; 1 unless given. */
  seed?: number
  /** The world's file, which is opened or created, and stays. In memory unless given. */
  file?: string
  /** The digest that the world must have, as `snowglobe types` wrote it. */
  digest?: string
  /** Further flags of `snowglobe serve`, such as `['--no-mining']`. */
  flags?: string[]
}

/** A running world. */
export interface World extends AsyncDisposable {
  /** Of everything, such as http://127.0.0.1:40001. */
  readonly url: string
  readonly urls: Urls
  /** SHA-256 of the world as it began, hex. */
  readonly digest: string
  /** Of the first ten personas. */
  readonly mnemonic: string
  /** Accounts by name. */
  readonly personas: Record<PersonaName, Persona> & Record<string, Persona>
  /** EVM chains: C, fujiC and L1s by their names. viem takes each as a chain. */
  readonly chains: Record<'C' | 'fujiC', Chain> & Record<string, Chain>

  /** The result of a JSON-RPC call, of mainnet's C-Chain unless a chain is given. */
  rpc<T = any>(method: string, params?: readonly unknown[], chain?: string): Promise<T>
  /** The answer of a path below the world's URL. The method is POST if there is a body, else GET. */
  ask<T = any>(path: string, body?: unknown, method?: string): Promise<T>

  /** Pays an account from the faucet: whole coins or tokens, 1 unless given, of the chain of the address. */
  fund(address: string, amount?: string | number | bigint, options?: { chain?: string; token?: string }): Promise<Funding>
  /** Deploys a contract, as alice unless from is given. code is its bytecode, or an artifact of Foundry or Hardhat or the file of one; args are encoded. */
  deploy(code: Hex | Artifact | string, options?: { args?: Hex; from?: Hex; value?: bigint; chain?: string }): Promise<Hex>
  /** Advances the clock, by a span such as 36h. Everything that falls due on the way happens. */
  advance(span: string): Promise<Date>
  /** The world's time. */
  now(): Promise<Date>
  /** Makes blocks, one unless given. */
  mine(blocks?: number, chain?: string): Promise<void>

  /** Takes a snapshot of the whole world: all chains, the clock, the pool, exports and webhooks. */
  snapshot(): Promise<string>
  /** Reverts to a snapshot and keeps it; deletes all later ones. Without one, reverts to the world as it began. */
  revert(snapshot?: string): Promise<void>
  /** A copy of this world in the same process, for one test alone. stop deletes it. */
  copy(name?: string): Promise<World>

  /** Makes responses fail by a rule of `POST /sim/faults`. The result removes the rule, as `await using` does. */
  fault(rule: FaultRule): Promise<Fault>
  /** The latest requests to the server and their responses, newest first, by the filters of `GET /sim/requests`. */
  journal(filter?: Record<string, string | number | boolean>): Promise<JournalEntry[]>
  /** Rejects unless requests were made as described by `POST /sim/requests:verify`: at least once, unless times says otherwise. */
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
  /** The same for WebSocket. */
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
  /** On every EVM chain. */
  readonly address: Hex
  readonly mainnet: Addresses
  readonly fuji: Addresses
}

/** Those of an account on a network's chains. */
export interface Addresses {
  readonly P: string
  readonly X: string
  readonly C: Hex
}

/** An EVM chain, as viem defines one, and what is on it. */
export interface Chain {
  readonly id: number
  readonly name: string
  readonly nativeCurrency: { readonly name: string; readonly symbol: string; readonly decimals: number }
  readonly rpcUrls: { readonly default: { readonly http: readonly [string]; readonly webSocket: readonly [string] } }
  readonly network: 'mainnet' | 'fuji'
  readonly blockchainId: string
  readonly subnetId: string
  /** By role. `snowglobe types` has them with their ABIs. */
  readonly contracts: Record<string, { readonly address: Hex; readonly token?: Token }>
  /** Ids by what they show. */
  readonly samples: Record<string, string>
}

export interface Token {
  readonly standard: 'ERC-20' | 'ERC-721' | 'ERC-1155'
  readonly name: string
  readonly symbol: string
  readonly decimals?: number
}

/** What Foundry or Hardhat writes for a contract. */
export interface Artifact {
  readonly bytecode: Hex | { readonly object: Hex | string }
}

/** What the faucet paid. */
export interface Funding {
  readonly txHash?: Hex
  readonly status: string
  readonly [member: string]: unknown
}

export interface FaultRule {
  /** Requests by operation, rpcMethod, path, chain, address and so on; all unless given. */
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
