package handlers

import (
	"encoding/json"
	"fmt"
	"io"
)

// Output is where a verb writes what it was asked for, and in which form.
type Output struct {
	io.Writer
	JSON bool
}

// Print writes a line of text, or the value that says the same as JSON.
func (o *Output) Print(text string, value any) error {
	if o.JSON {
		return json.NewEncoder(o).Encode(value)
	}
	_, err := fmt.Fprintln(o, text)
	return err
}
