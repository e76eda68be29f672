package node

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// recordedAnswer is an answer of a real node.
type recordedAnswer struct {
	Chain  string          `json:"chain"`
	Method string          `json:"method"`
	Case   string          `json:"case"`
	Result json.RawMessage `json:"result"`
}

// TestShapes repeats the requests to a real node: names, their order and the kinds of values are the same.
func TestShapes(t *testing.T) {
	w := newTestWorld(t)
	file, err := os.Open(filepath.Join(testdata(), "node", "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	params := shapeParams(t, w)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var recorded recordedAnswer
		if err := json.Unmarshal(lines.Bytes(), &recorded); err != nil {
			t.Fatal(err)
		}
		t.Run(recorded.Method+" "+recorded.Case, func(t *testing.T) {
			ours := params[recorded.Case]
			if ours == "" {
				ours = "{}"
			}
			var answer recordedAnswer
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, recorded.Method, ours)
			if err := json.Unmarshal([]byte(w.post(t, "/ext/bc/"+recorded.Chain, body)), &answer); err != nil || answer.Result == nil {
				t.Fatalf("%s: no result (%v)", body, err)
			}
			if have, want := shapeOf(t, answer.Result), shapeOf(t, recorded.Result); have != want {
				t.Errorf("have %s\nwant %s", have, want)
			}
		})
	}
}

// shapeParams translates a recorded request's parameters to the test world.
func shapeParams(t *testing.T, w *testWorld) map[string]string {
	n := w.networks[0]
	tx := func(c txs.Chain, height uint64) string {
		row := must[*store.PrimaryTx](t)(n.DB.PrimaryTx(t.Context(), store.At(n.Chain(c), height, 0)))
		return ids.ID(row.Hash).String()
	}
	genesis := must[*store.PrimaryBlock](t)(n.DB.PrimaryBlock(t.Context(), n.Chain(txs.XChain), 0))
	l1 := must[[]store.L1ValidatorView](t)(n.DB.L1Validators(t.Context(), n.Chain(txs.PChain), 8))[0]
	x, p := n.Rules.Address(txs.XChain, testKey(t, 2).Address()), n.Rules.Address(txs.PChain, testKey(t, 1).Address())
	subnet, l1Subnet := fmt.Sprintf(`{"subnetID":%q}`, tx(txs.PChain, 6)), fmt.Sprintf(`{"subnetID":%q}`, tx(txs.PChain, 3))
	delegated := must[*store.Staker](t)(n.DB.StakerOfTx(t.Context(), must[*store.PrimaryTx](t)(n.DB.PrimaryTx(t.Context(), store.At(n.Chain(txs.PChain), 5, 0))).Hash))
	return map[string]string{
		"AVAX":                                 fmt.Sprintf(`{"address":%q,"assetID":"AVAX"}`, x),
		"ok":                                   fmt.Sprintf(`{"address":%q}`, x),
		"accepted":                             fmt.Sprintf(`{"txID":%q}`, tx(txs.XChain, 1)),
		"two addresses limit 2":                fmt.Sprintf(`{"addresses":[%q],"limit":2}`, x),
		"default":                              fmt.Sprintf(`{"blockID":%q}`, ids.ID(genesis.Hash)),
		"genesis json":                         fmt.Sprintf(`{"blockID":%q,"encoding":"json"}`, ids.ID(genesis.Hash)),
		"xExportCTx json":                      fmt.Sprintf(`{"txID":%q,"encoding":"json"}`, tx(txs.XChain, 5)),
		"getL1Validator":                       fmt.Sprintf(`{"validationID":%q}`, ids.ID(l1.Validation)),
		"getSubnet l1":                         l1Subnet,
		"getSubnet sub":                        subnet,
		"getCurrentValidators sub":             subnet,
		"getCurrentValidators l1":              l1Subnet,
		"getCurrentValidators with delegators": fmt.Sprintf(`{"nodeIDs":[%q]}`, ids.NodeID(delegated.Node)),
		"getValidatorsAt":                      `{"height":"8"}`,
		"getValidatorsAt proposed":             `{"height":"proposed"}`,
		"getAllValidatorsAt":                   `{"height":"proposed"}`,
		"getUTXOs":                             fmt.Sprintf(`{"addresses":[%q]}`, p),
		"getBalance":                           fmt.Sprintf(`{"addresses":[%q]}`, p),
		"getTxStatus":                          fmt.Sprintf(`{"txID":%q}`, tx(txs.PChain, 1)),
		"getStake":                             fmt.Sprintf(`{"addresses":[%q]}`, p),
	}
}

// shapeOf writes a JSON value with kinds in place of values. For a list it uses the first element; for an object with ids as names, the first member,
// wherever it is among the others.
func shapeOf(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out bytes.Buffer
	if err := shape(d, &out); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return out.String()
}

func shape(d *json.Decoder, out *bytes.Buffer) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return shapeMembers(d, out)
	case json.Delim('['):
		return shapeElements(d, out)
	}
	_, err = fmt.Fprintf(out, "%T", token)
	return err
}

func shapeMembers(d *json.Decoder, out *bytes.Buffer) error {
	var byID, others bytes.Buffer
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		text, target := fmt.Sprint(name), &others
		if isID(text) {
			if text, target = "id", &byID; byID.Len() > 0 {
				target = &bytes.Buffer{}
			}
		}
		target.WriteString(text + ":")
		if err := shape(d, target); err != nil {
			return err
		}
		target.WriteByte(' ')
	}
	fmt.Fprintf(out, "{%s%s}", byID.Bytes(), others.Bytes())
	_, err := d.Token()
	return err
}

func isID(text string) bool {
	_, notID := ids.FromString(text)
	_, notNode := ids.NodeIDFromString(text)
	return notID == nil || notNode == nil
}

func shapeElements(d *json.Decoder, out *bytes.Buffer) error {
	out.WriteByte('[')
	for n := 0; d.More(); n++ {
		target := out
		if n > 0 {
			target = &bytes.Buffer{}
		}
		if err := shape(d, target); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	_, err := d.Token()
	return err
}
