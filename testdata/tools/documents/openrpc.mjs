// Holds the OpenRPC document of a simulator against OpenRPC's own meta-schema: node openrpc.mjs openrpc.json
import { readFileSync } from "node:fs";
import Ajv from "ajv";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
/** A meta-schema of npm's. One names the other without the slash that ends its id. */
const own = (name) => {
  const found = require(name);
  return JSON.parse(JSON.stringify(found.default ?? found).replaceAll('"https://meta.json-schema.tools"', '"https://meta.json-schema.tools/"'));
};
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addMetaSchema(own("@json-schema-tools/meta-schema"));
const fits = ajv.compile(own("@open-rpc/meta-schema"));
const document = JSON.parse(readFileSync(process.argv[2], "utf8"));
if (!fits(document)) {
  console.error(fits.errors);
  process.exit(1);
}
console.log(`openrpc.json fits OpenRPC's meta-schema: ${document.methods.length} methods`);
