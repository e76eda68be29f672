package export_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/export"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestAccountsOfTheCChain: an account's imports and exports, with the change of its balance.
func TestAccountsOfTheCChain(t *testing.T) {
	o := openOffice(t, export.Options{})
	traveller := o.Persona(t, "traveller")
	rows := o.rows(t, exportOf(export.Primary, asks{"cChainEvmAddresses": []string{traveller}, "includeChains": primaryChains}))
	count := 0
	for _, n := range o.Networks {
		chain := n.Chain(txs.CChain)
		transactions, err := o.DB.PrimaryTxsBetween(t.Context(), store.First(chain), store.Last(chain))
		if err != nil {
			t.Fatal(err)
		}
		for i := range transactions {
			tx, err := txs.ParseTx(txs.CChain, transactions[i].Bytes)
			if err != nil {
				t.Fatal(err)
			}
			switch u := tx.Unsigned.(type) {
			case *txs.AtomicImportTx:
				for _, out := range u.Outs {
					count += o.hasRow(t, rows, traveller, tx, n.Name, "CREDIT", out.Address, out.Amount)
				}
			case *txs.AtomicExportTx:
				for _, in := range u.Ins {
					count += o.hasRow(t, rows, traveller, tx, n.Name, "DEBIT", in.Address, in.Amount)
				}
			}
		}
	}
	if count == 0 || count != len(rows) {
		t.Errorf("%d rows, the atomic transactions tell of %d", len(rows), count)
	}
}

// hasRow looks for the row about an account. Its count is 1 if the account is the expected one.
func (o *office) hasRow(t *testing.T, rows []record, about string, tx *txs.Tx, network, kind string, account common.Address, amount uint64) int {
	t.Helper()
	if account.Hex() != about {
		return 0
	}
	want := record{"TxHash": tx.ID().String(), "Network": network, "FundTransferType": kind, "Owners": about, "Value": fmt.Sprint(amount), "ChainName": "c-chain", "OutputType": "ACCOUNT"}
	if !slices.ContainsFunc(rows, func(r record) bool { return contains(r, want) }) {
		t.Errorf("no row %v", want)
	}
	return 1
}
