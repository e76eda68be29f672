package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/crypto/bls/signer/localsigner"
	"github.com/ava-labs/avalanchego/utils/crypto/secp256k1"
	"github.com/ava-labs/avalanchego/utils/units"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/platformvm/signer"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp/message"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"
	"github.com/ava-labs/libevm/common"

	"snowglobe/testdata/avalanchego/wallet/primary" // avalanchego's own, as run.sh puts it here
)

// account is the development key with avalanchego's own wallet, which begins by asking every chain for outputs.
type account struct {
	*network
	keys    *secp256k1fx.Keychain
	owner   *secp256k1fx.OutputOwners
	account common.Address
	wallet  *primary.Wallet
	now     time.Time // the world's
}

// useWallet moves value between the chains, stakes, and makes an L1 with avalanchego's wallet.
func (n clients) useWallet(ctx context.Context) error {
	a, err := n.account(ctx)
	if err != nil {
		return err
	}
	for _, do := range []func(context.Context) error{a.move, a.stake, a.makeL1} {
		if err := errors.Join(a.open(ctx, primary.WalletConfig{}), do(ctx)); err != nil {
			return fmt.Errorf("wallet: %w", err)
		}
	}
	return nil
}

// account makes the account, without a wallet.
func (n clients) account(ctx context.Context) (*account, error) {
	var key secp256k1.PrivateKey
	if err := key.UnmarshalText([]byte(ewoq)); err != nil {
		return nil, err
	}
	now, err := n.p.GetTimestamp(ctx)
	return &account{
		network: n.network, now: now, keys: secp256k1fx.NewKeychain(&key), account: key.EthAddress(),
		owner: &secp256k1fx.OutputOwners{Threshold: 1, Addrs: []ids.ShortID{key.Address()}},
	}, err
}

// open makes a new wallet, given the subnets and L1 validators that it needs to know.
func (a *account) open(ctx context.Context, config primary.WalletConfig) (err error) {
	a.wallet, err = primary.MakeWallet(ctx, a.url, a.keys, a.keys, config)
	return err
}

func (a *account) output(amount uint64) []*avax.TransferableOutput {
	return []*avax.TransferableOutput{{Asset: avax.Asset{ID: a.avax}, Out: &secp256k1fx.TransferOutput{Amt: amount, OutputOwners: *a.owner}}}
}

// issued counts a transaction that was accepted.
func (a *account) issued(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	a.seen.issued++
	return nil
}

// move moves value within the chains and between all of them.
func (a *account) move(context.Context) error {
	p, x, c := a.wallet.P(), a.wallet.X(), a.wallet.C()
	exported := []*secp256k1fx.TransferOutput{{Amt: units.Avax, OutputOwners: *a.owner}}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"P base", func() error { _, err := p.IssueBaseTx(a.output(units.Avax)); return err }},
		{"P export to X", func() error { _, err := p.IssueExportTx(a.xID, a.output(2*units.Avax)); return err }},
		{"X import", func() error { _, err := x.IssueImportTx(constants.PlatformChainID, a.owner); return err }},
		{"X base", func() error { _, err := x.IssueBaseTx(a.output(units.Avax)); return err }},
		{"X export to P", func() error { _, err := x.IssueExportTx(constants.PlatformChainID, a.output(units.Avax)); return err }},
		{"P import", func() error { _, err := p.IssueImportTx(a.xID, a.owner); return err }},
		{"P export to C", func() error { _, err := p.IssueExportTx(a.cID, a.output(units.Avax)); return err }},
		{"C import", func() error { _, err := c.IssueImportTx(constants.PlatformChainID, a.account); return err }},
		{"C export to P", func() error { _, err := c.IssueExportTx(constants.PlatformChainID, exported); return err }},
		{"P import from C", func() error { _, err := p.IssueImportTx(a.cID, a.owner); return err }},
		{"C export to X", func() error { _, err := c.IssueExportTx(a.xID, exported); return err }},
		{"X import from C", func() error { _, err := x.IssueImportTx(a.cID, a.owner); return err }},
	} {
		if err := a.issued(step.what, step.do()); err != nil {
			return err
		}
	}
	return nil
}

// node returns a node of the wallet's own.
func node() (ids.NodeID, *signer.ProofOfPossession, error) {
	key, err := localsigner.New()
	if err != nil {
		return ids.EmptyNodeID, nil, err
	}
	proof, err := signer.NewProofOfPossession(key)
	return ids.GenerateTestNodeID(), proof, err
}

func (a *account) staker(node ids.NodeID, subnet ids.ID, days int, weight uint64) *txs.SubnetValidator {
	end := a.now.Add(time.Duration(days) * 24 * time.Hour)
	return &txs.SubnetValidator{Validator: txs.Validator{NodeID: node, End: uint64(end.Unix()), Wght: weight}, Subnet: subnet}
}

// stake adds a validator and a delegator, and a validator of a subnet that comes and goes.
func (a *account) stake(ctx context.Context) error {
	id, proof, err := node()
	if err != nil {
		return err
	}
	p := a.wallet.P()
	_, err = p.IssueAddPermissionlessValidatorTx(a.staker(id, ids.Empty, 40, 2000*units.Avax), proof, a.avax, a.owner, a.owner, 20_000)
	if err := a.issued("validator", err); err != nil {
		return err
	}
	_, err = p.IssueAddPermissionlessDelegatorTx(a.staker(id, ids.Empty, 30, 25*units.Avax), a.avax, a.owner)
	if err := a.issued("delegator", err); err != nil {
		return err
	}
	current, err := a.p.GetCurrentValidators(ctx, ids.Empty, []ids.NodeID{id})
	if err != nil || len(current) != 1 || len(current[0].Delegators) != 1 {
		return fmt.Errorf("%s is not a validator with one delegator: %+v, %w", id, current, err)
	}
	subnet, err := p.IssueCreateSubnetTx(a.owner)
	if err := a.issued("subnet", err); err != nil {
		return err
	}
	if err := a.open(ctx, primary.WalletConfig{SubnetIDs: []ids.ID{subnet.ID()}}); err != nil {
		return err
	}
	p = a.wallet.P()
	_, err = p.IssueAddSubnetValidatorTx(a.staker(id, subnet.ID(), 20, 5))
	if err := a.issued("subnet validator", err); err != nil {
		return err
	}
	_, err = p.IssueRemoveSubnetValidatorTx(id, subnet.ID())
	if err := a.issued("removal", err); err != nil {
		return err
	}
	_, err = p.IssueTransferSubnetOwnershipTx(subnet.ID(), a.owner)
	return a.issued("ownership", err)
}

// makeL1 converts a subnet to an L1, tops its validator up and disables it.
func (a *account) makeL1(ctx context.Context) error {
	subnet, err := a.wallet.P().IssueCreateSubnetTx(a.owner)
	if err := a.issued("subnet", err); err != nil {
		return err
	}
	if err := a.open(ctx, primary.WalletConfig{SubnetIDs: []ids.ID{subnet.ID()}}); err != nil {
		return err
	}
	chain, err := a.wallet.P().IssueCreateChainTx(subnet.ID(), []byte("{}"), constants.SubnetEVMID, nil, "made by a wallet")
	if err := a.issued("chain", err); err != nil {
		return err
	}
	id, proof, err := node()
	if err != nil {
		return err
	}
	owner := message.PChainOwner{Threshold: 1, Addresses: a.owner.Addrs}
	_, err = a.wallet.P().IssueConvertSubnetToL1Tx(subnet.ID(), chain.ID(), []byte{1}, []*txs.ConvertSubnetToL1Validator{{
		NodeID: id.Bytes(), Weight: 100, Balance: units.Avax, Signer: *proof, RemainingBalanceOwner: owner, DeactivationOwner: owner,
	}})
	if err := a.issued("conversion", err); err != nil {
		return err
	}
	validation := subnet.ID().Append(0)
	if err := a.open(ctx, primary.WalletConfig{ValidationIDs: []ids.ID{validation}}); err != nil {
		return err
	}
	_, err = a.wallet.P().IssueIncreaseL1ValidatorBalanceTx(validation, units.Avax)
	if err := a.issued("balance", err); err != nil {
		return err
	}
	_, err = a.wallet.P().IssueDisableL1ValidatorTx(validation)
	if err := a.issued("disabling", err); err != nil {
		return err
	}
	v, _, err := a.p.GetL1Validator(ctx, validation)
	if err != nil || v.Balance != 0 || v.Weight != 100 {
		return fmt.Errorf("L1 validator: %+v, %w", v, err)
	}
	return nil
}
