// Complete answers, headers included, for the tests that compare them.

package handlers_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"time"
)

// connection is a client that keeps its connection and does little else. net/http's client needs as much time for a request as a server does, so we
// would measure the client.
type connection struct {
	net.Conn
	reader *bufio.Reader
	body   bytes.Buffer
}

func dial(address string) (*connection, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, reader: bufio.NewReaderSize(conn, 64<<10)}, conn.SetDeadline(time.Now().Add(patience))
}

// ask sends a request and reads the whole answer, headers included.
func (c *connection) ask(request []byte) (answer, error) {
	if _, err := c.Write(request); err != nil {
		return answer{}, err
	}
	got, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return answer{}, err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if got.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s: %s", got.Status, body)
	}
	return answer{Header: got.Header, Body: body}, err
}

// expect sends a request and compares the answer's body.
func (c *connection) expect(e exchange) error {
	if _, err := c.Write(e.request); err != nil {
		return err
	}
	c.body.Reset()
	if err := c.receive(); err != nil {
		return err
	}
	if e.want == nil && bytes.Contains(c.body.Bytes(), []byte(`"error":`)) {
		return fmt.Errorf("no result: %.200s", c.body.Bytes())
	}
	if e.want != nil && !bytes.Equal(c.body.Bytes(), e.want) {
		return fmt.Errorf("another answer than the first: %.200s", c.body.Bytes())
	}
	return nil
}

var (
	statusOK      = []byte("HTTP/1.1 200 ")
	contentLength = []byte("content-length: ")
	chunked       = []byte("Transfer-Encoding: chunked")
)

// receive reads an answer into the connection's body.
func (c *connection) receive() error {
	status, err := c.reader.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(status, statusOK) {
		return fmt.Errorf("status %s", status)
	}
	length, inChunks := int64(-1), false
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) == 0 && inChunks:
			return c.receiveChunks()
		case len(line) == 0:
			_, err = io.CopyN(&c.body, c.reader, length)
			return err
		case len(line) > len(contentLength) && bytes.EqualFold(line[:len(contentLength)], contentLength):
			if length, err = strconv.ParseInt(string(line[len(contentLength):]), 10, 64); err != nil {
				return err
			}
		case bytes.Equal(line, chunked):
			inChunks = true
		}
	}
}

func (c *connection) receiveChunks() error {
	if _, err := c.body.ReadFrom(httputil.NewChunkedReader(c.reader)); err != nil {
		return err
	}
	_, err := textproto.NewReader(c.reader).ReadLine() // the end of the trailer
	return err
}
