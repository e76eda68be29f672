package icm

import (
	"reflect"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/store"
)

// MessageBody is a cross-chain message with its delivery.
type MessageBody struct {
	MessageID               string                `json:"messageId" format:"hash"`
	SourceBlockchainID      string                `json:"sourceBlockchainId" format:"cb58"`
	DestinationBlockchainID string                `json:"destinationBlockchainId" format:"cb58"`
	SourceEVMChainID        string                `json:"sourceEvmChainId" doc:"Empty for a chain that the world does not simulate."`
	DestinationEVMChainID   string                `json:"destinationEvmChainId" doc:"Empty for a chain that the world does not simulate."`
	MessageNonce            string                `json:"messageNonce" format:"uint"`
	From                    string                `json:"from" format:"address"`
	To                      string                `json:"to" format:"address"`
	Data                    string                `json:"data,omitempty" format:"hex" doc:"Absent when the message is empty."`
	MessageExecuted         bool                  `json:"messageExecuted"`
	Receipts                []IcmReceipt          `json:"receipts"`
	ReceiptDelivered        bool                  `json:"receiptDelivered"`
	RewardDetails           IcmRewardDetails      `json:"rewardDetails"`
	SourceTransaction       *IcmSourceTransaction `json:"sourceTransaction,omitempty" doc:"Absent when the world does not simulate the source."`
	DestinationTransaction  *IcmDestination       `json:"destinationTransaction,omitempty" doc:"Absent while the message is pending."`
	Status                  string                `json:"status" enum:"pending,delivered,delivered_source_not_indexed"`
}

// IcmMessage is a message under its present name.
type IcmMessage struct {
	MessageBody
	IcmContractAddress string `json:"icmContractAddress" format:"address"`
}

// TeleporterMessage is a message under its deprecated name. Published clients look for the present one, too.
type TeleporterMessage struct {
	IcmMessage
	TeleporterContractAddress string `json:"teleporterContractAddress" format:"address"`
}

// IcmReceipt confirms a message in the opposite direction.
type IcmReceipt struct {
	ReceivedMessageNonce string `json:"receivedMessageNonce" format:"uint"`
	RelayerRewardAddress string `json:"relayerRewardAddress" format:"address"`
}

// IcmRewardDetails is the fee for the relayer that delivers the message.
type IcmRewardDetails struct {
	Address  string      `json:"address" format:"address" doc:"Address of the token; zeros when there is no fee."`
	Name     string      `json:"name"`
	Symbol   string      `json:"symbol"`
	Decimals int         `json:"decimals"`
	LogoURI  string      `json:"logoUri,omitempty" format:"url"`
	ErcType  string      `json:"ercType" enum:"ERC-20"`
	Price    *data.Price `json:"price,omitempty"`
	Value    string      `json:"value" format:"uint"`
}

// IcmSourceTransaction is the transaction that sent a message.
type IcmSourceTransaction struct {
	TxHash    string `json:"txHash" format:"hash"`
	Timestamp int64  `json:"timestamp"`
	GasSpent  string `json:"gasSpent" format:"uint" doc:"The fee, in the smallest unit of the chain's token."`
}

// IcmDestination is the transaction that delivered a message.
type IcmDestination struct {
	IcmSourceTransaction
	RewardRedeemer   string `json:"rewardRedeemer" format:"address"`
	DelivererAddress string `json:"delivererAddress" format:"address"`
}

type icmMessages struct {
	NextPageToken string       `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Messages      []IcmMessage `json:"messages"`
}

type teleporterMessages struct {
	NextPageToken string              `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Messages      []TeleporterMessage `json:"messages"`
}

// icmForm is one of the two names under which messages are served.
type icmForm struct {
	name, path string
	deprecated bool
	one, many  reflect.Type
	show       func(*icmMessage) any
	page       func(next string, all []*icmMessage) any
}

var icmForms = []icmForm{
	{"Icm", "/v1/icm", false, reflect.TypeFor[IcmMessage](), reflect.TypeFor[icmMessages](),
		func(f *icmMessage) any { return f.icm() },
		func(next string, all []*icmMessage) any {
			return icmMessages{next, data.List(all, func(f **icmMessage) IcmMessage { return (*f).icm() })}
		}},
	{"Teleporter", "/v1/teleporter", true, reflect.TypeFor[TeleporterMessage](), reflect.TypeFor[teleporterMessages](),
		func(f *icmMessage) any { return f.teleporter() },
		func(next string, all []*icmMessage) any {
			return teleporterMessages{next, data.List(all, func(f **icmMessage) TeleporterMessage { return (*f).teleporter() })}
		}},
}

func (a *icmAPI) icmOperations() []rest.Operation {
	chain := func(name, doc string) rest.Param {
		return rest.Param{Name: name, Kind: schema.KindChain, Doc: doc}
	}
	party := func(name, doc string) rest.Param {
		return rest.Param{Name: name, Kind: schema.KindAddress, Doc: doc}
	}
	filters := []rest.Param{
		chain("sourceBlockchainId", "Only messages from this chain, by blockchain id or EVM chain id."),
		chain("destinationBlockchainId", "Only messages to this chain."), chain("blockchainId", "Only messages from or to this chain."),
		party("to", "Only messages to this address."), party("from", "Only messages from this address."),
		{Name: "network", Kind: schema.KindNetwork, Doc: "Only messages of this network. Default: the networks of the named chains, if any."},
	}
	var all []rest.Operation
	for _, f := range icmForms {
		note := ""
		if f.deprecated {
			note = ", under its deprecated path"
		}
		all = append(all,
			rest.Operation{ID: "list" + f.name + "Messages", Path: f.path + "/messages", Summary: "List cross-chain messages, newest first" + note,
				Deprecated: f.deprecated, Params: data.JoinParams(rest.Paging(10, 100), filters), Answer: f.many, Handle: a.listMessages(f)},
			rest.Operation{ID: "get" + f.name + "Message", Path: f.path + "/messages/{messageId}", Summary: "Get a cross-chain message" + note,
				Deprecated: f.deprecated, Params: data.JoinParams(rest.Param{Name: "messageId", Kind: schema.KindHash}), Networks: a.networkOfMessage,
				Answer: f.one, Handle: a.getMessage(f)},
			rest.Operation{ID: "list" + f.name + "MessagesByAddress", Path: f.path + "/addresses/{address}/messages",
				Summary: "List the cross-chain messages from or to an address" + note, Deprecated: f.deprecated,
				Params: data.JoinParams(data.AddressParam, data.NetworkParam, rest.Paging(10, 100)), Answer: f.many, Handle: a.listMessages(f)})
	}
	return all
}

// listMessages serves both lists; the list by address has no other filters.
func (a *icmAPI) listMessages(form icmForm) func(*rest.Request) (any, error) {
	return func(r *rest.Request) (any, error) {
		filter, none := a.messageFilter(r)
		if none {
			return form.page("", nil), nil
		}
		before, err := a.messageMark(r)
		if err != nil {
			return nil, err
		}
		rows, err := a.World.DB.Messages(r.Context(), filter, before, r.PageSize()+1)
		if err != nil {
			return nil, err
		}
		rows, next := data.CutPage(r, rows, pageMark)
		messages, err := a.messages(r, rows)
		if err != nil {
			return nil, err
		}
		return form.page(next, messages), nil
	}
}

func (a *icmAPI) getMessage(form icmForm) func(*rest.Request) (any, error) {
	return func(r *rest.Request) (any, error) {
		id := r.Hash("messageId")
		row, err := a.World.DB.MessageByHash(r.Context(), id[:])
		if err != nil {
			return nil, data.OrNotFound(err, rest.NotFound("message %s does not exist", id))
		}
		messages, err := a.messages(r, []store.Message{*row})
		if err != nil {
			return nil, err
		}
		return form.show(messages[0]), nil
	}
}

// networkOfMessage returns the network of the message that a request names.
func (a *icmAPI) networkOfMessage(r *rest.Request) []string {
	id := r.Hash("messageId")
	row, err := a.World.DB.MessageByHash(r.Context(), id[:])
	if err != nil {
		return nil // the handler reports it
	}
	if c := a.World.ChainAt(row.ID); c != nil {
		return []string{c.Row.Network}
	}
	return []string{""}
}
