package txs

// Signature is a recoverable secp256k1 signature: r, s, and the recovery id 0 or 1.
type Signature [65]byte

// FxCredential is the set of signatures that authorizes one input or operation.
type FxCredential interface {
	signatures() []Signature
}

// Credential carries the signatures for a secp256k1 input, operation or authorization.
type Credential struct {
	Signatures []Signature `serialize:"true" json:"signatures"`
}

// NFTCredential is a Credential for an NFT operation.
type NFTCredential struct {
	Credential `serialize:"true"`
}

// PropertyCredential is a Credential for a property operation.
type PropertyCredential struct {
	Credential `serialize:"true"`
}

func (c *Credential) signatures() []Signature { return c.Signatures }
