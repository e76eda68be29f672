package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/ava-labs/libevm/common/hexutil"
)

// client is the URL of a JSON-RPC server.
type client string

type question struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

type answer struct {
	ID     int
	Result json.RawMessage
	Error  *struct{ Message string }
}

// ask calls one method.
func (c client) ask(ctx context.Context, result any, method string, params ...any) error {
	var a answer
	if err := c.post(ctx, question{"2.0", 1, method, append([]any{}, params...)}, &a); err != nil {
		return err
	}
	if a.Error != nil {
		return fmt.Errorf("%s: %s", method, a.Error.Message)
	}
	return json.Unmarshal(a.Result, result)
}

// rawBlocks asks for the bytes of consecutive blocks.
func (c client) rawBlocks(ctx context.Context, first, last uint64) ([]hexutil.Bytes, error) {
	var questions []question
	for n := first; n <= last; n++ {
		questions = append(questions, question{"2.0", len(questions), "debug_getRawBlock", []any{hexutil.EncodeUint64(n)}})
	}
	var answers []answer
	if err := c.post(ctx, questions, &answers); err != nil {
		return nil, err
	}
	blocks := make([]hexutil.Bytes, len(questions))
	for _, a := range answers {
		if a.Error != nil || a.ID < 0 || a.ID >= len(blocks) {
			return nil, fmt.Errorf("block %d: %+v", first+uint64(a.ID), a.Error)
		}
		if err := json.Unmarshal(a.Result, &blocks[a.ID]); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

func (c client) post(ctx context.Context, body, result any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(c), bytes.NewReader(raw))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(result)
}
