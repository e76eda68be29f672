// Compiles testdata/tools/traces/src and the sources beside this file three times, into plain.json, optimized.json and ir.json:
// NODE_PATH=fixtures/contracts/node_modules node handlers/explain/testdata/compile.mjs, after make contracts. Only what explanations need is kept.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const solc = createRequire(import.meta.url)('solc')
const here = import.meta.dirname
const sources = {}
for (const folder of [here, path.join(here, '../../../testdata/tools/traces/src')]) {
  for (const file of readdirSync(folder).filter((f) => f.endsWith('.sol'))) {
    sources[`src/${file}`] = { content: readFileSync(path.join(folder, file), 'utf8') }
  }
}
const builds = { plain: { optimizer: { enabled: false } }, optimized: { optimizer: { enabled: true, runs: 200 } }, ir: { optimizer: { enabled: true, runs: 200 }, viaIR: true } }
for (const [name, chosen] of Object.entries(builds)) {
  const settings = {
    ...chosen, evmVersion: 'cancun', metadata: { appendCBOR: false },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.bytecode.sourceMap', 'evm.bytecode.linkReferences', 'evm.deployedBytecode.object', 'evm.deployedBytecode.sourceMap', 'evm.deployedBytecode.linkReferences', 'evm.deployedBytecode.immutableReferences'] } },
  }
  const output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings })))
  const errors = (output.errors ?? []).filter((e) => e.severity === 'error')
  if (errors.length) throw new Error(errors.map((e) => e.formattedMessage).join('\n'))
  for (const all of Object.values(output.contracts)) {
    for (const c of Object.values(all)) {
      for (const code of [c.evm.bytecode, c.evm.deployedBytecode]) delete code.generatedSources
    }
  }
  writeFileSync(path.join(here, `${name}.json`), JSON.stringify({ sources: output.sources, contracts: output.contracts }) + '\n')
}
