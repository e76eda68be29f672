package search

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"snowglobe/handlers/fault"
)

// DefaultCorpus is the file that keeps schedules unless the user names another one.
const DefaultCorpus = "snowglobe-schedules.txt"

// ReadCorpus reads the schedules of a file; none if the file doesn't exist.
func ReadCorpus(path string) ([]fault.List, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lists, err := fault.ParseLists(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lists, nil
}

// Keep adds a schedule to a file, with a comment, unless it is already there.
func Keep(path string, list fault.List, comment string) error {
	known, err := ReadCorpus(path)
	if err != nil || slices.ContainsFunc(known, func(l fault.List) bool { return l.ID() == list.ID() }) {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "# %s\n%s\n", strings.ReplaceAll(comment, "\n", " "), list)
	return errors.Join(err, file.Close())
}

// Named finds a schedule: the only one in a file, or one in the corpus by the beginning of its id.
func Named(name, corpus string) (fault.List, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		lists, err := ReadCorpus(name)
		if err == nil && len(lists) != 1 {
			err = fmt.Errorf("%s has %d schedules: choose one by its id, with --corpus %s", name, len(lists), name)
		}
		if err != nil {
			return nil, err
		}
		return lists[0], nil
	}
	lists, err := ReadCorpus(corpus)
	if err != nil {
		return nil, err
	}
	for _, l := range lists {
		if name != "" && strings.HasPrefix(l.ID(), name) {
			return l, nil
		}
	}
	return nil, fmt.Errorf("%q is neither a file nor the id of a schedule in %s, which has %d", name, corpus, len(lists))
}
