//go:build !race

// Searches, and the schedules they find, run from the command line.

package handlers_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/search"
)

func init() {
	roles["impatient"] = func() error { return payAndLook(0) }
	roles["patient"] = func() error { return payAndLook(40) }
	roles["observer"] = observe
	roles["payer"] = payAsAnnounced
	roles["rereader"] = readTwice
	roles["failing"] = func() error { return errors.New("it always fails") }
	roles["hanging"] = func() error { return hangIfRefused() }
}

// payAndLook pays through the node and looks for the transaction in the Data API. Only a patient client retries.
func payAndLook(patience int) error {
	url := os.Getenv("SNOWGLOBE_URL")
	ask := func(path, body string) (text []byte, err error) {
		for try := 0; ; try++ {
			var r *http.Response
			if body == "" {
				r, err = http.Get(url + path)
			} else {
				r, err = http.Post(url+path, "application/json", strings.NewReader(body))
			}
			if err == nil {
				text, err = io.ReadAll(r.Body)
				r.Body.Close()
				if r.StatusCode != http.StatusOK {
					err = fmt.Errorf("%s: %s", path, r.Status)
				}
			}
			if err == nil || try >= patience {
				return text, err
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	const rpc = "/ext/bc/C/rpc"
	text, err := ask(rpc, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction","params":[{"from":%q,"to":%q,"value":"0x1"}]}`, os.Getenv("SNOWGLOBE_ALICE_ADDRESS"), os.Getenv("SNOWGLOBE_BOB_ADDRESS")))
	if err != nil {
		return err
	}
	var sent struct{ Result string }
	if err := json.Unmarshal(text, &sent); err != nil {
		return err
	}
	text, err = ask("/v1/chains/43114/transactions/"+sent.Result, "")
	if err == nil && !bytes.Contains(text, []byte(sent.Result)) {
		err = fmt.Errorf("no transaction: %s", text)
	}
	return err
}

func hangIfRefused() error {
	r, err := http.Get(os.Getenv("SNOWGLOBE_URL") + "/v1/chains/43114")
	if err == nil && r.StatusCode == http.StatusOK {
		return nil
	}
	time.Sleep(time.Hour)
	return nil
}

// searchFor runs the search for a role of this binary.
func searchFor(t *testing.T, role, corpus string, flags ...string) (int, string, string) {
	t.Helper()
	folder := t.TempDir()
	c := command(t, append(append([]string{"search", "--corpus", corpus, "--json"}, flags...), "--", os.Args[0])...)
	c.Env = append(os.Environ(), roleVariable+"="+role, "TMPDIR="+folder)
	code, stdout, stderr := outcome(t, c)
	if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
		t.Errorf("the search has left %v, %v", left, err)
	}
	return code, stdout, stderr
}

// TestASearchFindsWhatACommandDoesNotSurvive: exec repeats the failure, the next search tries it first, and a patient client passes.
func TestASearchFindsWhatACommandDoesNotSurvive(t *testing.T) {
	t.Parallel()
	corpus := filepath.Join(t.TempDir(), "schedules.txt")
	folder := t.TempDir()
	code, stdout, stderr := searchFor(t, "impatient", corpus, "--runs", "60", "--artifacts", folder, "--upgrade", "helicon=never", "--upgrade", "fuji:helicon=now")
	var report search.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 1 || !report.Found || len(report.Faults) != 1 || report.Failure != "exit code 1" {
		t.Fatalf("exit %d, %s, %s, %v", code, stdout, stderr, err)
	}
	if !strings.HasPrefix(report.Again, "snowglobe exec --schedule "+report.Schedule+" --upgrade=helicon=never --upgrade=fuji:helicon=now --artifacts="+folder+" --corpus="+corpus+" -- ") {
		t.Errorf("again: %s", report.Again)
	}
	for range times(t, 8) {
		c := command(t, "exec", "--schedule", report.Schedule, "--corpus", corpus, "--", os.Args[0])
		c.Env = append(os.Environ(), roleVariable+"=impatient")
		if code, _, stderr := outcome(t, c); code != 1 {
			t.Errorf("exec with the schedule: exit %d, %s", code, stderr)
		}
	}
	code, stdout, _ = searchFor(t, "impatient", corpus, "--runs", "1")
	again := search.Report{}
	if err := json.Unmarshal([]byte(stdout), &again); err != nil || code != 1 || again.Schedule != report.Schedule || again.Run != 0 || again.Runs != 1 {
		t.Errorf("the next search: exit %d, %s", code, stdout)
	}
	if code, stdout, stderr := searchFor(t, "patient", corpus, "--runs", "20", "--reorg"); code != 0 || !strings.Contains(stdout, `"found":false`) {
		t.Errorf("a patient client: exit %d, %s, %s", code, stdout, stderr)
	}
}

// observe prints the state of the nodes.
func observe() error {
	answer, err := http.Get(os.Getenv("SNOWGLOBE_URL") + "/sim/node")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}

// TestBadWeatherIsSurvived runs exec with a schedule of network faults.
func TestBadWeatherIsSurvived(t *testing.T) {
	t.Parallel()
	corpus := filepath.Join(t.TempDir(), "schedules.txt")
	if err := search.Keep(corpus, fault.List{{Kind: "fee", Times: 1, On: "world", Key: "fee", Nth: 1}, {Kind: "settlement", Times: 1, On: "world", Key: "settlement", Nth: 1}, {Kind: "relay", Times: 1, On: "world", Key: "relay", Nth: 1}}, "weather"); err != nil {
		t.Fatal(err)
	}
	for role, said := range map[string]string{"patient": "", "observer": `"settlementLag":"15s","priceRise":15`} {
		c := command(t, "exec", "--schedule", corpus, "--", os.Args[0])
		c.Env = append(os.Environ(), roleVariable+"="+role)
		if code, stdout, stderr := outcome(t, c); code != 0 || !strings.Contains(stdout, said) {
			t.Errorf("bad weather for the %s: exit %d, %s, %s", role, code, stdout, stderr)
		}
	}
	if code, _, stderr := outcome(t, command(t, "exec", "--schedule", "ffff", "--corpus", corpus, "--", "true")); code != 2 || !strings.Contains(stderr, "--schedule: ") {
		t.Errorf("an unknown schedule: exit %d, %s", code, stderr)
	}
}

// readTwice reads the blocks of payments, and then at once the blocks of the same numbers. It prints how often both were the same.
func readTwice() error {
	for _, variable := range []string{"SNOWGLOBE_RPC_URL", "SNOWGLOBE_WS_URL"} {
		client, err := rpc.Dial(os.Getenv(variable))
		if err != nil {
			return err
		}
		for range 40 { // a busy server
			go func() {
				for client.Call(new(string), "eth_chainId") == nil {
				}
			}()
		}
		same := 0
		for range readings {
			var newest, now struct{ Number, Hash string }
			payment := map[string]string{"from": os.Getenv("SNOWGLOBE_ALICE_ADDRESS"), "to": os.Getenv("SNOWGLOBE_BOB_ADDRESS"), "value": "0x1"}
			if err := client.Call(new(string), "eth_sendTransaction", payment); err != nil {
				return err
			}
			if err := client.Call(&newest, "eth_getBlockByNumber", "latest", true); err != nil {
				return err
			}
			if err := client.Call(&now, "eth_getBlockByNumber", newest.Number, true); err != nil {
				return err
			}
			if newest.Hash == now.Hash {
				same++
			}
		}
		client.Close()
		fmt.Println(same)
	}
	return nil
}

const readings = 10

// TestAReorganisationIsOverWhenItsAnswerComes, so that what the client asks next never depends on which was quicker.
func TestAReorganisationIsOverWhenItsAnswerComes(t *testing.T) {
	t.Parallel()
	corpus := filepath.Join(t.TempDir(), "schedules.txt")
	var list fault.List
	for i := range 2 * readings {
		list = append(list, fault.Planned{Kind: "reorg", Times: 1, On: "eth_getBlockByNumber", Key: "*", Nth: 2*i + 1})
	}
	if err := search.Keep(corpus, list, "reorganisations"); err != nil {
		t.Fatal(err)
	}
	for schedule, want := range map[string]string{corpus: "0\n0\n", "": fmt.Sprintf("%d\n%[1]d\n", readings)} {
		c := command(t, "exec", "--schedule", schedule, "--", os.Args[0])
		c.Env = append(os.Environ(), roleVariable+"=rereader")
		if code, stdout, stderr := outcome(t, c); code != 0 || stdout != want {
			t.Errorf("schedule %q: exit %d, %q are the same, %s", schedule, code, stdout, stderr)
		}
	}
}

// payAsAnnounced offers what the node asks for gas, and waits for the receipt.
func payAsAnnounced() error {
	ask := func(method, params string, into any) error {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":[%s]}`, method, params)
		r, err := http.Post(os.Getenv("SNOWGLOBE_RPC_URL"), "application/json", strings.NewReader(body))
		if err != nil {
			return err
		}
		defer r.Body.Close()
		return json.NewDecoder(r.Body).Decode(into)
	}
	var price, sent struct{ Result string }
	if err := ask("eth_gasPrice", "", &price); err != nil {
		return err
	}
	payment := fmt.Sprintf(`{"from":%q,"to":%q,"gasPrice":%q}`, os.Getenv("SNOWGLOBE_ALICE_ADDRESS"), os.Getenv("SNOWGLOBE_BOB_ADDRESS"), price.Result)
	if err := ask("eth_sendTransaction", payment, &sent); err != nil {
		return err
	}
	for begun := time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(50 * time.Millisecond) {
		var receipt struct{ Result *struct{} }
		if err := ask("eth_getTransactionReceipt", fmt.Sprintf("%q", sent.Result), &receipt); err != nil {
			return err
		}
		if receipt.Result != nil {
			fmt.Println(time.Since(begun).Milliseconds())
			return nil
		}
	}
	return errors.New("no receipt")
}

// TestAPaymentOfTheAnnouncedPriceWaits until the price has fallen again, and no longer, even if no other transaction follows.
func TestAPaymentOfTheAnnouncedPriceWaits(t *testing.T) {
	t.Parallel()
	corpus := filepath.Join(t.TempDir(), "schedules.txt")
	if err := search.Keep(corpus, fault.List{{Kind: "fee", Times: 1, On: "world", Key: "fee", Nth: 1}}, "a jump"); err != nil {
		t.Fatal(err)
	}
	for _, jumps := range []bool{false, true} {
		c := command(t, "exec", "--", os.Args[0])
		if jumps {
			c = command(t, "exec", "--schedule", corpus, "--", os.Args[0])
		}
		c.Env = append(os.Environ(), roleVariable+"=payer")
		code, stdout, stderr := outcome(t, c)
		var took int
		if _, err := fmt.Sscan(stdout, &took); err != nil || code != 0 || jumps != (took > 6_000) {
			t.Errorf("the price jumps: %t; exit %d, after %d ms, %s", jumps, code, took, stderr)
		}
	}
}

// TestASearchOfACommandThatFailsOrHangs: a failure without faults is an error, and a command that hangs has failed.
func TestASearchOfACommandThatFailsOrHangs(t *testing.T) {
	t.Parallel()
	corpus := filepath.Join(t.TempDir(), "schedules.txt")
	if code, _, stderr := searchFor(t, "failing", corpus); code != 1 || !strings.Contains(stderr, "fails without faults") || !strings.Contains(stderr, "it always fails") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if testing.Short() {
		t.Log("left out of a short run: a command that hangs")
		return
	}
	code, stdout, stderr := searchFor(t, "hanging", corpus, "--runs", "40")
	if code != 1 || !strings.Contains(stdout, "it did not end within") {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
	missing := filepath.Join(t.TempDir(), "missing", "schedules.txt")
	code, stdout, stderr = searchFor(t, "impatient", missing, "--runs", "60")
	if code != 1 || !strings.Contains(stdout, `"found":true`) || !strings.Contains(stderr, "--corpus: the schedule could not be saved: ") || !strings.Contains(stderr, "\nschedule ") {
		t.Errorf("a corpus that cannot be written: exit %d, %s, %s", code, stdout, stderr)
	}
}
