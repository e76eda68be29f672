package icm_test

import (
	"testing"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/reader"
)

// TestAMessageThatIsSentAgainKeepsItsIdentity resends one of each chain that has no receipt yet.
func TestAMessageThatIsSentAgainKeepsItsIdentity(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 5))
	for _, c := range g.Chains {
		sendAgain(t, g, c, datatest.NewSender(t, g, c))
	}
}

// sendAgain resends a message that has no receipt yet.
func sendAgain(t *testing.T, g *datatest.Globe, c *reader.Chain, s *datatest.Sender) {
	t.Helper()
	messenger, err := contracts.Load("Messenger")
	if err != nil {
		t.Fatal(err)
	}
	before := icmMessages(t, g, "/v1/icm/messages")
	sent, _ := logged(t, g, c)
	for _, m := range before {
		log := sent[m["messageId"].(string)]
		if log == nil || m["receiptDelivered"] == true {
			continue
		}
		data, err := messenger.ABI.Pack("retrySendCrossChainMessage", log.Message)
		if err != nil {
			t.Fatal(err)
		}
		s.Send(&fixtures.TeleporterMessenger, nil, data)
		if after := icmMessages(t, g, "/v1/icm/messages"); datatest.Encode(after) != datatest.Encode(before) {
			t.Errorf("chain %d: %d messages, %d when %s was sent again", c.Row.EVMID, len(before), len(after), log.ID)
		}
		return
	}
	t.Errorf("chain %d: every message has a receipt", c.Row.EVMID)
}
