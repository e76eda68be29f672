package verify

import (
	"bytes"
	"context"
	"fmt"
	"reflect"

	"snowglobe/sim"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
)

// verifyOperations makes the file of every export again.
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
			return fmt.Errorf("operation %d: its digest is %x, but should be %x", o.ID, row.Digest, o.Digest())
		}
		if name := export.OperationUUID(w, o.ID); !bytes.Equal(o.UUID, name[:]) {
			return fmt.Errorf("operation %d: its name is %x, but should be %x", o.ID, o.UUID, name[:])
		}
		if err := verifyFile(ctx, w, o); err != nil {
			return fmt.Errorf("operation %d: %w", o.ID, err)
		}
		found["operation"].Add(1)
	}
	return nil
}

// verifyFile compares an operation's row with the file that its request leads to.
func verifyFile(ctx context.Context, w *sim.World, o *store.Operation) error {
	if !o.Complete() {
		return nil
	}
	scope, err := export.ParseScope(o.Request)
	if err != nil {
		return err
	}
	file, err := export.Measure(ctx, w, scope, nil)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(o.ExportFile, file) {
		return fmt.Errorf("its file is %+v, but should be %+v", o.ExportFile, file)
	}
	return nil
}
