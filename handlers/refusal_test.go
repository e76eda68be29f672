// Transactions that a node refuses, as part of the devnet tests.

package handlers_test

import (
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/sim/evm/precompile"
)

// as returns the same chain as seen by another persona.
func (d *devnet) as(persona int) *devnet {
	d.Helper()
	key, err := crypto.HexToECDSA(fixtures.Personas[persona].Key)
	if err != nil {
		d.Fatal(err)
	}
	other := *d
	other.key, other.from = key, crypto.PubkeyToAddress(key.PublicKey)
	return &other
}

// sendRaw sends a transaction unchanged.
func (d *devnet) sendRaw(data types.TxData) string {
	d.Helper()
	raw, err := types.NewTx(data).MarshalBinary()
	if err != nil {
		d.Fatal(err)
	}
	return codeOf(d.client.Client().CallContext(d.Context(), nil, "eth_sendRawTransaction", hexutil.Encode(raw)))
}

// badSignatures each have one part out of range, with the errors of coreth's core/txpool/validation.go.
func badSignatures(d *devnet) {
	const invalid, unprotected = "-32003 invalid sender", "-32003 only replay-protected (EIP-155) transactions allowed over RPC"
	id, order := new(big.Int).SetUint64(d.chain.Row.EVMID), crypto.S256().Params().N
	nonce, cap, one := d.nonce(), big.NewInt(1e12), big.NewInt(1)
	good := d.sign(&types.DynamicFeeTx{Nonce: nonce, To: &someone})
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
		if got := d.sendRaw(tx); got != c.want {
			d.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	raw, err := good.MarshalBinary()
	if err != nil {
		d.Fatal(err)
	}
	for length, want := range map[int]string{0: "-32000 typed transaction too short", 1: "-32000 typed transaction too short", len(raw) - 1: "-32000 rlp: value size exceeds available input length"} {
		if got := codeOf(d.client.Client().CallContext(d.Context(), nil, "eth_sendRawTransaction", hexutil.Encode(raw[:length]))); got != want {
			d.Errorf("%d bytes: %q, want %q", length, got, want)
		}
	}
	if d.nonce() != nonce {
		d.Errorf("something was taken: %s", d.text("txpool_status"))
	}
}

// keyless deploys a contract by Nick's method: a made-up signature belongs to an account without a known key. A node accepts it without replay
// protection as the first transaction of its account, if r = s (UnprotectedAllowed in coreth's and subnet-evm's eth/api_backend.go).
func keyless(d *devnet) {
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
	d.text("anvil_setBalance", owner, "0xde0b6b3a7640000")
	for name, tx := range map[string]*types.LegacyTx{"r is not s": deploy(0, big.NewInt(1)), "nonce 1": deploy(1, two)} {
		if got := d.sendRaw(tx); got != unprotected {
			d.Errorf("%s: %q", name, got)
		}
	}
	if d.chain.Row.Kind != "C" {
		list := precompile.DeployerAllowList.Address
		input := append(crypto.Keccak256([]byte("setEnabled(address)"))[:4], common.LeftPadBytes(owner[:], 32)...)
		d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &list, Data: input, Gas: 100_000})
	}
	if got := d.sendRaw(first); got != "" {
		d.Fatal(got)
	}
	receipt, err := d.client.TransactionReceipt(d.Context(), types.NewTx(first).Hash())
	if err != nil || receipt.Status != types.ReceiptStatusSuccessful || receipt.ContractAddress != crypto.CreateAddress(owner, 0) {
		d.Errorf("%+v, %v", receipt, err)
	}
}

// allowLists: an account that may not deploy contracts on the L1 pays for the attempt, until a manager of the list allows it.
func allowLists(d *devnet) {
	bob := d.as(1)
	list, deployment := precompile.DeployerAllowList.Address, types.DynamicFeeTx{Data: common.FromHex(keeper), Gas: 200_000}
	refused := "tx.origin " + bob.from.Hex() + " is not authorized to deploy a contract"
	deploy := func(status, used uint64) {
		d.Helper()
		tx := deployment
		tx.Nonce = bob.nonce()
		receipt, err := d.client.TransactionReceipt(d.Context(), bob.mustSend(&tx))
		if err != nil || receipt.Status != status || used != 0 && receipt.GasUsed != used {
			d.Errorf("%+v, %v; want status %d, gas %d", receipt, err, status, used)
		}
	}
	deploy(types.ReceiptStatusFailed, deployment.Gas)
	call := map[string]any{"from": bob.from, "data": hexutil.Encode(deployment.Data)}
	for _, method := range []string{"eth_call", "eth_estimateGas"} {
		if got := codeOf(d.client.Client().CallContext(d.Context(), nil, method, call, "latest")); !strings.Contains(got, refused) {
			d.Errorf("%s: %s", method, got)
		}
	}
	set := func(by *devnet, method string, status uint64) {
		d.Helper()
		input := append(crypto.Keccak256([]byte(method))[:4], common.LeftPadBytes(bob.from[:], 32)...)
		receipt, err := d.client.TransactionReceipt(d.Context(), by.mustSend(&types.DynamicFeeTx{Nonce: by.nonce(), To: &list, Data: input, Gas: 100_000}))
		if err != nil || receipt.Status != status {
			d.Errorf("%s: %+v, %v", method, receipt, err)
		}
	}
	set(bob, "setEnabled(address)", types.ReceiptStatusFailed)
	set(d, "setAdmin(address)", types.ReceiptStatusFailed) // alice is a manager, not an admin
	set(d, "setEnabled(address)", types.ReceiptStatusSuccessful)
	deploy(types.ReceiptStatusSuccessful, 0)
	set(d, "setNone(address)", types.ReceiptStatusSuccessful)
	deploy(types.ReceiptStatusFailed, deployment.Gas)
}
