package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/session"
	"snowglobe/fixtures/worldfile"
	"snowglobe/sim"
	"snowglobe/sim/secp256k1"
)

// Text returns the session so far.
func (r *Recorder) Text(ctx context.Context) (string, error) {
	lines, err := r.Lines(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	m := &r.world.Meta
	fmt.Fprintf(&b, "# Seed %d, profile %s. snowglobe help sessions explains the lines.\nworld %x\n", m.Seed, m.Profile, r.begun)
	for _, line := range lines {
		b.WriteString(line.text + "\n")
	}
	fmt.Fprintf(&b, "# digest %x\n", r.world.Digest())
	return b.String(), nil
}

// line is a line of the session, with the last action that its end includes; nil for none.
type line struct {
	text string
	last *action
	own  bool // whether the line is that action's own; false for a clock that moved by itself
}

// Lines returns the lines of the session, without the one that names the world.
func (r *Recorder) Lines(ctx context.Context) (lines []line, err error) {
	all, dropped, clock := r.snapshot()
	n, err := readNames(ctx, r.world)
	if err != nil {
		return nil, err
	}
	if dropped > 0 {
		missing := &session.Step{Kind: session.Missing, Name: fmt.Sprintf("%d earlier actions: a session keeps the latest %d MiB", dropped, r.limit>>20)}
		lines = append(lines, line{text: missing.String()})
	}
	var last *action
	moved := func(to int64, people bool) {
		lines = append(lines, line{(&session.Step{Kind: session.Clock, Time: timeText(to), People: people}).String(), last, false})
	}
	for _, a := range all {
		if a.before > 0 {
			moved(a.before, a.people)
		}
		last = a
		if a.void {
			continue
		}
		r.mu.Lock()
		copied := *a
		r.mu.Unlock()
		text := copied.line
		if text == "" {
			step := n.step(&copied)
			step.Fails = a.failed
			text = step.String()
			r.worded(a, text)
		}
		lines = append(lines, line{text, a, true})
	}
	if clock > 0 {
		moved(clock, r.people())
	}
	return lines, nil
}

// worded keeps an action's line and drops the call that it was made from.
func (r *Recorder) worded(a *action, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.line != "" {
		return // another request was faster
	}
	before := a.bytes()
	a.line, a.data, a.result = line, nil, nil
	if slices.Contains(r.actions, a) {
		r.bytes += a.bytes() - before
	}
}

// step turns an action into a step.
func (n *names) step(a *action) *session.Step {
	if a.large > 0 {
		return &session.Step{Kind: session.Missing, Name: fmt.Sprintf("%s %s with %d bytes, more than a session keeps", a.method, a.path, a.large)}
	}
	if a.chain == "" {
		return n.operation(a)
	}
	c := n.chains[a.chain]
	_, name, _ := strings.Cut(a.method, "_")
	var s *session.Step
	switch {
	case a.method == scheduled:
		return &session.Step{Kind: session.Mine, Chain: a.chain, Count: 1, Interval: true}
	case strings.HasSuffix(a.method, ".issueTx"):
		s = n.issue(a)
	case c == nil:
	case strings.HasPrefix(name, "sendRawTransaction"):
		s = n.signed(c, a)
	case strings.HasPrefix(name, "sendTransaction"):
		s = n.unsigned(c, a)
	case name == "mine":
		s = mine(a)
	case name == "snapshot":
		var id hexutil.Uint64
		if json.Unmarshal(a.result, &id) == nil {
			s = &session.Step{Kind: session.Snapshot, Label: strconv.FormatUint(uint64(id), 10)}
		}
	case name == "revert":
		var ids []json.RawMessage
		if json.Unmarshal(a.data, &ids) == nil && len(ids) == 1 {
			if id, err := strconv.ParseInt(strings.Trim(string(ids[0]), `"`), 0, 64); err == nil {
				s = &session.Step{Kind: session.Revert, Label: strconv.FormatInt(id, 10), Spend: true}
			}
		}
	case name == "reset":
		s = &session.Step{Kind: session.Reset}
	case name == "setIntervalMining": // its blocks get lines of their own
		s = &session.Step{Kind: session.RPC, Method: a.method, Data: "[0]"}
	}
	if s == nil && strings.HasPrefix(a.method, "personal_") {
		s = &session.Step{Kind: session.Missing, Name: a.method + ", whose parameters have a password"}
	}
	if s == nil {
		s = &session.Step{Kind: session.RPC, Method: a.method, Data: n.params(c, a.data)}
	}
	s.Chain = a.chain
	return s
}

// params writes parameters on one line.
func (n *names) params(c *chain, data []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil || b.String() == "null" {
		return ""
	}
	return n.nameJSON(c, b.String())
}

func (n *names) operation(a *action) *session.Step {
	last := func(text string) string { return text[strings.LastIndex(text, "/")+1:] }
	var answer struct {
		ID           string
		Name         string
		Milliseconds int64
		Target       string
	}
	_ = json.Unmarshal(a.result, &answer) // it is empty for most operations
	switch {
	case a.path == "/sim/reset":
		return &session.Step{Kind: session.Reset}
	case a.path == "/sim/snapshots":
		return &session.Step{Kind: session.Snapshot, Label: answer.ID, Name: answer.Name}
	case strings.HasPrefix(a.path, "/sim/snapshots/"):
		s := &session.Step{Kind: session.DeleteSnapshot}
		id, reverts := strings.CutSuffix(last(a.path), ":revert")
		if reverts {
			s.Kind = session.Revert
		}
		if number, err := strconv.ParseInt(id, 0, 64); err == nil {
			id = strconv.FormatInt(number, 10)
		}
		s.Label = id
		return s
	case a.path == "/sim/clock":
		var body struct {
			Rate, Freeze any
			Wait         *bool
			Populate     *bool
		}
		_ = json.Unmarshal(a.data, &body) // the operation has read it
		if body.Rate != nil || body.Freeze != nil || body.Wait != nil && !*body.Wait || a.failed {
			break
		}
		return &session.Step{Kind: session.Clock, Time: timeText(answer.Milliseconds), People: body.Populate != nil && *body.Populate}
	}
	return &session.Step{Kind: session.HTTP, Method: a.method, Path: a.path, Data: n.params(nil, a.data)}
}

func (n *names) issue(a *action) *session.Step {
	var given struct{ Tx, Encoding string }
	if json.Unmarshal(unlisted(a.data), &given) != nil || given.Encoding != "hex" && given.Encoding != "" || !strings.HasPrefix(given.Tx, "0x") {
		return nil
	}
	return &session.Step{Kind: session.Issue, Data: given.Tx, Comment: n.issuedWords(a.chain, given.Tx)}
}

// unlisted returns the only element of a list, or the value itself: services take both.
func unlisted(data []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) == 1 {
		return list[0]
	}
	return data
}

func mine(a *action) *session.Step {
	var given []json.RawMessage
	if json.Unmarshal(a.data, &given) != nil && len(a.data) > 0 {
		return nil
	}
	s := &session.Step{Kind: session.Mine, Count: 1}
	if strings.HasPrefix(a.method, "evm_") {
		if len(given) > 0 {
			return nil
		}
		return s
	}
	numbers := make([]uint64, len(given))
	for i, raw := range given {
		var err error
		if numbers[i], err = strconv.ParseUint(strings.Trim(string(raw), `"`), 0, 32); err != nil {
			return nil
		}
	}
	if len(numbers) > 0 {
		s.Count = numbers[0]
	}
	if len(numbers) > 1 {
		s.Span = time.Duration(numbers[1]) * time.Second
	}
	return s
}

// signed describes a signed transaction by its fields, if the sender's key makes the same bytes from them again.
func (n *names) signed(c *chain, a *action) *session.Step {
	var given []json.RawMessage
	var raw hexutil.Bytes
	tx := new(types.Transaction)
	if json.Unmarshal(a.data, &given) != nil || len(given) == 0 || json.Unmarshal(given[0], &raw) != nil || tx.UnmarshalBinary(raw) != nil {
		return nil
	}
	if s := n.transaction(c, tx); s != nil {
		if again, err := n.sign(c, s); err == nil && bytes.Equal(again, raw) {
			return s
		}
	}
	return &session.Step{Kind: session.Raw, Data: raw.String(), Comment: n.rawWords(c, tx)}
}

// mostCommented bounds the comment behind a signed transaction.
const mostCommented = 160

// rawWords describes a signed transaction that no line with names would make again.
func (n *names) rawWords(c *chain, tx *types.Transaction) string {
	sender, err := types.Sender(types.LatestSignerForChainID(new(big.Int).SetUint64(c.Row.EVMID)), tx)
	if err != nil {
		return ""
	}
	s := &session.Step{From: n.show(c, sender)}
	n.describe(c, s, tx.To(), tx.Value(), tx.Data())
	text := s.String()
	if len(text) > mostCommented {
		text = strings.ToValidUTF8(text[:mostCommented], "") + "…"
	}
	return text
}

// transaction describes a transaction of an account with a name.
func (n *names) transaction(c *chain, tx *types.Transaction) *session.Step {
	sender, err := types.Sender(types.LatestSignerForChainID(new(big.Int).SetUint64(c.Row.EVMID)), tx)
	if err != nil || n.accounts[n.addresses[sender]] == nil || len(tx.AccessList()) > 0 {
		return nil
	}
	nonce, gas := tx.Nonce(), tx.Gas()
	s := &session.Step{From: n.addresses[sender], Fields: session.Fields{Nonce: &nonce, Gas: &gas}}
	switch tx.Type() {
	case types.LegacyTxType:
		s.Price = gwei(tx.GasPrice())
	case types.DynamicFeeTxType:
		s.Fee, s.Tip = gwei(tx.GasFeeCap()), gwei(tx.GasTipCap())
	default:
		return nil
	}
	n.describe(c, s, tx.To(), tx.Value(), tx.Data())
	return s
}

// describe adds what the transaction does.
func (n *names) describe(c *chain, s *session.Step, to *common.Address, value *big.Int, data []byte) {
	s.Chain = sim.NameOf(c.Chain)
	amount := session.Amount{Number: decimal(value, weiDecimals), Unit: c.Row.TokenSymbol}
	if strings.ContainsAny(amount.Unit, " #\"") || amount.Unit == "" {
		amount.Unit = "coins"
	}
	s.Value = amount
	if to == nil {
		s.Kind, s.Data = session.Deploy, hexutil.Encode(data)
	} else {
		s.Kind, s.To = session.Send, n.show(c, *to)
		if len(data) > 0 {
			s.Data = hexutil.Encode(data)
			n.call(c, s, *to, data)
		}
	}
	if s.Kind != session.Send && value.Sign() == 0 {
		s.Value = session.Amount{}
	}
}

// call turns a transfer with data into the call of a method, if the contract's ABI has it and encodes the same data.
func (n *names) call(c *chain, s *session.Step, to common.Address, data []byte) {
	k := c.contracts[c.roles[to]]
	if k == nil || len(data) < 4 {
		return
	}
	known := k.abi()
	m, err := known.MethodById(data)
	if err != nil {
		return
	}
	values, err := m.Inputs.UnpackValues(data[4:])
	if err != nil {
		return
	}
	call := *s
	call.Kind, call.Method, call.Data, call.Args = session.Call, m.RawName, "", nil
	if _, err := method(&known, m.RawName, ""); err != nil {
		call.Types = strings.TrimPrefix(m.Sig, m.RawName)
	}
	for i, v := range values {
		call.Args = append(call.Args, n.argument(c, &m.Inputs[i].Type, reflect.ValueOf(v)))
	}
	if again, err := n.input(c, &call); err == nil && bytes.Equal(again, data) {
		*s = call
	}
}

// argument writes a value of a Solidity type.
func (n *names) argument(c *chain, t *abi.Type, v reflect.Value) session.Arg {
	switch t.T {
	case abi.SliceTy, abi.ArrayTy:
		list := session.Arg{Listed: true}
		for i := range v.Len() {
			list.List = append(list.List, n.argument(c, t.Elem, v.Index(i)))
		}
		return list
	case abi.TupleTy:
		list := session.Arg{Listed: true}
		for i := range v.NumField() {
			list.List = append(list.List, n.argument(c, t.TupleElems[i], v.Field(i)))
		}
		return list
	case abi.AddressTy:
		return session.Arg{Text: n.show(c, v.Interface().(common.Address))}
	case abi.StringTy:
		return session.Arg{Text: v.String(), Quoted: true}
	case abi.BytesTy:
		return session.Arg{Text: hexutil.Encode(v.Bytes())}
	case abi.FixedBytesTy:
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), v)
		return session.Arg{Text: hexutil.Encode(b)}
	}
	return session.Arg{Text: fmt.Sprint(v.Interface())}
}

// sent is the object of eth_sendTransaction.
type sent struct {
	From                 *common.Address `json:"from"`
	To                   *common.Address `json:"to,omitempty"`
	Gas                  *hexutil.Uint64 `json:"gas,omitempty"`
	GasPrice             *hexutil.Big    `json:"gasPrice,omitempty"`
	MaxFeePerGas         *hexutil.Big    `json:"maxFeePerGas,omitempty"`
	MaxPriorityFeePerGas *hexutil.Big    `json:"maxPriorityFeePerGas,omitempty"`
	Value                *hexutil.Big    `json:"value,omitempty"`
	Nonce                *hexutil.Uint64 `json:"nonce,omitempty"`
	Data                 *hexutil.Bytes  `json:"data,omitempty"`
	Input                *hexutil.Bytes  `json:"input,omitempty"`
}

// unsigned describes a transaction that the node signed: by the request if every node of this world signs for the sender, otherwise by the signed
// transaction.
func (n *names) unsigned(c *chain, a *action) *session.Step {
	var given []json.RawMessage
	if json.Unmarshal(a.data, &given) != nil || len(given) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(given[0]))
	d.DisallowUnknownFields()
	var t sent
	err := d.Decode(&t)
	if t.From == nil {
		return nil
	}
	owner := n.accounts[n.addresses[*t.From]]
	if owner == nil || owner.key == nil {
		if s := n.made(c, a); s != nil {
			return s
		}
	}
	if err != nil || t.GasPrice != nil && t.MaxFeePerGas != nil {
		return nil
	}
	s := &session.Step{From: n.show(nil, *t.From)}
	s.Nonce, s.Gas = (*uint64)(t.Nonce), (*uint64)(t.Gas)
	for _, f := range []struct {
		into *session.Amount
		from *hexutil.Big
	}{{&s.Price, t.GasPrice}, {&s.Fee, t.MaxFeePerGas}, {&s.Tip, t.MaxPriorityFeePerGas}} {
		if f.from != nil {
			*f.into = gwei(f.from.ToInt())
		}
	}
	value, data := new(big.Int), []byte{}
	if t.Value != nil {
		value = t.Value.ToInt()
	}
	if t.Data != nil {
		data = *t.Data
	}
	if t.Input != nil {
		data = *t.Input
	}
	n.describe(c, s, t.To, value, data)
	return s
}

// made returns the signed transaction that a request led to, if the node doesn't always have the sender's key; nil if the sender was impersonated, or
// if the transaction is not known.
func (n *names) made(c *chain, a *action) *session.Step {
	var hash common.Hash
	var receipt struct{ TransactionHash common.Hash }
	if json.Unmarshal(a.result, &hash) != nil && json.Unmarshal(a.result, &receipt) == nil {
		hash = receipt.TransactionHash
	}
	t, err := c.Transaction(context.Background(), hash)
	if err != nil {
		return nil
	}
	raw, err := t.MarshalBinary()
	if err != nil {
		return nil
	}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(c.Row.EVMID))
	if recovered, err := types.Sender(signer, t.Transaction); err != nil || recovered != t.Sender {
		return nil
	}
	return &session.Step{Kind: session.Raw, Data: hexutil.Encode(raw), Comment: n.rawWords(c, t.Transaction)}
}

// input returns the data of a call.
func (n *names) input(c *chain, s *session.Step) ([]byte, error) {
	var known abi.ABI
	if k := c.contracts[s.To]; k != nil {
		known = k.abi()
	}
	m, err := method(&known, s.Method, s.Types)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.To, err)
	}
	data, err := pack(m.Inputs, s.Args, func(name string) (common.Address, error) { return n.resolve(c, name) })
	if err != nil {
		return nil, err
	}
	return append(bytes.Clone(m.ID), data...), nil
}

// sign returns the signed bytes of a step whose fields are all given.
func (n *names) sign(c *chain, s *session.Step) ([]byte, error) {
	owner := n.accounts[s.From]
	if owner == nil || owner.key == nil {
		return nil, fmt.Errorf("%s has no key here", s.From)
	}
	to, value, data, err := n.content(c, s)
	if err != nil {
		return nil, err
	}
	id := new(big.Int).SetUint64(c.Row.EVMID)
	var inner types.TxData
	if s.Price.Number != "" {
		price, err := worldfile.Wei(s.Price)
		if err != nil {
			return nil, err
		}
		inner = &types.LegacyTx{Nonce: *s.Nonce, GasPrice: price, Gas: *s.Gas, To: to, Value: value, Data: data}
	} else {
		fee, err := worldfile.Wei(s.Fee)
		if err != nil {
			return nil, err
		}
		tip, err := worldfile.Wei(s.Tip)
		if err != nil {
			return nil, err
		}
		inner = &types.DynamicFeeTx{ChainID: id, Nonce: *s.Nonce, GasTipCap: tip, GasFeeCap: fee, Gas: *s.Gas, To: to, Value: value, Data: data}
	}
	tx, err := secp256k1.SignTx(types.NewTx(inner), types.LatestSignerForChainID(id), owner.key)
	if err != nil {
		return nil, err
	}
	return tx.MarshalBinary()
}

// content returns the recipient, value and data of a transaction.
func (n *names) content(c *chain, s *session.Step) (to *common.Address, value *big.Int, data []byte, err error) {
	value = new(big.Int)
	if s.Value.Number != "" {
		if value, err = worldfile.Wei(s.Value); err != nil {
			return nil, nil, nil, err
		}
	}
	if s.Kind != session.Deploy {
		address, err := n.resolve(c, s.To)
		if err != nil {
			return nil, nil, nil, err
		}
		to = &address
	}
	if s.Kind == session.Call {
		data, err = n.input(c, s)
	} else if s.Data != "" {
		data, err = hexutil.Decode(s.Data)
	}
	return to, value, data, err
}
