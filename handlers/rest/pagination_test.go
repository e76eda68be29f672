package rest_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/rest"
	"snowglobe/sim"
)

func numbers(t *testing.T, s *rest.Server, target string) numberPage {
	t.Helper()
	w := get(t, s, target)
	var p numberPage
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 200 {
		t.Fatalf("%s: answer is %d %s", target, w.Code, w.Body)
	}
	return p
}

func TestPagingReturnsEveryItemOnce(t *testing.T) {
	s := newServer(t, nil)
	for _, size := range []int{1, 7, 10, 95, 100} {
		next, seen := "", 0
		for {
			p := numbers(t, s, fmt.Sprintf("/v1/numbers?pageSize=%d&pageToken=%s", size, next))
			for _, n := range p.Numbers {
				if seen++; n != seen {
					t.Fatalf("page size %d: item %d is %d", size, seen, n)
				}
			}
			if next = p.NextPageToken; next == "" {
				break
			}
		}
		if seen != lastNumber {
			t.Errorf("page size %d: %d items", size, seen)
		}
	}
	if w := get(t, s, "/v1/numbers?pageSize=95"); strings.Contains(w.Body.String(), "nextPageToken") {
		t.Errorf("last page has a token: %s", w.Body)
	}
}

func TestTokenLooksLikeUUIDAndIsStable(t *testing.T) {
	s, again := newServer(t, nil), newServer(t, nil)
	first := numbers(t, s, "/v1/numbers").NextPageToken
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(first) {
		t.Errorf("token is %q", first)
	}
	if second := numbers(t, again, "/v1/numbers/?rltoken=x").NextPageToken; second != first {
		t.Errorf("same request gives %q and %q", first, second)
	}
}

func TestTokensAreBoundToQueryWorldAndTime(t *testing.T) {
	clock := sim.NewClock(noon)
	s := newServer(t, func(o *rest.Options) { o.Clock = clock })
	other := newServer(t, func(o *rest.Options) { o.WorldKey = worldKey('o') })
	token := numbers(t, s, "/v1/numbers").NextPageToken
	foreign := numbers(t, other, "/v1/numbers").NextPageToken

	if p := numbers(t, s, "/v1/numbers?pageSize=3&pageToken="+token); p.Numbers[0] != 11 {
		t.Errorf("another page size begins at %d", p.Numbers[0])
	}
	cases := []struct{ target, message string }{
		{"/v1/numbers?pageToken=" + foreign, `was not issued by this world`},
		{"/v1/numbers?pageToken=9f9e1d25-14a9-49f4-8742-fd4bf12f7cd8", `was not issued by this world`},
		{"/v1/numbers?pageToken=9f9e1d25-14a9-19f4-0742-fd4bf12f7cd8", `was not issued by this world`},
		{"/v1/numbers?pageToken=2", `pageToken \"2\" is not allowed: expected the nextPageToken of an earlier answer`},
		{"/v1/numbers?pageToken=" + token + "-", `is not allowed: expected the nextPageToken of an earlier answer`},
		{"/v1/numbers?pageToken=" + token + "&pageToken=" + token, `pageToken is given 2 times`},
		{"/v1/others?pageToken=" + token, `belongs to another query`},
		{"/v1/numbers?status=failed&pageToken=" + token, `belongs to another query`},
	}
	for _, c := range cases {
		expect(t, get(t, s, c.target), 400, c.message)
	}
	expect(t, get(t, s, "/v1/numbers?pageToken="+strings.ToUpper(token)), 200, "[11,") // the same UUID
	clock.Set(noon.Add(24*time.Hour - time.Second))
	expect(t, get(t, s, "/v1/numbers?pageToken="+token), 200, "[11,")
	clock.Set(noon.Add(24 * time.Hour))
	expect(t, get(t, s, "/v1/numbers?pageToken="+token), 400, "has expired after 24 hours")
}
