package verify

import (
	"bytes"
	"context"
	"fmt"

	"snowglobe/sim"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
)

// verifyOperations makes the file of every export again and compares it with the stored one.
func verifyOperations(ctx context.Context, w *sim.World, found Findings) error {
	rows, err := w.DB.OperationDigests(ctx, w.Operations())
	if err != nil {
		return err
	}
	for _, row := range rows {
		o, err := w.DB.Operation(ctx, row.ID)
		if err != nil {
			return err
		}
		if !bytes.Equal(o.Digest(), row.Digest) {
			return fmt.Errorf("operation %d: its digest is %x, it should be %x", o.ID, row.Digest, o.Digest())
		}
		if name := export.OperationUUID(w, o.ID); !bytes.Equal(o.UUID, name[:]) {
			return fmt.Errorf("operation %d: its name is %x, it should be %x", o.ID, o.UUID, name[:])
		}
		if err := verifyFile(ctx, w, o); err != nil {
			return fmt.Errorf("operation %d: %w", o.ID, err)
		}
		found["operation"].Add(1)
		found["chunk"].Add(int64(o.Chunks))
	}
	return nil
}

// verifyFile compares the stored chunks and the operation's row with those that its request leads to.
func verifyFile(ctx context.Context, w *sim.World, o *store.Operation) error {
	last := store.ChunkInfo{}
	if o.Chunks > 0 {
		scope, err := export.ParseScope(o.Request)
		if err != nil {
			return err
		}
		again, err := export.NewChunker(ctx, w, scope.Before(o.Next), o.ID, nil)
		if err != nil {
			return err
		}
		for n := range o.Chunks {
			step, err := again.Next(ctx)
			if err != nil {
				return err
			}
			chunk, err := w.DB.Chunk(ctx, o.ID, n)
			if err != nil {
				return fmt.Errorf("chunk %d: %w", n, err)
			}
			if err := verifyChunk(chunk, step, last.Digest); err != nil {
				return fmt.Errorf("chunk %d: %w", n, err)
			}
			if o.Status != store.OperationRunning && n == o.Chunks-1 && !step.Last {
				return fmt.Errorf("it is %s, but its file goes on", o.Status)
			}
			last = chunk.ChunkInfo
		}
	}
	if told := export.WithChunks(*o, o.Chunks, last); !bytes.Equal(told.Digest(), o.Digest()) {
		return fmt.Errorf("it does not tell of its file what is there: %+v", last)
	}
	return nil
}

// verifyChunk compares a chunk with the one made again.
func verifyChunk(have *store.Chunk, step *export.Step, before []byte) error {
	if step.Chunk == nil {
		return fmt.Errorf("the file ended before it")
	}
	sealed, want := *have, step.Chunk.ChunkInfo
	sealed.Seal(before)
	if !bytes.Equal(sealed.Digest, have.Digest) {
		return fmt.Errorf("digest is %x, it should be %x", have.Digest, sealed.Digest)
	}
	want.Stored, want.Digest = have.Stored, nil // another compressor may pack the same bytes differently
	piece := have.ChunkInfo
	piece.Digest = nil
	if fmt.Sprint(piece) != fmt.Sprint(want) {
		return fmt.Errorf("it is %+v, it should be %+v", piece, want)
	}
	return export.Same(have, step.Chunk)
}
