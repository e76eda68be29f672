package surface

import (
	"slices"
	"strings"
	"testing"
)

// TestEveryStateIsRead: a misspelt state would be lost.
func TestEveryStateIsRead(t *testing.T) {
	for _, e := range Entries() {
		for _, state := range e.Eras {
			if state < Never || state > On {
				t.Errorf("%s %s: state %d", e.Service, e.Words[:2], state)
			}
		}
		if len(e.Words) < 2 || strings.Contains(strings.Join(e.Words, " "), "|") {
			t.Errorf("%v has a mark left", e.Words)
		}
	}
}

// TestHeliconRemovedAndAdded compares the C-Chain's methods with the release notes of avalanchego v1.15.0 and with the APIs that its virtual machine
// has on by default (vms/saevm/sae/rpc).
func TestHeliconRemovedAndAdded(t *testing.T) {
	c, l1 := Methods(CChain), Methods(L1)
	var removed, added []string
	for method, eras := range c {
		switch {
		case eras.At(true) == Never && eras.At(false) != Never:
			removed = append(removed, method)
		case eras.At(true) == On && eras.At(false) != On:
			added = append(added, method)
		}
	}
	for _, method := range removed {
		if !strings.HasPrefix(method, "warp_") && !strings.HasPrefix(method, "personal_") && !slices.Contains(strings.Fields(gone), method) {
			t.Errorf("%s has not gone", method)
		}
	}
	for method := range strings.FieldsSeq(gone) {
		if c[method].At(true) != Never || c[method].At(false) == Never || l1[method].At(true) == Never {
			t.Errorf("%s: %v on the C-Chain, %v on an L1", method, c[method], l1[method])
		}
	}
	for _, method := range added {
		if !strings.HasPrefix(method, "txpool_") && !strings.Contains(strings.ToLower(method), "trace") && method != "debug_intermediateRoots" {
			t.Errorf("%s is not on by default", method)
		}
	}
	if len(added) < 14 {
		t.Errorf("%d methods are on by default since Helicon: %v", len(added), added)
	}
	for method, eras := range l1 {
		if eras.At(false) != eras.At(true) {
			t.Errorf("Helicon changes %s on an L1", method)
		}
	}
	if Methods(XChain)["xvm.getHeight"].At(false) != Never || Methods(XChain)["avm.getHeight"].At(false) != On || c["anvil_mine"].At(true) != Never {
		t.Error("names that only the specification or a devnet has")
	}
}

const gone = `eth_accounts eth_coinbase eth_etherbase eth_getBadBlocks debug_dumpBlock debug_preimage debug_getBadBlocks debug_accountRange debug_storageRangeAt
debug_getModifiedAccountsByNumber debug_getModifiedAccountsByHash debug_getAccessibleState`
