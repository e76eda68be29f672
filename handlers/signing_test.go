// make bench: the signature aggregator.

package handlers_test

import (
	"encoding/hex"
	"fmt"
	"math/bits"
	"net/http"
	"time"

	"snowglobe/sim/warp"
)

// crowd is a world in which more than a thousand nodes validate mainnet's primary network.
const crowd = `name: crowd
days: 10
chains: 2
transactions: 400
validators: 4000
delegators: 60
l1Validators: 12
primaryTransactions: 5000
`

const signings = 200

// signing measures the signature aggregator, one request after another, each with its own message.
func (r *report) signing() {
	p := r.serve("--db", r.world(r.write("crowd.yaml", crowd)))
	defer p.stop()
	message := r.signed(p, 0)
	signers := 0
	for _, b := range message.Signature.Signers {
		signers += bits.OnesCount8(b)
	}
	took := make([]time.Duration, signings)
	for i := range took {
		begin := time.Now()
		r.signed(p, i+1)
		took[i] = time.Since(begin)
	}
	r.table("signature aggregator, warm\tsigners\tp50 ms\tbudget", func(row func(string, ...any)) {
		row("C-Chain, all who answer\t%d\t%.2f\t%s", signers, milliseconds(median(took)), budget("aggregate signature of more than a thousand validators"))
	})
}

// signed lets every validator that answers sign the n-th message.
func (r *report) signed(p *process, n int) *warp.Message {
	body := fmt.Sprintf(`{"message":"0000000000010427d4b22a2a78bcddd456742caf91b56badbff985ee19aef14573e7343fd65200000004%08x","quorumPercentage":1,"quorumPercentageBuffer":99}`, n)
	var answer struct{ SignedMessage string }
	r.ask(p, request{http.MethodPost, "/v1/signatureAggregator/mainnet/aggregateSignatures", body}, &answer)
	raw, err := hex.DecodeString(answer.SignedMessage)
	if err != nil {
		r.b.Fatal(err)
	}
	m, err := warp.ParseMessage(raw)
	if err != nil {
		r.b.Fatal(err)
	}
	return m
}
