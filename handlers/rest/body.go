package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"snowglobe/handlers/rest/schema"
)

// mostValues is several times the number that any body needs. A value takes a hundred times the memory and the time of the two bytes that
// encode it.
const mostValues = 20_000

var comma = []byte{','}

// readBody decodes the JSON body that the operation declares. It reports all problems in one 400.
func (op *operation) readBody(c *requestContext, hr *http.Request) (body any, raw []byte, problems []string, err error) {
	if op.Body == nil {
		return nil, nil, nil, nil
	}
	if coding := hr.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, nil, nil, sentence(http.StatusUnsupportedMediaType, fmt.Sprintf("content-encoding %q is not supported: send the body as it is", schema.Shorten(coding)))
	}
	raw, err = c.readAll(hr)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		if op.BodyOptional {
			return reflect.New(op.Body).Interface(), nil, nil, nil
		}
		return nil, nil, []string{"the body is empty: expected a JSON object"}, nil
	}
	if err := checkContentType(hr.Header.Get("Content-Type")); err != nil {
		return nil, nil, nil, err
	}
	body, problems, err = op.decode(c.server.schemas(schema.Spec), raw)
	return body, raw, problems, err
}

func (c *requestContext) readAll(hr *http.Request) ([]byte, error) {
	most := c.server.opts.MaxBody
	raw, err := io.ReadAll(http.MaxBytesReader(c, hr.Body, most))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, sentence(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", most))
	}
	if err != nil {
		return nil, BadRequest("the body is incomplete")
	}
	c.KeepBody(raw)
	return raw, nil
}

// checkContentType takes a body without a type for JSON, because some clients omit the type.
func checkContentType(text string) error {
	if text == "" {
		return nil
	}
	kind, params, err := mime.ParseMediaType(text)
	charset := params["charset"]
	if err != nil || kind != "application/json" || (charset != "" && !strings.EqualFold(charset, "utf-8")) {
		return unsupportedMedia(text)
	}
	return nil
}

func (op *operation) decode(d *schema.Schemas, raw []byte) (any, []string, error) {
	if bytes.Count(raw, comma) > mostValues {
		return nil, []string{fmt.Sprintf("the body has more than %d values", mostValues)}, nil
	}
	var loose any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&loose); err != nil {
		return nil, []string{"the body is not JSON: " + err.Error()}, nil
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, []string{"the body continues after its JSON value"}, nil
	}
	if problems := d.Check(op.Body, loose, op.Strict); len(problems) > 0 {
		return nil, problems, nil
	}
	known, err := json.Marshal(schema.DigitsOnly(loose))
	if err != nil {
		return nil, nil, err
	}
	body := reflect.New(op.Body).Interface()
	if err := json.Unmarshal(known, body); err != nil {
		return nil, []string{"the body has a number that is out of its range"}, nil
	}
	return body, nil, nil
}
