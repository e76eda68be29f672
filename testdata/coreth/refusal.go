package main

import (
	"fmt"
	"math/big"

	"github.com/ava-labs/libevm/common"
	"github.com/ava-labs/libevm/common/hexutil"
	"github.com/ava-labs/libevm/core/types"
	"github.com/ava-labs/libevm/crypto"
	ethparams "github.com/ava-labs/libevm/params"
	"github.com/holiman/uint256"
)

// alice is the key of the first of the server's accounts, that of the well-known phrase of test accounts.
const alice = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"

// refusals sends transactions with one or several mistakes, none of which can wait for a block.
func (c *chain) refusals(to common.Address) (questions []string, err error) {
	key, err := crypto.HexToECDSA(alice)
	if err != nil {
		return nil, err
	}
	poor, err := crypto.ToECDSA(crypto.Keccak256([]byte("poor")))
	if err != nil {
		return nil, err
	}
	states, err := c.machine.State()
	if err != nil {
		return nil, err
	}
	nonce, limit := states.GetNonce(crypto.PubkeyToAddress(key.PublicKey)), c.parent.GasLimit
	wei := func(n int64) *big.Int { return big.NewInt(n) }
	huge := new(big.Int).Lsh(big.NewInt(1), 256)
	own, other := types.LatestSignerForChainID(c.config.ChainID), types.LatestSignerForChainID(big.NewInt(7))
	fees := func(tx types.DynamicFeeTx) *types.DynamicFeeTx {
		if tx.GasFeeCap == nil {
			tx.GasFeeCap = wei(1e9)
		}
		if tx.GasTipCap == nil {
			tx.GasTipCap = wei(1)
		}
		return &tx
	}
	for _, t := range []struct {
		data   types.TxData
		signer types.Signer
		poor   bool
	}{
		{fees(types.DynamicFeeTx{Nonce: 0, Gas: 21_000, To: &to}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: 20_999, To: &to}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &to, Data: []byte{1}}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: 53_000, Data: []byte{1}}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: limit + 1, To: &to}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &to, GasTipCap: wei(2e9)}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &to, GasFeeCap: wei(0), GasTipCap: wei(0)}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &to, GasFeeCap: huge}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &to, GasFeeCap: wei(1e18)}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &to, Value: new(big.Int).Lsh(wei(1), 100)}), own, false},
		{fees(types.DynamicFeeTx{Nonce: 0, Gas: 21_000, To: &to}), own, true},
		{fees(types.DynamicFeeTx{Nonce: 5, Gas: 21_000, To: &to}), own, true},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: limit, Data: make([]byte, ethparams.MaxInitCodeSize+1)}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: limit, To: &to, Data: make([]byte, 130_000+2_000)}), own, false},
		{fees(types.DynamicFeeTx{ChainID: wei(7), Nonce: nonce, Gas: 21_000, To: &to}), other, false},
		{fees(types.DynamicFeeTx{ChainID: wei(7), Nonce: nonce, Gas: limit + 1, To: &to}), other, false},
		{fees(types.DynamicFeeTx{ChainID: wei(7), Nonce: nonce, Gas: 20_999, To: &to}), other, false},
		{fees(types.DynamicFeeTx{ChainID: wei(7), Nonce: nonce, Gas: limit, To: &to, Data: make([]byte, 132_000)}), other, false},
		{&types.LegacyTx{Nonce: nonce, Gas: 21_000, GasPrice: wei(1e9), To: &to}, types.HomesteadSigner{}, false},
		{&types.LegacyTx{Nonce: nonce, Gas: 21_000, GasPrice: wei(1e18), To: &to}, types.HomesteadSigner{}, false},
		{&types.LegacyTx{Nonce: nonce, Gas: 21_000, GasPrice: wei(1e9), To: &to}, other, false},
		{&types.LegacyTx{Nonce: 0, Gas: 21_000, GasPrice: wei(1e9), To: &to}, own, false},
		{&types.AccessListTx{Nonce: nonce, Gas: 21_000, GasPrice: wei(1e9), To: &to, AccessList: types.AccessList{{Address: to}}}, own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: 300_000, To: &to, AccessList: types.AccessList{{Address: common.HexToAddress("0x0200000000000000000000000000000000000005"), StorageKeys: []common.Hash{{1}}}}}), own, false},
		{fees(types.DynamicFeeTx{Nonce: nonce, Gas: 300_000, To: &to, AccessList: types.AccessList{{Address: common.HexToAddress("0x0200000000000000000000000000000000000005")}}}), own, false},
		{&types.BlobTx{ChainID: uint256.MustFromBig(c.config.ChainID), Nonce: nonce, Gas: 21_000, To: to, GasFeeCap: uint256.NewInt(1e9), GasTipCap: uint256.NewInt(1), BlobFeeCap: uint256.NewInt(1), BlobHashes: []common.Hash{{1}}}, types.NewCancunSigner(c.config.ChainID), false},
	} {
		signer := key
		if t.poor {
			signer = poor
		}
		if d, ok := t.data.(*types.DynamicFeeTx); ok && d.ChainID == nil {
			d.ChainID = c.config.ChainID
		}
		if a, ok := t.data.(*types.AccessListTx); ok {
			a.ChainID = c.config.ChainID
		}
		tx, err := types.SignNewTx(signer, t.signer, t.data)
		if err != nil {
			return nil, err
		}
		raw, err := tx.MarshalBinary()
		if err != nil {
			return nil, err
		}
		questions = append(questions, fmt.Sprintf(`eth_sendRawTransaction [%q]`, hexutil.Encode(raw)))
	}
	return questions, nil
}
