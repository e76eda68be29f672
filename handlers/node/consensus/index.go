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

// Container is the bytes of a block or transaction with its position in the order of acceptance.
type Container struct {
	ID    ids.ID
	Bytes []byte
	Time  int64 // Unix seconds
}

// Accepted iterates over everything of one kind that a chain accepted, in order and without the genesis.
type Accepted interface {
	// Count returns the number of containers.
	Count(context.Context) (uint64, error)
	// Range reads containers from an index on; they must exist.
	Range(ctx context.Context, first, count uint64) ([]Container, error)
	// Index returns the index of the container with an id, or store.ErrNotFound.
	Index(context.Context, ids.ID) (uint64, error)
}

// maxContainers is the largest range.
const maxContainers = 1024

// Index implements the node's index of a chain: avalanchego's indexer.service, with its errors.
type Index struct{ accepted Accepted }

// NewIndex serves an index of accepted containers.
func NewIndex(a Accepted) *Index { return &Index{a} }

// FormattedContainer is a container as text.
type FormattedContainer struct {
	ID        ids.ID           `json:"id"`
	Bytes     string           `json:"bytes"`
	Timestamp time.Time        `json:"timestamp"`
	Encoding  jsonrpc.Encoding `json:"encoding"`
	Index     jsonrpc.Uint64   `json:"index"`
}

// EncodingArgs holds the arguments of getLastAccepted.
type EncodingArgs struct {
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// ContainerIndexArgs names a container by its index.
type ContainerIndexArgs struct {
	Index    jsonrpc.Uint64   `json:"index"`
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// ContainerRangeArgs names a range of containers.
type ContainerRangeArgs struct {
	StartIndex jsonrpc.Uint64   `json:"startIndex"`
	NumToFetch jsonrpc.Uint64   `json:"numToFetch"`
	Encoding   jsonrpc.Encoding `json:"encoding"`
}

// ContainerRangeReply is a range of containers.
type ContainerRangeReply struct {
	Containers []FormattedContainer `json:"containers"`
}

// ContainerArgs names a container by its id.
type ContainerArgs struct {
	ID       ids.ID           `json:"id"`
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// IndexReply is an index.
type IndexReply struct {
	Index jsonrpc.Uint64 `json:"index"`
}

// IsAcceptedReply reports whether the chain accepted a container.
type IsAcceptedReply struct {
	IsAccepted bool `json:"isAccepted"`
}

var (
	errNoneAccepted = errors.New("no containers have been accepted")
	errNotFound     = errors.New("not found")
)

// GetLastAccepted returns the newest container.
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

// GetContainerByIndex returns the container at an index.
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

// GetContainerRange returns the containers from an index on.
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

// GetIndex returns the index of a container.
func (x *Index) GetIndex(r *http.Request, args *ContainerArgs, reply *IndexReply) error {
	index, err := x.index(r.Context(), args.ID)
	reply.Index = jsonrpc.Uint64(index)
	return err
}

// IsAccepted reports whether the chain accepted a container.
func (x *Index) IsAccepted(r *http.Request, args *ContainerArgs, reply *IsAcceptedReply) error {
	_, err := x.index(r.Context(), args.ID)
	if errors.Is(err, errNotFound) {
		return nil
	}
	reply.IsAccepted = err == nil
	return err
}

// GetContainerByID returns the container with an id.
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
