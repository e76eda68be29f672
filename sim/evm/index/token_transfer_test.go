package index

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/store"
)

func words(numbers ...int64) (b []byte) {
	for _, n := range numbers {
		b = append(b, common.BigToHash(big.NewInt(n)).Bytes()...)
	}
	return b
}

// TestMovements reads logs that are transfers, and logs that only look like transfers.
func TestMovements(t *testing.T) {
	batch := words(1, 1, 2, 64, 160, 2, 7, 8, 2, 5, 6) // operator, from and to, then the data
	for _, c := range []struct {
		what     string
		standard store.Standard
		topic    []byte
		topics   []byte
		data     []byte
		want     string
	}{
		{"an ERC-20's transfer", store.ERC20, eventTransfer, words(1, 2), words(9), "01>02 []x09 "},
		{"nothing of an ERC-20", store.ERC20, eventTransfer, words(1, 2), words(0)[:31], ""},
		{"an ERC-20 that looks like an ERC-721", store.ERC20, eventTransfer, words(1, 2, 3), nil, ""},
		{"an ERC-721's transfer", store.ERC721, eventTransfer, words(1, 2, 3), nil, "01>02 [03]x01 "},
		{"an ERC-721 that looks like an ERC-20", store.ERC721, eventTransfer, words(1, 2), words(3), ""},
		{"one item of an ERC-1155", store.ERC1155, eventTransferSingle, words(4, 1, 2), words(7, 5), "01>02 [07]x05 "},
		{"a batch", store.ERC1155, eventTransferBatch, batch[:96], batch[96:], "01>02 [07]x05 01>02 [08]x06 "},
		{"a batch cut short", store.ERC1155, eventTransferBatch, batch[:96], batch[96 : len(batch)-1], ""},
		{"a batch that points beyond its end", store.ERC1155, eventTransferBatch, batch[:96], words(64, 120, 1, 1, 1), ""},
		{"a batch of different lengths", store.ERC1155, eventTransferBatch, batch[:96], words(64, 128, 1, 7, 0, 1), ""},
		{"another event", store.ERC20, eventDeposit, words(1), words(9), ""},
	} {
		log := &store.Log{Topic: c.topic, Topics: c.topics, Data: c.data}
		have := ""
		for _, m := range tokenTransfers(c.standard, log) {
			have += fmt.Sprintf("%x>%x [%x]x%x ", m.from[19:], m.to[19:], m.item, m.amount)
		}
		if have != c.want {
			t.Errorf("%s moves %q: want %q", c.what, have, c.want)
		}
	}
}

func TestWrappersNameTheirHolder(t *testing.T) {
	for _, topic := range [][]byte{eventDeposit, eventWithdrawal} {
		if h := wrappedHolder(&store.Log{Topic: topic, Topics: words(5)}); len(h) != 20 || h[19] != 5 {
			t.Errorf("holder is %x", h)
		}
	}
	if h := wrappedHolder(&store.Log{Topic: eventDeposit, Topics: words(5, 6)}); h != nil {
		t.Errorf("holder of another event is %x", h)
	}
}

func TestAssetsSortByTokenAndNumber(t *testing.T) {
	var last store.AssetKey
	for _, standard := range []store.Standard{store.ERC721, store.ERC1155} {
		for n := 1; n < 3; n++ {
			for _, item := range [][]byte{nil, {1}, {255}, {1, 0}, {2, 0, 0}} {
				id := store.NewTokenID(3, standard, n)
				asset := id.Asset(item)
				if bytes.Compare(asset, last) <= 0 {
					t.Errorf("asset %x comes after %x", asset, last)
				}
				if asset.Token() != id || !bytes.Equal(asset.Item(), item) {
					t.Errorf("asset %x is token %d, item %x", asset, asset.Token(), asset.Item())
				}
				last = asset
			}
		}
	}
}
