package main

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"reflect"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/set"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/components/gas"
	"github.com/ava-labs/avalanchego/vms/components/verify"
	"github.com/ava-labs/avalanchego/vms/platformvm/fx"
	"github.com/ava-labs/avalanchego/vms/platformvm/signer"
	"github.com/ava-labs/avalanchego/vms/platformvm/stakeable"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"

	txfee "github.com/ava-labs/avalanchego/vms/platformvm/txs/fee"
)

// weighed is a P-Chain transaction without credentials and its complexity, or why it has none.
type weighed struct {
	Tx   string
	Want gas.Dimensions // bandwidth, reads, writes, compute
	Err  string         `json:",omitempty"`
}

// recordComplexities writes the complexities of P-Chain transactions of all types, with parts of all sizes.
func recordComplexities(w io.Writer) error {
	f := filler{rand.New(rand.NewPCG(9, 10))}
	var all []weighed
	for _, kind := range []txs.UnsignedTx{
		&txs.BaseTx{}, &txs.ImportTx{}, &txs.ExportTx{}, &txs.AddPermissionlessValidatorTx{}, &txs.AddPermissionlessDelegatorTx{},
		&txs.AddAutoRenewedValidatorTx{}, &txs.SetAutoRenewedValidatorConfigTx{}, &txs.AddSubnetValidatorTx{}, &txs.RemoveSubnetValidatorTx{},
		&txs.CreateSubnetTx{}, &txs.CreateChainTx{}, &txs.TransferSubnetOwnershipTx{}, &txs.ConvertSubnetToL1Tx{}, &txs.RegisterL1ValidatorTx{},
		&txs.SetL1ValidatorWeightTx{}, &txs.IncreaseL1ValidatorBalanceTx{}, &txs.DisableL1ValidatorTx{},
		&txs.AddValidatorTx{}, &txs.AddDelegatorTx{}, &txs.RewardValidatorTx{}, &txs.AdvanceTimeTx{}, &txs.TransformSubnetTx{},
		&txs.RewardAutoRenewedValidatorTx{},
	} {
		for range 12 {
			unsigned := reflect.New(reflect.TypeOf(kind).Elem())
			f.fill(unsigned.Elem())
			tx := &txs.Tx{Unsigned: unsigned.Interface().(txs.UnsignedTx)}
			if err := tx.Initialize(txs.Codec); err != nil {
				return err
			}
			v := weighed{Tx: hex.EncodeToString(tx.Bytes())}
			var err error
			if v.Want, err = txfee.TxComplexity(tx.Unsigned); err != nil {
				v.Want, v.Err = gas.Dimensions{}, err.Error()
			}
			all = append(all, v)
		}
	}
	packed := gzip.NewWriter(w)
	if err := json.NewEncoder(packed).Encode(all); err != nil {
		return err
	}
	return packed.Close()
}

// filler fills transactions. Complexity depends on kinds and lengths, so most bytes stay zero.
type filler struct{ random *rand.Rand }

func (f filler) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			switch {
			case field.Name == "Message" && field.Type.Kind() == reflect.Slice:
				v.Field(i).SetBytes(f.message())
			case field.Tag.Get("serialize") == "true":
				f.fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), f.random.IntN(4), 4))
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Interface:
		v.Set(reflect.ValueOf(f.choose(v.Type())))
	case reflect.String:
		v.SetString("chain"[:f.random.IntN(6)])
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(f.random.Uint64N(9))
	}
}

// choose returns a filled value of an interface's type.
func (f filler) choose(kind reflect.Type) any {
	var v any
	rare := f.random.IntN(4) == 0
	switch kind {
	case reflect.TypeFor[fx.Owner]():
		v = &secp256k1fx.OutputOwners{}
	case reflect.TypeFor[signer.Signer]():
		v = &signer.ProofOfPossession{}
		if rare {
			return &signer.Empty{}
		}
	case reflect.TypeFor[verify.Verifiable](): // an authorization
		v = &secp256k1fx.Input{}
		if rare {
			v = &secp256k1fx.TransferInput{}
		}
	case reflect.TypeFor[avax.TransferableOut]():
		plain := &secp256k1fx.TransferOutput{}
		if v = plain; rare {
			f.fill(reflect.ValueOf(plain).Elem())
			return &stakeable.LockOut{Locktime: 1, TransferableOut: plain}
		}
	case reflect.TypeFor[avax.TransferableIn]():
		plain := &secp256k1fx.TransferInput{}
		if v = plain; rare {
			f.fill(reflect.ValueOf(plain).Elem())
			return &stakeable.LockIn{Locktime: 1, TransferableIn: plain}
		}
	}
	f.fill(reflect.ValueOf(v).Elem())
	return v
}

// message returns a signed warp message of some of twenty validators; now and then its signers are padded.
func (f filler) message() []byte {
	unsigned, err := warp.NewUnsignedMessage(1, ids.ID{1}, make([]byte, f.random.IntN(40)))
	if err != nil {
		panic(err)
	}
	signers := set.NewBits()
	for i := range 20 {
		if f.random.IntN(2) == 0 {
			signers.Add(i)
		}
	}
	signature := &warp.BitSetSignature{Signers: signers.Bytes()}
	if f.random.IntN(6) == 0 {
		signature.Signers = append([]byte{0}, signature.Signers...)
	}
	m, err := warp.NewMessage(unsigned, signature)
	if err != nil {
		panic(err)
	}
	return m.Bytes()
}
