package web

import (
	"fmt"
	"html/template"
	"slices"
)

// validation is what one staking transaction began. A validator that renews itself (ACP-236) goes through cycles, listed newest first.
type validation struct {
	Newest  any     // as the Data API shows it
	Cycles  []cycle // none unless it renews itself
	Current any     // as the node's API shows it while it validates
}

// cycle is one period of a validator that renews itself.
type cycle struct {
	Is                  any   // as the Data API shows it
	Active, Rewarded    bool  // Rewarded only once it has ended
	Restaked, Withdrawn int64 // at its end
}

// validations groups a node's validations by staking transaction. The Data API lists cycles like other validations, so the transaction that
// ended the last one tells whether the validator renewed itself, and what was paid at the end.
func (v *primaryView) validations() ([]*validation, error) {
	var all []*validation
	cycles := map[string][]any{} // of a staking transaction
	for _, is := range list(dig(v.page.Got["validators"], "validators")) {
		tx := text(dig(is, "txHash"))
		if cycles[tx] == nil {
			all = append(all, &validation{Newest: is})
		}
		cycles[tx] = append(cycles[tx], is)
	}
	var ends []*Call
	for _, one := range all {
		if tx := endedBy(one.Newest); tx != "" {
			ends = append(ends, v.call(tx, "/transactions/%s", tx).opt())
		}
	}
	if err := v.page.load(ends...); err != nil {
		return nil, err
	}
	for _, one := range all {
		tx := text(dig(one.Newest, "txHash"))
		for _, current := range list(dig(v.page.Got["current"], "validators")) {
			if text(dig(current, "txID")) == tx {
				one.Current = current
			}
		}
		end := v.page.Got[endedBy(one.Newest)]
		if dig(one.Current, "nextPeriod") == nil && (end == nil || text(dig(end, "txType")) == "RewardValidatorTx") {
			continue
		}
		for i, is := range cycles[tx] {
			c := cycle{Is: is, Active: text(dig(is, "validationStatus")) == "active"}
			earned := integer(dig(is, "rewards", "validationRewardAmount"))
			c.Rewarded = !c.Active && earned > 0
			earned += integer(dig(is, "rewards", "delegationRewardAmount"))
			if i > 0 {
				c.Restaked = integer(dig(cycles[tx][i-1], "amountStaked")) - integer(dig(is, "amountStaked"))
				c.Withdrawn = earned - c.Restaked
			} else {
				for _, u := range list(dig(end, "emittedUtxos")) {
					c.Withdrawn += integer(dig(u, "asset", "amount"))
				}
			}
			one.Cycles = append(one.Cycles, c)
		}
	}
	return all, nil
}

// endedBy returns the transaction that ended a validation of the primary network, "" if none has.
func endedBy(validation any) string {
	if text(dig(validation, "validationStatus")) != "completed" {
		return ""
	}
	return text(dig(validation, "rewards", "rewardTxHash"))
}

// Timeline draws cycles from the first start to the last end, a segment for each.
func (v *primaryView) Timeline(cycles []cycle) template.HTML {
	const width = 720
	from, to := integer(dig(cycles[len(cycles)-1].Is, "startTimestamp")), integer(dig(cycles[0].Is, "endTimestamp"))
	place := func(unix int64) float64 { return float64(unix-from) * width / float64(max(to-from, 1)) }
	shown := fmt.Sprintf(`<svg class="bar" viewBox="0 0 %d 16" width="100%%" height="16" preserveAspectRatio="none" role="img" aria-label="%d cycles">`, width, len(cycles))
	segment := func(class string, from, to int64) {
		const gap = 1.5 // between cycles
		shown += fmt.Sprintf(`<rect class="%s" x="%.1f" y="4" width="%.1f" height="8"/>`, class, place(from), max(place(to)-place(from)-gap, 0.5))
	}
	for _, c := range slices.Backward(cycles) {
		start, end := integer(dig(c.Is, "startTimestamp")), integer(dig(c.Is, "endTimestamp"))
		switch {
		case c.Active:
			segment("rest", start, end)
			segment("done", start, min(v.page.now, end))
		case c.Rewarded:
			segment("done", start, end)
		default:
			segment("lost", start, end)
		}
	}
	if v.page.now <= to {
		shown += fmt.Sprintf(`<path class="now" d="M%.1f 0V16"/>`, place(v.page.now))
	}
	return template.HTML(shown + "</svg>")
}
