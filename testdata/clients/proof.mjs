import { bls12_381 } from "@noble/curves/bls12-381";
import { bls, utils } from "@avalabs/avalanchejs";
import { createHash } from "node:crypto";

// node is a node of a test's own: its id, and its BLS key with the proof that it has the secret.
export function node(name) {
  const secret = createHash("sha256").update(`secret of ${name}`).digest();
  secret[0] &= 0x0f; // below the order of the group
  const publicKey = bls12_381.getPublicKey(secret);
  const signature = bls.signProofOfPossession(publicKey, bls.secretKeyFromBytes(secret));
  const bytes = createHash("sha256").update(`id of ${name}`).digest().subarray(0, 20);
  return { id: `NodeID-${utils.base58check.encode(bytes)}`, bytes, publicKey, signature };
}

export const hex = (bytes) => `0x${Buffer.from(bytes).toString("hex")}`;
