// Adds the files in the folder recipe to the project in this folder. The project's package.json gets the recipe's packages, and its configuration the
// recipe's imports and properties.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

function addPackages(own, recipe) {
  const manifest = JSON.parse(own)
  manifest.devDependencies = { ...manifest.devDependencies, ...JSON.parse(recipe).devDependencies }
  return JSON.stringify(manifest, null, 2)
}

/** Both configurations call defineConfig. The recipe's has one property a line. */
function addConfiguration(own, recipe) {
  const [head, body] = recipe.split(/export default defineConfig\(\{\n|\}\);\n$/)
  for (const line of body.split('\n').filter(Boolean)) {
    const [, key, inner] = line.match(/^  (\w+): (?:\{ (.*) \},|.*)$/)
    const open = new RegExp(`^  ${key}: \\{\n`, 'm')
    own = inner && open.test(own)
      ? own.replace(open, (found) => `${found}    ${inner},\n`)
      : own.replace('defineConfig({\n', (found) => `${found}${line}\n`)
  }
  const imports = head.split('\n').filter((line) => line && !/\bdefineConfig\b/.test(line))
  return [...imports, own].join('\n')
}

for (const name of readdirSync('recipe', { recursive: true })) {
  if (statSync(join('recipe', name)).isDirectory()) continue
  const text = readFileSync(join('recipe', name), 'utf8')
  const own = [name, name.replace(/\.js$/, '.ts')].find((one) => existsSync(one))
  mkdirSync(dirname(name), { recursive: true })
  if (!own) writeFileSync(name, text)
  else writeFileSync(own, (name === 'package.json' ? addPackages : addConfiguration)(readFileSync(own, 'utf8'), text))
}
