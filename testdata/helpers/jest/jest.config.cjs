module.exports = { globalSetup: './snowglobe.cjs', globalTeardown: './snowglobe-stop.cjs' }
