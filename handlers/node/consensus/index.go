package consensus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/store"
)

// Container is a block or transaction as bytes, with its place in the order of what its chain accepted.
type Container struct {
	ID    ids.ID
	Bytes []byte
	Time  int64 // Unix seconds
}

// Accepted is all that a chain accepted of a kind, in order: what was there at the genesis is not among it.
type Accepted interface {
	// Count is how many there are.
	Count(context.Context) (uint64, error)
	// Range reads those from one place on, which exist.
	Range(ctx context.Context, first, count uint64) ([]Container, error)
	// Index is the place of the one with an id, store.ErrNotFound for none.
	Index(context.Context, ids.ID) (uint64, error)
}

// maxContainers is how many a range may have.
const maxContainers = 1024

// Index has the methods of a node's index of a chain: avalanchego's indexer.service, with its errors.
type Index struct{ accepted Accepted }

// NewIndex answers for what was accepted.
func NewIndex(a Accepted) *Index { return &Index{a} }

// FormattedContainer is a container as text.
type FormattedContainer struct {
	ID        ids.ID           `json:"id"`
	Bytes     string           `json:"bytes"`
	Timestamp time.Time        `json:"timestamp"`
	Encoding  jsonrpc.Encoding `json:"encoding"`
	Index     jsonrpc.Uint64   `json:"index"`
}

// EncodingArgs are those of getLastAccepted.
type EncodingArgs struct {
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// ContainerIndexArgs name a container by its place.
type ContainerIndexArgs struct {
	Index    jsonrpc.Uint64   `json:"index"`
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// ContainerRangeArgs name several.
type ContainerRangeArgs struct {
	StartIndex jsonrpc.Uint64   `json:"startIndex"`
	NumToFetch jsonrpc.Uint64   `json:"numToFetch"`
	Encoding   jsonrpc.Encoding `json:"encoding"`
}

// ContainerRangeReply is a range.
type ContainerRangeReply struct {
	Containers []FormattedContainer `json:"containers"`
}

// ContainerArgs name a container by its id.
type ContainerArgs struct {
	ID       ids.ID           `json:"id"`
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// IndexReply is a place.
type IndexReply struct {
	Index jsonrpc.Uint64 `json:"index"`
}

// IsAcceptedReply says whether a container was accepted.
type IsAcceptedReply struct {
	IsAccepted bool `json:"isAccepted"`
}

var (
	errNoneAccepted = errors.New("no containers have been accepted")
	errNotFound     = errors.New("not found")
)

// GetLastAccepted answers the newest container.
func (x *Index) GetLastAccepted(r *http.Request, args *EncodingArgs, reply *FormattedContainer) error {
	count, err := x.accepted.Count(r.Context())
	if err != nil {
		return err
	}
	if count == 0 {
		return errNoneAccepted
	}
	return x.one(r.Context(), count-1, args.Encoding, reply)
}

// GetContainerByIndex answers the container at a place.
func (x *Index) GetContainerByIndex(r *http.Request, args *ContainerIndexArgs, reply *FormattedContainer) error {
	count, err := x.accepted.Count(r.Context())
	if err != nil {
		return err
	}
	if uint64(args.Index) >= count {
		return fmt.Errorf("no container at index %d", args.Index)
	}
	return x.one(r.Context(), uint64(args.Index), args.Encoding, reply)
}

// GetContainerRange answers the containers from a place on.
func (x *Index) GetContainerRange(r *http.Request, args *ContainerRangeArgs, reply *ContainerRangeReply) error {
	if args.NumToFetch < 1 || args.NumToFetch > maxContainers {
		return fmt.Errorf("numToFetch must be in [1,%d] but is %d", maxContainers, args.NumToFetch)
	}
	count, err := x.accepted.Count(r.Context())
	if err != nil {
		return err
	}
	if count == 0 {
		return errNoneAccepted
	}
	first := uint64(args.StartIndex)
	if first >= count {
		return fmt.Errorf("start index (%d) > last accepted index (%d)", first, count-1)
	}
	reply.Containers, err = x.read(r.Context(), first, min(uint64(args.NumToFetch), count-first), args.Encoding)
	return err
}

// GetIndex answers the place of a container.
func (x *Index) GetIndex(r *http.Request, args *ContainerArgs, reply *IndexReply) error {
	index, err := x.index(r.Context(), args.ID)
	reply.Index = jsonrpc.Uint64(index)
	return err
}

// IsAccepted answers whether there is a container.
func (x *Index) IsAccepted(r *http.Request, args *ContainerArgs, reply *IsAcceptedReply) error {
	_, err := x.index(r.Context(), args.ID)
	if errors.Is(err, errNotFound) {
		return nil
	}
	reply.IsAccepted = err == nil
	return err
}

// GetContainerByID answers the container with an id.
func (x *Index) GetContainerByID(r *http.Request, args *ContainerArgs, reply *FormattedContainer) error {
	index, err := x.index(r.Context(), args.ID)
	if err != nil {
		return err
	}
	return x.one(r.Context(), index, args.Encoding, reply)
}

func (x *Index) index(ctx context.Context, id ids.ID) (uint64, error) {
	index, err := x.accepted.Index(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		err = errNotFound
	}
	return index, err
}

func (x *Index) one(ctx context.Context, index uint64, encoding jsonrpc.Encoding, reply *FormattedContainer) error {
	all, err := x.read(ctx, index, 1, encoding)
	if err == nil {
		*reply = all[0]
	}
	return err
}

func (x *Index) read(ctx context.Context, first, count uint64, encoding jsonrpc.Encoding) ([]FormattedContainer, error) {
	rows, err := x.accepted.Range(ctx, first, count)
	if err != nil {
		return nil, err
	}
	all := make([]FormattedContainer, len(rows))
	for i, c := range rows {
		text, err := formatting.Encode(encoding, c.Bytes)
		if err != nil {
			return nil, err
		}
		all[i] = FormattedContainer{c.ID, text, time.Unix(c.Time, 0).UTC(), encoding, jsonrpc.Uint64(first + uint64(i))}
	}
	return all, nil
}
