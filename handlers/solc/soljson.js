// Runs solc's JavaScript as the native compiler runs: soljson.js --version, or --standard-json with the input on stdin.
const solc = require(process.argv[1]);
const version = solc.cwrap('solidity_version', 'string', [])();
if (process.argv[2] === '--version') {
  console.log(version);
} else {
  const minor = Number(version.split(".")[1]);
  if (minor < 5) throw new Error('solc before 0.5.0 is not supported as JavaScript');
  const input = require('fs').readFileSync(0, 'utf8');
  const context = minor >= 6;
  const compile = solc.cwrap('solidity_compile', 'string', context ? ['string', 'number', 'number'] : ['string', 'number']);
  process.stdout.write(context ? compile(input, 0, 0) : compile(input, 0)); // without a callback, no import can be read
}
