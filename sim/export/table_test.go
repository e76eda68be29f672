package export

import "testing"

// TestNoCellIsAFormula: a token's name that a spreadsheet would run becomes text, and all other values are unchanged.
func TestNoCellIsAFormula(t *testing.T) {
	names := table[string]{{Column{"TokenName", "name"}, func(s *string) string { return *s }}}
	for name, want := range map[string]string{
		"": "", "Tether": "Tether", "a=b": "a=b", "é": "é", "-12.5": "-12.5", "+7": "+7",
		`=HYPERLINK("http://x","y")`: `"'=HYPERLINK(""http://x"",""y"")"`, "@SUM(1)": "'@SUM(1)", "+1+cmd": "'+1+cmd", "-": "'-", "-2+3": "'-2+3",
		"\t=1": "'\t=1", "\r=1": "\"'\r=1\"", "\n=1": "\"'\n=1\"", "＝1": "'＝1", "＠x": "'＠x", "-1e9": "'-1e9",
	} {
		if have := string(names.line(nil, &name)); have != want+lineEnd {
			t.Errorf("%q is written as %q", name, have)
		}
	}
}
