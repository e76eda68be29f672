'use strict'
const fs = require('node:fs')
const path = require('node:path')

/** Path of the program: SNOWGLOBE_BINARY, or the program in the optional package for this system and processor. */
function binaryPath() {
  const named = process.env.SNOWGLOBE_BINARY
  if (named) {
    if (!fs.existsSync(named)) throw new Error(`SNOWGLOBE_BINARY names ${named}, which does not exist`)
    return path.resolve(named)
  }
  const name = `@snowglobe/${process.platform}-${process.arch}`
  const file = `${name}/bin/snowglobe${process.platform === 'win32' ? '.exe' : ''}`
  try {
    // The second folder is for package managers that install only declared dependencies beside this package.
    return require.resolve(file, { paths: [__dirname, process.cwd()] })
  } catch {
    throw new Error(`the package ${name}, which contains the program for this machine, is not installed: install it beside snowglobe ` +
      '(optional dependencies are left out by --omit=optional and --no-optional), or name a program in SNOWGLOBE_BINARY')
  }
}

module.exports = { binaryPath }
