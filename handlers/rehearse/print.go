package rehearse

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
)

// Print writes the report for people.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "rehearsal of %s: before is %s, after is %s\n", r.Change.Name, r.Change.Before, r.Change.After)
	fmt.Fprintf(&b, "before: exit code %d, %s; after: exit code %d, %s\n", r.Codes[0], counted(r.Requests[0]), r.Codes[1], counted(r.Requests[1]))
	if len(r.Differences) == 0 {
		b.WriteString("\nNo answer differs because of the rules.\n")
	}
	last := ""
	for _, d := range r.Differences {
		if d.Request != last {
			fmt.Fprintf(&b, "\n%s\n", d.Request)
			last = d.Request
		}
		fmt.Fprintf(&b, "  %s: %s, then %s", cmp.Or(d.Field, "(the answer)"), d.Before, d.After)
		if d.Times > 1 {
			fmt.Fprintf(&b, " (%d times)", d.Times)
		}
		fmt.Fprintf(&b, "\n    %s: snowglobe help %s\n", d.Why, d.Page)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\nNote: %s\n", note)
	}
	if r.Same {
		b.WriteString("\nThe command behaves the same in both worlds.\n")
	} else {
		b.WriteString("\nThe command behaves differently:\n  " + strings.Join(r.Behaviour, "\n  ") + "\n")
	}
	if r.Last != "" {
		b.WriteString("The last request before it failed: " + r.Last + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func counted(n int) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

// JUnit's format, as far as CI systems read it (https://github.com/testmoapp/junitxml).
type (
	suite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Cases    []test   `xml:"testcase"`
	}
	test struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure,omitempty"`
		Output  string   `xml:"system-out,omitempty"`
	}
	failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as a JUnit file: a test of the command's behaviour, and one for each request whose answers differ.
func (r *Report) WriteJUnit(path string) error {
	s := suite{Name: "rehearsal of " + r.Change.Name}
	var all strings.Builder
	if err := r.Print(&all); err != nil {
		return err
	}
	command := test{Class: s.Name, Name: "the command behaves the same", Output: all.String()}
	if !r.Same {
		s.Failures, command.Failure = 1, &failure{r.Behaviour[0], strings.Join(r.Behaviour, "\n")}
	}
	s.Cases = append(s.Cases, command)
	for _, d := range r.Differences {
		line := fmt.Sprintf("%s: %s, then %s. %s\n", d.Field, d.Before, d.After, d.Why)
		if last := &s.Cases[len(s.Cases)-1]; last.Name == d.Request {
			last.Output += line
			continue
		}
		s.Cases = append(s.Cases, test{Class: s.Name, Name: d.Request, Output: line})
	}
	s.Tests = len(s.Cases)
	text, err := xml.MarshalIndent(s, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append([]byte(xml.Header), append(text, '\n')...), 0o644)
	}
	if err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}
