package webhook

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/parse"
	"snowglobe/sim/store/outbox"
	"snowglobe/sim/txs"
	webhooks "snowglobe/sim/webhook"
)

type createBody struct {
	EventType          string   `json:"eventType" enum:"address_activity,primary_network_address_activity,validator_activity"`
	URL                string   `json:"url"`
	Name               string   `json:"name,omitempty"`
	Description        string   `json:"description,omitempty"`
	ChainID            string   `json:"chainId,omitempty" doc:"An EVM chain for address_activity; p-chain or x-chain for primary_network_address_activity."`
	Network            string   `json:"network,omitempty" enum:"mainnet,fuji,testnet" doc:"Only for events other than address_activity."`
	IncludeInternalTxs bool     `json:"includeInternalTxs,omitempty" doc:"Only for address_activity on a C-Chain."`
	IncludeLogs        bool     `json:"includeLogs,omitempty" doc:"Only for address_activity."`
	Metadata           Metadata `json:"metadata"`
}

// updateBody is the body that changes a webhook.
type updateBody struct {
	Name               *string `json:"name,omitempty"`
	Description        *string `json:"description,omitempty"`
	URL                *string `json:"url,omitempty"`
	Status             *string `json:"status,omitempty" enum:"active,inactive"`
	IncludeInternalTxs *bool   `json:"includeInternalTxs,omitempty"`
	IncludeLogs        *bool   `json:"includeLogs,omitempty"`
}

type addressChange struct {
	Addresses []string `json:"addresses"`
}

// maxKeys bounds the addresses or validators that a webhook watches.
const maxKeys = 10_000

// checkTarget rejects a URL that the server may not call.
func (a *api) checkTarget(url string) error {
	err := a.targets.Check(url)
	switch {
	case errors.Is(err, errURL):
		return rest.BadRequest(fmt.Sprintf("url %q is not allowed: %v", schema.Shorten(url), err))
	case err != nil:
		return rest.Forbidden("url: " + err.Error())
	}
	return nil
}

// reading is a body being read.
type reading struct {
	*createBody
	webhook  *outbox.Webhook
	filter   *webhooks.Filter
	keys     [][]byte
	problems []string
}

func (r *reading) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// read returns the webhook that a body describes, and the keys it watches.
func (b *createBody) read(a *api) (w *outbox.Webhook, keys [][]byte, problems []string, err error) {
	if err := a.checkTarget(b.URL); err != nil {
		return nil, nil, nil, err
	}
	r := &reading{createBody: b, webhook: &outbox.Webhook{Event: b.EventType, URL: b.URL, Name: b.Name, Description: b.Description}, filter: &webhooks.Filter{}}
	if b.EventType == outbox.AddressActivity {
		r.readEVM(a.world)
	} else {
		r.readPrimary(a.world)
	}
	if len(r.keys) > maxKeys {
		return nil, nil, nil, errManyKeys
	}
	r.webhook.Filter, err = r.filter.Text()
	return r.webhook, r.keys, r.problems, err
}

func (r *reading) readEVM(w *sim.World) {
	c := w.ChainNamed(r.ChainID)
	if c == nil {
		r.problem("chainId %q is not allowed: expected an EVM chain of GET /v1/chains", schema.Shorten(r.ChainID))
	} else {
		r.webhook.Chain = c.Row.ID
	}
	r.webhook.Internal, r.webhook.Logs = r.IncludeInternalTxs, r.IncludeLogs
	if r.Metadata.Addresses == nil {
		r.problem("metadata.addresses is required")
	}
	var problems []string
	r.keys, problems = readAddresses("metadata.addresses", r.Metadata.Addresses)
	r.problems = append(r.problems, problems...)
	for i, text := range r.Metadata.EventSignatures {
		raw, err := hexutil.Decode(text)
		if err != nil || len(raw) != common.HashLength {
			r.problem("metadata.eventSignatures[%d] %q is not allowed: expected 0x and 64 hexadecimal digits", i, schema.Shorten(text))
			continue
		}
		r.filter.EventSignatures = append(r.filter.EventSignatures, common.BytesToHash(raw))
	}
}

func readAddresses(name string, texts []string) (keys [][]byte, problems []string) {
	for i, text := range texts {
		if !strings.HasPrefix(text, "0x") || !common.IsHexAddress(text) {
			problems = append(problems, fmt.Sprintf("%s[%d] %q is not allowed: expected 0x and 40 hexadecimal digits", name, i, schema.Shorten(text)))
			continue
		}
		keys = append(keys, common.HexToAddress(text).Bytes())
	}
	return keys, problems
}

func (r *reading) readPrimary(w *sim.World) {
	name, known := schema.NetworkName(r.Network)
	n := w.NetworkNamed(name)
	if !known || n == nil {
		r.problem("network is required: one of mainnet, fuji, testnet")
		return
	}
	m := &r.Metadata
	r.filter.KeyType = m.KeyType
	if m.SubEvents == nil {
		m.SubEvents = &SubEvents{}
	}
	kind := txs.PChain
	if r.EventType == outbox.PrimaryAddressActivity {
		kind = r.readAddressEvents()
	} else {
		r.readValidatorEvents()
	}
	r.webhook.Chain = n.Chain(kind)
	slices.Sort(r.filter.SubEvents)
	r.filter.SubEvents = slices.Compact(r.filter.SubEvents)
	r.readKeys(n)
}

// readAddressEvents reads the address events to deliver, and their chain.
func (r *reading) readAddressEvents() txs.Chain {
	m, kind := &r.Metadata, txs.PChain
	switch data.SameChain(r.ChainID) {
	case data.ChainNames[txs.PChain]:
	case data.ChainNames[txs.XChain]:
		kind = txs.XChain
	default:
		r.problem("chainId %q is not allowed: expected p-chain or x-chain", schema.Shorten(r.ChainID))
	}
	if m.KeyType != webhooks.KeyAddresses {
		r.problem("metadata.keyType %q is not allowed: expected %s", m.KeyType, webhooks.KeyAddresses)
	}
	if r.filter.SubEvents = m.SubEvents.Addresses; len(r.filter.SubEvents) == 0 {
		r.problem("metadata.subEvents.addressActivitySubEvents is required: any of %s", strings.Join(webhooks.AddressEvents, ", "))
	}
	if f := m.BalanceThresholdFilter; f != nil {
		r.filter.BalanceType, r.filter.BalanceThreshold = f.BalanceType, r.amount("metadata.balanceThresholdFilter.balanceThreshold", f.BalanceThreshold)
	} else if slices.Contains(r.filter.SubEvents, webhooks.BalanceThreshold) {
		r.problem("metadata.balanceThresholdFilter is required for balance_threshold")
	}
	return kind
}

func (r *reading) readValidatorEvents() {
	m := &r.Metadata
	if m.KeyType != webhooks.KeyNodeID && m.KeyType != webhooks.KeySubnetID {
		r.problem("metadata.keyType %q is not allowed: expected %s or %s", m.KeyType, webhooks.KeyNodeID, webhooks.KeySubnetID)
	}
	if len(m.Keys) > 1 {
		r.problem("metadata.keys has %d items: expected exactly one", len(m.Keys))
	}
	if r.filter.SubEvents = m.SubEvents.Validators; len(r.filter.SubEvents) == 0 {
		r.problem("metadata.subEvents.validatorActivitySubEvents is required: any of %s", strings.Join(webhooks.ValidatorEvents, ", "))
	}
	if m.L1BalanceThreshold != "" {
		r.filter.L1BalanceThreshold = r.amount("metadata.l1ValidatorFeeBalanceThreshold", m.L1BalanceThreshold)
	} else if slices.Contains(r.filter.SubEvents, webhooks.L1BalanceThreshold) {
		r.problem("metadata.l1ValidatorFeeBalanceThreshold is required for l1_validator_balance_threshold")
	}
	for i, text := range m.NodeIDs {
		id, err := parse.NodeID(text)
		if err != nil {
			r.problem("metadata.nodeIds[%d] %q is not a node id", i, schema.Shorten(text))
		}
		r.filter.NodeIDs = append(r.filter.NodeIDs, id)
	}
	for i, text := range m.SubnetIDs {
		id, err := parse.ID(text)
		if err != nil {
			r.problem("metadata.subnetIds[%d] %q is not a subnet id", i, schema.Shorten(text))
		}
		r.filter.SubnetIDs = append(r.filter.SubnetIDs, id)
	}
}

func (r *reading) amount(name, text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		r.problem("%s %q is not allowed: expected an amount of nAVAX below 2^64", name, schema.Shorten(text))
	}
	return n
}

// readKeys reads the addresses or validators that the webhook watches.
func (r *reading) readKeys(n *sim.Network) {
	if len(r.Metadata.Keys) == 0 {
		r.problem("metadata.keys is required")
	}
	for i, text := range r.Metadata.Keys {
		key, ok := readKey(n, r.Metadata.KeyType, text)
		if !ok {
			r.problem("metadata.keys[%d] %q is none of the kind %s of %s", i, schema.Shorten(text), r.Metadata.KeyType, n.Name)
			continue
		}
		r.keys = append(r.keys, key)
	}
}

func readKey(n *sim.Network, keyType, text string) (key []byte, ok bool) {
	switch keyType {
	case webhooks.KeyNodeID:
		id, err := parse.NodeID(text)
		return id[:], err == nil
	case webhooks.KeySubnetID:
		id, err := parse.ID(text)
		return id[:], err == nil
	}
	if len(text) > 2 && text[1] == '-' && strings.ContainsRune("PXC", rune(text[0])) {
		text = text[2:]
	}
	hrp, raw, err := parse.Bech32(text)
	return raw, err == nil && hrp == n.Rules.HRP && len(raw) == ids.ShortIDLen
}
