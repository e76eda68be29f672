package eth_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/precompile"
)

// sendRaw sends a transaction unchanged.
func sendRaw(d *nodetest.Chain, data types.TxData) string {
	d.Helper()
	return d.Problem("eth_sendRawTransaction", d.Raw(types.NewTx(data)))
}

// TestBadSignatures each have one part out of range, with the errors of coreth's core/txpool/validation.go.
func TestBadSignatures(t *testing.T) { onBothKinds(t, badSignatures) }

func badSignatures(d *nodetest.Chain) {
	const invalid, unprotected = "-32003 invalid sender", "-32003 only replay-protected (EIP-155) transactions allowed over RPC"
	id, order := new(big.Int).SetUint64(d.Chain.Row.EVMID), crypto.S256().Params().N
	nonce, cap, one := d.Nonce(), big.NewInt(1e12), big.NewInt(1)
	good := d.Sign(&types.DynamicFeeTx{Nonce: nonce, To: &someone})
	v, r, s := good.RawSignatureValues()
	protected := new(big.Int).Add(new(big.Int).Lsh(id, 1), big.NewInt(35)) // EIP-155
	for _, c := range []struct {
		name    string
		v, r, s *big.Int
		legacy  bool
		want    string
	}{
		{"no signature", new(big.Int), new(big.Int), new(big.Int), false, invalid},
		{"r is zero", v, new(big.Int), s, false, invalid},
		{"s is zero", v, r, new(big.Int), false, invalid},
		{"r is the group's order", v, order, s, false, invalid},
		{"r is longer than 32 bytes", v, new(big.Int).Lsh(one, 256), s, false, "-32000 transaction chain id or signature value exceeds 256 bits"}, // go-ethereum cannot even decode it
		{"s is in the upper half (EIP-2)", v, r, new(big.Int).Sub(order, s), false, invalid},
		{"v is 2", big.NewInt(2), r, s, false, invalid},
		{"v is 27 in a typed transaction", big.NewInt(27), r, s, false, invalid},
		{"v is longer than 8 bytes", new(big.Int).Lsh(one, 64), r, s, false, invalid},
		{"legacy: r is zero", protected, new(big.Int), s, true, invalid},
		{"legacy: s is the group's order", protected, r, order, true, invalid},
		{"legacy: v is of another chain", new(big.Int).Add(protected, big.NewInt(2)), r, s, true, invalid},
		{"legacy: v is of no chain", big.NewInt(29), r, s, true, invalid},
		{"legacy: v is longer than 8 bytes", new(big.Int).Lsh(one, 65), r, s, true, invalid},
		{"legacy: v is 27", big.NewInt(27), r, s, true, unprotected},
		{"legacy: v is 0", new(big.Int), r, s, true, unprotected},
	} {
		var tx types.TxData = &types.DynamicFeeTx{ChainID: id, Nonce: nonce, To: &someone, Gas: 21_000, GasTipCap: one, GasFeeCap: cap, V: c.v, R: c.r, S: c.s}
		if c.legacy {
			tx = &types.LegacyTx{Nonce: nonce, To: &someone, Gas: 21_000, GasPrice: cap, V: c.v, R: c.r, S: c.s}
		}
		if got := sendRaw(d, tx); got != c.want {
			d.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	raw := d.Raw(good)
	for length, want := range map[int]string{0: "-32000 typed transaction too short", 1: "-32000 typed transaction too short", len(raw) - 1: "-32000 rlp: value size exceeds available input length"} {
		if got := d.Problem("eth_sendRawTransaction", hexutil.Encode(raw[:length])); got != want {
			d.Errorf("%d bytes: %q, want %q", length, got, want)
		}
	}
	if d.Nonce() != nonce {
		d.Errorf("something was taken: %s", d.Text("txpool_status"))
	}
}

// TestKeylessDeployment deploys a contract by Nick's method: a made-up signature belongs to an account without a known key. A node accepts it without replay
// protection as the first transaction of its account, if r = s (UnprotectedAllowed in coreth's and subnet-evm's eth/api_backend.go).
func TestKeylessDeployment(t *testing.T) { onBothKinds(t, keyless) }

func keyless(d *nodetest.Chain) {
	const unprotected = "-32003 only replay-protected (EIP-155) transactions allowed over RPC"
	two := new(big.Int).SetBytes(common.FromHex(strings.Repeat("22", 32)))
	deploy := func(nonce uint64, s *big.Int) *types.LegacyTx {
		return &types.LegacyTx{Nonce: nonce, Data: common.FromHex(keeper), Gas: 200_000, GasPrice: big.NewInt(1e11), V: big.NewInt(27), R: two, S: s}
	}
	first := deploy(0, two)
	owner, err := types.Sender(types.HomesteadSigner{}, types.NewTx(first))
	if err != nil {
		d.Fatal(err)
	}
	d.Text("anvil_setBalance", owner, "0xde0b6b3a7640000")
	for name, tx := range map[string]*types.LegacyTx{"r is not s": deploy(0, big.NewInt(1)), "nonce 1": deploy(1, two)} {
		if got := sendRaw(d, tx); got != unprotected {
			d.Errorf("%s: %q", name, got)
		}
	}
	if d.Chain.Row.Kind != "C" {
		list := precompile.DeployerAllowList.Address
		input := append(crypto.Keccak256([]byte("setEnabled(address)"))[:4], common.LeftPadBytes(owner[:], 32)...)
		d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &list, Data: input, Gas: 100_000})
	}
	if got := sendRaw(d, first); got != "" {
		d.Fatal(got)
	}
	if tx := d.Transaction(types.NewTx(first).Hash()); tx.Row.Status != types.ReceiptStatusSuccessful || tx.Sender != owner {
		d.Errorf("%+v", tx.Row)
	}
	if got := d.Text("eth_getCode", crypto.CreateAddress(owner, 0), "latest"); got != `"0x`+keeperCode+`"` {
		d.Errorf("the contract's code is %s", got)
	}
}

// TestAllowLists: an account that may not deploy contracts on the L1 pays for the attempt, until a manager of the list allows it.
func TestAllowLists(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	d, bob := nodetest.Open(t, w, w.Chains[len(w.Chains)-1]), common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	d.Text("anvil_impersonateAccount", bob)
	list, code, most := precompile.DeployerAllowList.Address, hexutil.Bytes(common.FromHex(keeper)), uint64(200_000)
	refused := "tx.origin " + bob.Hex() + " is not authorized to deploy a contract"
	send := func(tx object, status uint64) (used uint64) {
		t.Helper()
		var hash common.Hash
		d.Call(&hash, "eth_sendTransaction", tx)
		sent := d.Transaction(hash)
		if sent.Row.Status != status {
			t.Errorf("%+v, want status %d", sent.Row, status)
		}
		return sent.Row.GasUsed
	}
	deployment := object{"from": bob, "data": code, "gas": hexutil.Uint64(most)}
	if used := send(deployment, types.ReceiptStatusFailed); used != most {
		t.Errorf("the attempt takes %d gas, want %d", used, most)
	}
	for _, method := range []string{"eth_call", "eth_estimateGas"} {
		if got := d.Problem(method, object{"from": bob, "data": code}, "latest"); !strings.Contains(got, refused) {
			t.Errorf("%s: %s", method, got)
		}
	}
	set := func(by common.Address, method string, status uint64) {
		t.Helper()
		input := append(crypto.Keccak256([]byte(method))[:4], common.LeftPadBytes(bob[:], 32)...)
		send(object{"from": by, "to": list, "input": hexutil.Bytes(input), "gas": "0x186a0"}, status)
	}
	set(bob, "setEnabled(address)", types.ReceiptStatusFailed)
	set(d.From, "setAdmin(address)", types.ReceiptStatusFailed) // alice is a manager, not an admin
	set(d.From, "setEnabled(address)", types.ReceiptStatusSuccessful)
	send(deployment, types.ReceiptStatusSuccessful)
	set(d.From, "setNone(address)", types.ReceiptStatusSuccessful)
	if used := send(deployment, types.ReceiptStatusFailed); used != most {
		t.Errorf("the attempt takes %d gas, want %d", used, most)
	}
}
