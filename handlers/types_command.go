package handlers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"snowglobe/handlers/control"
	"snowglobe/handlers/names"
	"snowglobe/sim"
)

// typesFlags lists the flags that only the verb types has.
var typesFlags = []string{string(names.TypeScript), string(names.Go), string(names.Python), "world"}

// Types holds the flags of the verb types: the language, and the world whose names it writes.
type Types struct {
	flags  *pflag.FlagSet
	wanted map[names.Language]*bool
	world  *string
}

// NewTypes declares the verb's flags, in addition to those of the world.
func NewTypes(f *pflag.FlagSet) *Types {
	t := &Types{flags: f, wanted: map[names.Language]*bool{}}
	for language, name := range map[names.Language]string{names.TypeScript: "TypeScript", names.Go: "Go", names.Python: "Python"} {
		t.wanted[language] = f.Bool(string(language), false, "write "+name)
	}
	t.world = f.String("world", "", "`FILE` of the world: its database, or the YAML file that describes it")
	return t
}

// Read sets the flag that --world stands for. It returns an error unless exactly one language is chosen.
func (t *Types) Read(chosen map[string]bool) error {
	if _, err := t.language(); err != nil || *t.world == "" {
		return err
	}
	database, err := isDatabase(*t.world)
	if err != nil {
		return fmt.Errorf("--world: %w", err)
	}
	name := "profile"
	if database {
		name = "db"
	}
	if chosen[name] {
		return fmt.Errorf("--world cannot be combined with --%s", name)
	}
	chosen[name] = true
	return t.flags.Set(name, *t.world)
}

// isDatabase reports whether a file is a SQLite database: https://www.sqlite.org/fileformat.html#magic_header_string.
func isDatabase(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	magic := []byte("SQLite format 3\x00")
	head := make([]byte, len(magic))
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return bytes.Equal(head[:n], magic), nil
}

func (t *Types) language() (chosen names.Language, err error) {
	for language, wanted := range t.wanted {
		if !*wanted {
			continue
		}
		if chosen != "" {
			return "", errors.New("types: choose only one of --ts, --go and --py")
		}
		chosen = language
	}
	if chosen == "" {
		return "", errors.New("types: choose --ts, --go or --py")
	}
	return chosen, nil
}

// Write writes the world's names.
func (t *Types) Write(ctx context.Context, w *sim.World, out io.Writer) error {
	language, err := t.language()
	if err != nil {
		return err
	}
	described, contracts, err := control.Names(ctx, w)
	if err != nil {
		return err
	}
	return names.Write(out, language, described, contracts)
}
