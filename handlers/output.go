package handlers

import (
	"encoding/json"
	"fmt"
	"io"
)

// Output is the destination and the format of a verb's result.
type Output struct {
	io.Writer
	JSON bool
}

// Print writes a line of text, or the equivalent value as JSON.
func (o *Output) Print(text string, value any) error {
	if o.JSON {
		return json.NewEncoder(o).Encode(value)
	}
	_, err := fmt.Fprintln(o, text)
	return err
}
