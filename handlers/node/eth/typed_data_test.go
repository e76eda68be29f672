package eth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

const (
	snowType   = `"Snow":[{"name":"flakes","type":"uint256"},{"name":"deep","type":"int256"}]`
	onlyName   = `"EIP712Domain":[{"name":"name","type":"string"}]`
	nameAndID  = `"EIP712Domain":[{"name":"name","type":"string"},{"name":"chainId","type":"uint256"}]`
	bigFlakes  = `"115792089237316195423570985008687907853269984665640564039457584007913129639935"`
	bigMessage = `{"flakes":` + bigFlakes + `,"deep":"-1606938044258990275541962092341162602522202993782792835301376"}`
)

func snow(types, domain, message string) string {
	return `{"types":{` + types + `},"primaryType":"Snow","domain":` + domain + `,"message":` + message + `}`
}

// typedDataCases lists typed data with the hash that viem's hashTypedData and ethers' TypedDataEncoder compute for it.
var typedDataCases = map[string]struct{ data, hash string }{
	"decimal texts and chainId as text": {snow(nameAndID+","+snowType, `{"name":"globe","chainId":"43114"}`, bigMessage), "0x295d236faacddb4005c7618454517d2c233612eddbb5b44cd7e4932b6f90389e"},
	"chainId in hexadecimal":            {snow(nameAndID+","+snowType, `{"name":"globe","chainId":"0xa86a"}`, bigMessage), "0x295d236faacddb4005c7618454517d2c233612eddbb5b44cd7e4932b6f90389e"},
	"numbers of 256 bits": {snow(nameAndID+","+snowType, `{"name":"globe","chainId":43114}`, strings.ReplaceAll(bigMessage, bigFlakes, strings.Trim(bigFlakes, `"`))),
		"0x295d236faacddb4005c7618454517d2c233612eddbb5b44cd7e4932b6f90389e"},
	"numbers above 2^53": {snow(nameAndID+","+snowType, `{"name":"globe","chainId":9007199254740993}`, `{"flakes":9007199254740993,"deep":0}`),
		"0x4fdae84fea0e9d684c7701deb235bd0ca1a5c2e7184039f1516b31366e2a19cc"},
	"numbers with exponents":   {snow(onlyName+","+snowType, `{"name":"globe"}`, `{"flakes":1e+21,"deep":-1e21}`), "0xcf65905d04fd36c2225aa1159c41d2e7bf7c81f5e4192cab3edc8f2872270302"},
	"no fields in the domain":  {snow(`"EIP712Domain":[],`+snowType, `{}`, `{"flakes":"1","deep":"2"}`), "0x90d57799a730fd8c3d6b7adc563fedd7b38561a4b8565ca31d8c884c45bc69e0"},
	"empty texts in a domain":  {snow(`"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"}],`+snowType, `{"name":"","version":""}`, `{"flakes":1,"deep":2}`), "0x221ff53136181887053076d04aba21b93553b6b0180d26d7a9949463f9486207"},
	"no type of the domain":    {snow(snowType, `{"name":"globe"}`, `{"flakes":"1000000000000000000000","deep":"-1000000000000000000000"}`), "0xcf65905d04fd36c2225aa1159c41d2e7bf7c81f5e4192cab3edc8f2872270302"},
	"members that no type has": {snow(onlyName+","+snowType, `{"name":"globe","chainId":7}`, `{"flakes":1e21,"deep":-1e21,"more":[{}]}`), "0xcf65905d04fd36c2225aa1159c41d2e7bf7c81f5e4192cab3edc8f2872270302"},
	"the domain alone": {`{"domain":{"name":"globe","chainId":"1","verifyingContract":"0xcccccccccccccccccccccccccccccccccccccccc","salt":"0x1111111111111111111111111111111111111111111111111111111111111111"},
		"primaryType":"EIP712Domain","types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"},{"name":"salt","type":"bytes32"}]}}`,
		"0x68587f4198b9fd241e8da7243d0f9eddd973acbce02f81590450485cc0e96c6e"},
	"structs and lists": {`{"domain":{"name":"Ether Mail","version":"1","chainId":"1","verifyingContract":"0xcccccccccccccccccccccccccccccccccccccccc"},"message":{"from":{"name":"Cow","wallet":"0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},
		"to":[{"name":"Bob","wallet":"0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"}],"contents":"Hello, Bob!","grid":[[1,"2"],["0x3",4]],"data":"0x1234","ok":true},"primaryType":"Mail",
		"types":{"Person":[{"name":"name","type":"string"},{"name":"wallet","type":"address"}],"Mail":[{"name":"from","type":"Person"},{"name":"to","type":"Person[]"},{"name":"contents","type":"string"},{"name":"grid","type":"uint8[2][]"},{"name":"data","type":"bytes"},{"name":"ok","type":"bool"}]}}`,
		"0x5e83140750f98a9521c274e4b0c4dbda2818fadd04c6ce52e57ba7c0d078d85c"},
}

// TestTypedDataIsSigned signs the data as an object and as text, and recovers the signer with the hash that clients know.
func TestTypedDataIsSigned(t *testing.T) {
	wallet, err := NewWallet([][]byte{common.FromHex("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")})
	if err != nil {
		t.Fatal(err)
	}
	signer := wallet.addresses()[0]
	a := &walletAPI{wallet: wallet}
	for name, c := range typedDataCases {
		text, _ := json.Marshal(c.data)
		for form, params := range map[string]string{"object": c.data, "text": string(text)} {
			var data typedData
			if err := json.Unmarshal([]byte(params), &data); err != nil {
				t.Errorf("%s as %s: %v", name, form, err)
				continue
			}
			signature, err := a.SignTypedData_v4(signer, data)
			if err != nil {
				t.Errorf("%s as %s: %v", name, form, err)
				continue
			}
			signature[crypto.RecoveryIDOffset] -= 27
			key, err := crypto.SigToPub(hexutil.MustDecode(c.hash), signature)
			if err != nil || crypto.PubkeyToAddress(*key) != signer {
				t.Errorf("%s as %s: another hash was signed (%v)", name, form, err)
			}
		}
	}
}

// TestTypedDataIsRefused asks to sign data that cannot be hashed.
func TestTypedDataIsRefused(t *testing.T) {
	for data, want := range map[string]string{
		`"{"`:                  "typed data: unexpected EOF",
		`"{} {}"`:              "typed data: something follows the object",
		`"\"{}\""`:             "typed data: json: cannot unmarshal string",
		`{"primaryType":"No"}`: `typed data: the primary type "No" is not among the types`,
		snow(snowType, `{"name":"globe"}`, `{"flakes":1.5,"deep":0}`):                                                        "invalid float value 1.5 for type uint256",
		snow(snowType, `{"name":"globe"}`, `{"flakes":-1,"deep":0}`):                                                         "invalid negative value for unsigned type uint256",
		snow(snowType, `{"name":"globe"}`, `{"flakes":1e78,"deep":0}`):                                                       "integer larger than 'uint256'",
		snow(snowType, `{"name":"globe"}`, `{"flakes":1e999999999,"deep":0}`):                                                "invalid float value +Inf for type uint256",
		snow(snowType, `{"name":"globe"}`, `{"flakes":"many","deep":0}`):                                                     "invalid hex or decimal integer \"many\"",
		snow(`"EIP712Domain":[{"name":"name","type":"string"}],"Snow":[{"name":"a","type":"string"}]`, `{"name":7}`, `{}`):   "provided data '7' doesn't match type 'string'",
		snow(`"EIP712Domain":[{"name":"name","type":"string"}],"Snow":[{"name":"a","type":"string"}]`, `{"name":"x"}`, `{}`): "provided data '<nil>' doesn't match type 'string'",
	} {
		var d typedData
		err := json.Unmarshal([]byte(data), &d)
		if err == nil {
			_, err = d.hash()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
}

// TestTypedListsAreHashed compares the hash of typed data without a domain with the result of eth-sig-util's typedSignatureHash.
func TestTypedListsAreHashed(t *testing.T) {
	for list, want := range map[string]string{
		`[{"type":"string","name":"message","value":"Hi, Alice!"}]`:                                            "0x14b9f24872e28cc49e72dc104d7380d8e0ba84a3fe2e712704bcac66a5702bd5",
		`[{"type":"string","name":"message","value":"Hi, Alice!"},{"type":"uint8","name":"value","value":10}]`: "0xf7ad23226db5c1c00ca0ca1468fd49c8f8bbc1489bc1c382de5adc557a69c229",
		`[{"type":"bytes","name":"message","value":"0xdeadbeaf"}]`:                                             "0x6c69d03412450b174def7d1e48b3bcbbbd8f51df2e76e2c5b3a5d951125be3a9",
		`[{"type":"address","name":"to","value":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"},{"type":"bool","name":"ok","value":true},
		{"type":"int16","name":"deep","value":-2},{"type":"bytes4","name":"selector","value":"0xa9059cbb"},{"type":"uint256","name":"wei","value":` + bigFlakes + `},
		{"type":"uint","name":"count","value":"0x10"},{"type":"bool","name":"no","value":false}]`: "0x81e6a3ad9d0cf8662b850a105bb10b41637ecf0406682bce5f31465e1f6415fe",
	} {
		if hash, err := hashTypedData([]byte(list)); err != nil || hexutil.Encode(hash) != want {
			t.Errorf("%s: %x, %v: want %s", list, hash, err, want)
		}
	}
	for list, want := range map[string]string{
		`[{"type":"uint8","name":"n","value":-1}]`: "-1 does not fit uint8", `[{"type":"int8","name":"n","value":128}]`: "128 does not fit int8",
		`[{"type":"uint7","name":"n","value":1}]`: `there is no type "uint7"`, `[{"type":"bytes2","name":"b","value":"0x010203"}]`: "3 bytes do not fit bytes2",
		`[{"type":"Snow","name":"s","value":{}}]`: `no value of the type "Snow"`, `[{"type":"bytes33","name":"b","value":"0x"}]`: `there is no type "bytes33"`,
		`[{"type":"address","name":"a","value":"0x12"}]`: "invalid", `[{"type":"string","name":"s","value":7}]`: `no value of the type "string"`,
	} {
		if _, err := hashTypedData([]byte(list)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", list, err, want)
		}
	}
}
