package dbfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ErrNotWorld means that a file is not a world.
var ErrNotWorld = errors.New("the file is not a Snowglobe world")

// ErrVersion means that another generator version made the file.
var ErrVersion = errors.New("the file was made by another version of Snowglobe")

// Offsets in a database file's header, by SQLite's file format.
const (
	headerLength      = 100
	headerMagic       = "SQLite format 3\x00"
	headerPageSize    = 16
	headerVersion     = 60
	headerApplication = 68
)

// CheckHeader checks the application and the schema version in the header of the file itself, so that a foreign file stays untouched.
// Errors of the file system, such as a missing permission, pass through unchanged.
func CheckHeader(path string, application, schema uint32) error {
	if err := CheckKind(path); err != nil { // opening a named pipe would wait for a writer
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	header := make([]byte, headerLength)
	if _, err := io.ReadFull(file, header); err != nil || !strings.HasPrefix(string(header), headerMagic) ||
		binary.BigEndian.Uint32(header[headerApplication:]) != application {
		return ErrNotWorld
	}
	if version := binary.BigEndian.Uint32(header[headerVersion:]); version != schema {
		return fmt.Errorf("%w (schema %d, this one reads %d)", ErrVersion, version, schema)
	}
	return nil
}

// CheckKind returns ErrNotWorld for anything but a regular file.
func CheckKind(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: it is %s", ErrNotWorld, kindOf(info.Mode()))
	}
	return err
}

func kindOf(mode os.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&os.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&os.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
