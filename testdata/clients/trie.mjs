// Merkle-Patricia tries over hex strings. Each library brings its own RLP and Keccak-256: `codec` has encode, decode
// and keccak.

// rootOf is the root of the trie that maps the RLP of each index to the value at it.
export function rootOf(codec, values) {
  const pairs = values.map((value, i) => [codec.encode(quantity(i)).slice(2), value])
  return codec.keccak(codec.encode(pairs.length ? subtree(codec, pairs) : '0x'))
}

function subtree(codec, pairs) {
  const [first] = pairs
  if (pairs.length === 1) return [packed(first[0], true), first[1]]
  const shared = sharedPrefix(pairs.map(([path]) => path))
  const rest = pairs.map(([path, value]) => [path.slice(shared.length), value])
  if (shared) return [packed(shared, false), reference(codec, subtree(codec, rest))]
  const branch = Array(17).fill('0x')
  for (let nibble = 0; nibble < 16; nibble++) {
    const below = rest.filter(([path]) => parseInt(path[0], 16) === nibble).map(([path, value]) => [path.slice(1), value])
    if (below.length) branch[nibble] = reference(codec, subtree(codec, below))
  }
  return branch
}

// reference is what a parent keeps of a node: the node itself when it is short, else its hash.
function reference(codec, node) {
  const raw = codec.encode(node)
  return raw.length < 2 + 2 * 32 ? node : codec.keccak(raw)
}

function sharedPrefix(paths) {
  let length = 0
  while (paths.every((path) => length < path.length && path[length] === paths[0][length])) length++
  return paths[0].slice(0, length)
}

function packed(path, leaf) {
  const flag = (leaf ? 2 : 0) + (path.length % 2)
  return `0x${flag}${path.length % 2 ? '' : '0'}${path}`
}

// proven follows a proof from the root to a key and answers the value there, or null when the proof shows that there is
// none. It throws when a node is not the one that its parent names.
export function proven(codec, root, key, proof) {
  let path = codec.keccak(key).slice(2)
  let next = root === codec.keccak('0x80') ? '0x' : root
  let used = 0
  const found = (value) => {
    if (used !== proof.length) throw new Error(`the proof has ${proof.length} nodes, ${used} are on the path`)
    return value
  }
  while (next !== '0x') {
    const node = Array.isArray(next) ? next : open(codec, next, proof[used++])
    if (node.length === 17) {
      next = node[parseInt(path[0], 16)]
      path = path.slice(1)
      continue
    }
    const { leaf, nibbles } = unpacked(node[0])
    if (!path.startsWith(nibbles)) return found(null)
    path = path.slice(nibbles.length)
    if (leaf) return found(node[1])
    next = node[1]
  }
  return found(null)
}

function open(codec, hash, raw) {
  if (raw === undefined || codec.keccak(raw) !== hash) throw new Error(`the proof lacks node ${hash}`)
  return codec.decode(raw)
}

function unpacked(path) {
  const flag = parseInt(path[2], 16)
  return { leaf: flag >= 2, nibbles: path.slice(flag % 2 ? 3 : 4) }
}

// quantity is a number as RLP has it: big-endian without leading zeros.
export function quantity(number) {
  const n = BigInt(number)
  if (n === 0n) return '0x'
  const digits = n.toString(16)
  return `0x${digits.length % 2 ? '0' : ''}${digits}`
}
