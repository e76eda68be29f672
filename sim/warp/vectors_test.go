package warp

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
)

type vectors struct {
	BLS struct {
		Keys []struct {
			Proof        string `json:"proofOfPossession96"`
			Compressed   string `json:"publicKeyCompressed48"`
			Uncompressed string `json:"publicKeyUncompressed96"`
			Secret       string `json:"secretKey"`
			Hello        string `json:"signatureOf_hello"`
		} `json:"keys"`
	} `json:"bls"`
	Bitset []struct {
		Bytes   string `json:"bytes"`
		Indices []int  `json:"indices"`
	} `json:"bitset"`
	Canonical struct {
		Input []struct {
			Key    string `json:"key"`
			NodeID string `json:"nodeID"`
			Weight uint64 `json:"weight"`
		} `json:"input"`
		Total      uint64 `json:"totalWeight"`
		Validators []struct {
			Nodes  int    `json:"nodes"`
			Key    string `json:"publicKeyCompressed"`
			Weight uint64 `json:"weight"`
		} `json:"validators"`
	} `json:"canonicalValidatorSet"`
	ACP77 struct {
		Registration struct{ BytesTrue, BytesFalse, UnsignedWarpFromPChain string } `json:"l1ValidatorRegistration"`
		Weight       struct{ Bytes, UnsignedWarpFromPChain string }                 `json:"l1ValidatorWeight"`
		Register     struct{ Bytes, ValidationID, NodeID, SubnetID string }         `json:"registerL1Validator"`
		Conversion   struct {
			Bytes, ConversionDataBytes, ConversionID, UnsignedWarpFromPChain string
		} `json:"subnetToL1Conversion"`
	} `json:"acp77"`
	Validations []struct {
		Index                  uint32
		SubnetID, ValidationID string
	} `json:"validationIDOfConvertSubnetToL1Tx"`
	Warp struct {
		AddressedCall string            `json:"addressedCallPayload"`
		Hash          string            `json:"hashPayload"`
		MessageID     string            `json:"messageID"`
		Signed        string            `json:"signedMessage"`
		Unsigned      string            `json:"unsignedMessage"`
		Signers       string            `json:"signersBitSet"`
		Indices       []int             `json:"signerIndices"`
		Verify        map[string]string `json:"verify"`
	} `json:"warp"`
}

func readVectors(t testing.TB) *vectors {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "node", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	v := &vectors{}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantHex(t testing.TB, what string, got []byte, want string) {
	t.Helper()
	if "0x"+hex.EncodeToString(got) != want {
		t.Errorf("%s\n got 0x%x\nwant %s", what, got, want)
	}
}

func wantID(t testing.TB, what string, got ids.ID, want string) {
	t.Helper()
	if got.String() != want {
		t.Errorf("%s is %s, want %s", what, got, want)
	}
}

// secrets returns the keys of the vectors, whose last byte is their number.
func (v *vectors) secrets(t testing.TB) []*SecretKey {
	keys := make([]*SecretKey, len(v.BLS.Keys))
	for i, k := range v.BLS.Keys {
		keys[i] = NewSecretKey([32]byte(unhex(t, k.Secret)))
	}
	return keys
}

// set returns the canonical set of the vectors.
func (v *vectors) set(t testing.TB) *CanonicalValidatorSet {
	t.Helper()
	keys := v.secrets(t)
	var validators []Validator
	for _, in := range v.Canonical.Input {
		nodeID, err := ids.NodeIDFromString(in.NodeID)
		if err != nil {
			t.Fatal(err)
		}
		validator := Validator{NodeID: nodeID, Weight: in.Weight}
		if in.Key != "none" {
			validator.PublicKey = keys[in.Key[0]-'1'].PublicKey()
		}
		validators = append(validators, validator)
	}
	set, err := NewCanonicalValidatorSet(validators)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
