package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"snowglobe/handlers/explain"
)

// printGas asks the server at a URL for its gas report, and prints it as a table.
func printGas(ctx context.Context, url string, w io.Writer) error {
	text, err := fetch(ctx, url+"/sim/gas")
	if err != nil {
		return err
	}
	var report explain.GasReport
	if err := json.Unmarshal(text, &report); err != nil {
		return err
	}
	if len(report.Functions) == 0 {
		_, err := fmt.Fprintln(w, "Gas: no transaction called a contract")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "contract\tfunction\tcalls\tfailed\tleast\tmedian\tmost\tcharged: least\tmedian\tmost\tchain")
	for _, f := range report.Functions {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Contract, f.Function, f.Calls, f.Failed, f.Used.Least, f.Used.Median, f.Used.Most,
			f.Charged.Least, f.Charged.Median, f.Charged.Most, f.ChainID)
	}
	if err := t.Flush(); err != nil || report.Left == 0 {
		return err
	}
	_, err = fmt.Fprintf(w, "%d older transactions are left out\n", report.Left)
	return err
}
