// globalTeardown of Jest: stops what snowglobe.cjs started.
module.exports = () => globalThis.stopSnowglobe()
