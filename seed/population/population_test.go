package population

import (
	"bytes"
	"crypto/sha256"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
)

// source makes draws for one test.
func source(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 7)) }

// TestRandomnessIsKeyedByItsPurpose: a purpose always draws the same numbers, and another purpose or seed draws others.
func TestRandomnessIsKeyedByItsPurpose(t *testing.T) {
	if have, want := RNG(7).Hash("account", 3), sha256.Sum256([]byte("7/account/3")); have != want {
		t.Errorf("the hash of a purpose is %x: want %x", have, want)
	}
	draw := func(g RNG, parts ...any) [4]uint64 {
		r := g.For(parts...)
		return [4]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
	}
	if first, again := draw(1, "a", 2), draw(1, "a", 2); first != again {
		t.Error("the same purpose draws other numbers")
	}
	seen := map[[4]uint64]bool{}
	for _, numbers := range [][4]uint64{draw(1, "a"), draw(2, "a"), draw(-1, "a"), draw(1, "b"), draw(1, "a", 2), draw(1, 2, "a"), draw(1, "faker", "a")} {
		if seen[numbers] {
			t.Error("two purposes draw the same numbers")
		}
		seen[numbers] = true
	}
	if a, b := RNG(1).Faker("x", 1).Company(), RNG(1).Faker("x", 1).Company(); a != b {
		t.Errorf("a faker says %s, then %s", a, b)
	}
	if RNG(1).Faker("x").Uint64() != RNG(1).For("faker", "x").Uint64() {
		t.Error("fakers draw from another purpose than theirs")
	}
}

// TestDrawsKeepToTheirRanges draws often, and expects both ends of each range.
func TestDrawsKeepToTheirRanges(t *testing.T) {
	r := source(1)
	low, high := 0, 0
	for range 10_000 {
		switch n := Between(r, -2, 3); {
		case n < -2 || n > 3:
			t.Fatalf("%d is out of the range", n)
		case n == -2:
			low++
		case n == 3:
			high++
		}
	}
	if low < 1300 || high < 1300 {
		t.Errorf("the ends come %d and %d times of 10,000", low, high)
	}
	for _, percent := range []int{0, 1, 30, 99, 100} {
		hits := 0
		for range 20_000 {
			if Chance(r, percent) {
				hits++
			}
		}
		if math.Abs(float64(hits)/200-float64(percent)) > 1.5 || percent%100 == 0 && hits != 200*percent {
			t.Errorf("%d percent is true %d times of 20,000", percent, hits)
		}
	}
	amount := big.NewInt(1000)
	seen := map[int64]bool{}
	for range 1000 {
		seen[Fraction(r, amount, 10, 4).Int64()] = true
	}
	for n, want := range map[int64]bool{100: true, 250: true, 111: true, 99: false, 333: false, 1000: false} {
		if seen[n] != want {
			t.Errorf("a tenth to a quarter of 1000 may be %d: %v", n, seen[n])
		}
	}
	if amount.Int64() != 1000 {
		t.Error("the amount itself changed")
	}
	if have := Units(25, 18).String(); have != "25"+strings.Repeat("0", 18) || Units(3, 0).Int64() != 3 {
		t.Errorf("25 units of 18 decimals are %s", have)
	}
}

// TestSmallIndicesComeMoreOften compares with the cube of an even draw: half of all draws lie below an eighth.
func TestSmallIndicesComeMoreOften(t *testing.T) {
	r := source(2)
	const n, draws = 1000, 100_000
	below := 0
	for range draws {
		switch i := Skewed(r, n); {
		case i < 0 || i >= n:
			t.Fatalf("%d is no index", i)
		case i < n/8:
			below++
		}
	}
	if math.Abs(float64(below)/draws-0.5) > 0.01 {
		t.Errorf("%d of %d draws are below an eighth", below, draws)
	}
	for range 100 {
		if Skewed(r, 1) != 0 {
			t.Error("the only index is not drawn")
		}
	}
}

// TestNamesArePlain draws names, as an X-Chain asset's name and any page may show them.
func TestNamesArePlain(t *testing.T) {
	f := RNG(1).Faker("names")
	for range 500 {
		name := Surname(f)
		if len(name) < 3 || len(name) > 12 || name[0] < 'A' || name[0] > 'Z' || strings.Trim(name[1:], "abcdefghijklmnopqrstuvwxyz") != "" || name == "Nobody" {
			t.Errorf("a name is %q", name)
		}
	}
	text := Fill(RNG(1).Faker("fill"), "{name} works for {company}, as {name} says.")
	if strings.ContainsAny(text, "{}") || !strings.Contains(text, " works for ") {
		t.Errorf("filled in is %q", text)
	}
	if name, _, _ := strings.Cut(text, " "); !strings.Contains(text, "as "+name+" says") {
		t.Errorf("%q names two people", text)
	}
	if company := strings.TrimSuffix(strings.SplitAfter(text, "for ")[1], ", as "); len(strings.Fields(company)) < 2 {
		t.Errorf("a company is called %q", company)
	}
	if same := Fill(RNG(1).Faker("fill"), "nothing"); same != "nothing" {
		t.Errorf("a text without places is %q", same)
	}
}

// TestAccountsOwnTheirKeys compares addresses with go-ethereum's.
func TestAccountsOwnTheirKeys(t *testing.T) {
	all, err := NewAccounts(3, 20)
	if err != nil || len(all) != 20 {
		t.Fatal(len(all), err)
	}
	seen := map[common.Address]bool{}
	for i, a := range all {
		secret := sha256.Sum256([]byte("3/account/" + strconv.Itoa(i)))
		key, err := crypto.ToECDSA(secret[:])
		if err != nil {
			t.Fatal(err)
		}
		if a.Address != crypto.PubkeyToAddress(key.PublicKey) || seen[a.Address] {
			t.Errorf("account %d is %s", i, a.Address)
		}
		seen[a.Address] = true
		owner := a.Owner()
		if len(owner.Addresses) != 1 || owner.Addresses[0] != a.Primary.Address() || owner.Threshold != 1 || owner.Locktime != 0 || a.Primary.EVMAddress() != a.Address {
			t.Errorf("account %d owns outputs as %+v", i, owner)
		}
	}
	if _, err := NewAccount(make([]byte, 32)); err == nil {
		t.Error("zero is a key")
	}
}

// TestPersonasAreTheTable compares rows and fields with the table of personas.
func TestPersonasAreTheTable(t *testing.T) {
	p, err := NewPersonas()
	if err != nil || len(p.Rows) != len(fixtures.Personas) || len(p.Funded) != len(fixtures.Personas) {
		t.Fatal(len(p.Rows), err)
	}
	for i, want := range fixtures.Personas {
		row, funded := p.Rows[i], p.Funded[i]
		if row.ID != i || row.Name != want.Name || row.Purpose != want.Purpose || !bytes.Equal(row.Key, common.FromHex(want.Key)) || !bytes.Equal(row.Address, funded.Account.Address[:]) || funded.Genesis.Name != want.Name {
			t.Errorf("row %d is %+v: want %s", i, row, want.Name)
		}
		key, err := crypto.ToECDSA(common.FromHex(want.Key))
		if err != nil || crypto.PubkeyToAddress(key.PublicKey) != funded.Account.Address {
			t.Errorf("%s has the address %s: %v", want.Name, funded.Account.Address, err)
		}
		if field := p.fields()[want.Name]; field != nil && *field != funded.Account {
			t.Errorf("the field of %s holds another account", want.Name)
		}
	}
	for name, field := range p.fields() {
		if *field == nil {
			t.Errorf("%s has no account", name)
		}
	}
	defer func(all []fixtures.Persona) { fixtures.Personas = all }(fixtures.Personas)
	fixtures.Personas = slices.DeleteFunc(slices.Clone(fixtures.Personas), func(p fixtures.Persona) bool { return p.Name == "relayer" })
	if _, err := NewPersonas(); err == nil || err.Error() != "the table of personas has no relayer" {
		t.Errorf("without the relayer: %v", err)
	}
	fixtures.Personas = append(fixtures.Personas, fixtures.Persona{Name: "keyless", Key: "0x00"})
	if _, err := NewPersonas(); err == nil || !strings.HasPrefix(err.Error(), "persona keyless: ") {
		t.Errorf("with a persona without a key: %v", err)
	}
}

var history = Span{Start: 1_780_000_000, Until: 1_780_000_000 + 120*Day}

func TestTimesOfASpan(t *testing.T) {
	s := Span{Start: 1000, Until: 3000}
	for _, c := range []struct {
		thousandth, seconds int
		want                uint64
	}{{0, 0, 1000}, {0, 5, 1005}, {500, 0, 2000}, {1000, 0, 3000}, {250, 7, 1507}} {
		if have := s.At(c.thousandth, c.seconds); have != c.want {
			t.Errorf("%+v is %d", c, have)
		}
	}
	for unix, want := range map[uint64]int64{0: 30, Hour - 1: 30, Hour: 22, 15 * Hour: 100, Day - 1: 40, Day: 30, 100*Day + 15*Hour: 100} {
		if have := Busyness(unix); have != want {
			t.Errorf("at %d activity is %d: want %d", unix, have, want)
		}
	}
}

// TestBlocksArePlannedAsActivitySpreads plans many blocks and compares each rhythm with the expected activity.
func TestBlocksArePlannedAsActivitySpreads(t *testing.T) {
	const n, count = 60_000, 20_000
	blocks := PlanBlocks(source(3), n, count, history)
	sum, last := 0, uint64(0)
	var hours, days [24]int
	var first, second, week, lastHour, close int
	for _, b := range blocks {
		if b.Time <= last || b.Size < 1 {
			t.Fatalf("a block of %d follows one of %d, with %d transactions", b.Time, last, b.Size)
		}
		if b.Time-last <= 3 {
			close++
		}
		last, sum = b.Time, sum+b.Size
		at := time.Unix(int64(b.Time), 0).UTC()
		if b.Time < history.Until-Day {
			hours[at.Hour()]++
			days[at.Weekday()]++
		}
		switch middle := (history.Start + history.Until) / 2; {
		case b.Time < middle:
			first++
		case b.Time < history.Until-finale*Hour:
			second++
		default:
			week++
		}
		if b.Time >= history.Until-Hour {
			lastHour++
		}
	}
	if sum != n || len(blocks) > count || len(blocks) < count*9/10 {
		t.Errorf("%d blocks have %d transactions: want %d and %d", len(blocks), sum, count, n)
	}
	if blocks[0].Time < history.Start+Hour || last >= history.Until {
		t.Errorf("the blocks are from %d to %d", blocks[0].Time, last)
	}
	if hours[15] < 3*hours[4] || hours[0] < hours[4] {
		t.Errorf("by hour there are %v", hours)
	}
	if days[0] >= days[2]*3/4 || days[6] >= days[2]*9/10 {
		t.Errorf("from Sunday on there are %v", days[:7])
	}
	if first >= second || week*100/len(blocks) < 10 {
		t.Errorf("%d blocks in the first half, %d later, %d in the last week", first, second, week)
	}
	if lastHour == 0 || last > history.Until-Hour+lastBlocks+14*3 {
		t.Errorf("the last block is at %d, of %d in the last hour", last, lastHour)
	}
	if close < len(blocks)*15/100 || close > len(blocks)*35/100 {
		t.Errorf("%d blocks follow within three seconds", close)
	}
}

// TestTheLastDayIsBusy: it has the blocks of two average days, and its part of the rest.
func TestTheLastDayIsBusy(t *testing.T) {
	const count, worlds, days = 3000, 40, 120
	usual, total := 0.0, 0.0
	for h := 1; h < days*24; h++ {
		w := expected(h, days*24, history)
		if total += w; h >= (days-1)*24 {
			usual += w
		}
	}
	have, want := 0.0, 2.0*count/days+count*(days-2)/days*usual/total
	for number := range uint64(worlds) {
		for _, b := range PlanBlocks(source(100+number), count, count, history) {
			if b.Time >= history.Until-Day {
				have += 1.0 / worlds
			}
		}
	}
	if math.Abs(have/want-1) > 0.1 {
		t.Errorf("%.1f blocks are of the last day: want %.1f", have, want)
	}
}

// expected is the activity of an hour of a history, of so many hours, without chance: growing by one and a half over time, and threefold within the
// last week.
func expected(h, hours int, s Span) float64 {
	at := time.Unix(int64(s.Start)+int64(h)*Hour, 0).UTC()
	w := float64(daily[at.Hour()]*weekly[at.Weekday()]) * (1 + 1.5*float64(h)/float64(hours))
	if begun := float64(h - hours + 7*24); begun > 0 {
		w *= 1 + 2*begun/(7*24)
	}
	return w
}

// TestHoursAreAsBusyAsExpected compares each hour with the expected activity: it varies by three tenths, and one hour in seventy has nine times as
// much.
func TestHoursAreAsBusyAsExpected(t *testing.T) {
	sums := busyness(source(6), history)
	hours := 120 * 24
	if len(sums) != hours || sums[0] != 0 {
		t.Fatalf("%d hours, the first with %d", len(sums), sums[0])
	}
	bursts, least, most := 0, 2.0, 0.0
	for h := 1; h < hours; h++ {
		ratio := float64(sums[h]-sums[h-1]) / expected(h, hours, history)
		if ratio > 2 {
			ratio /= 9
			bursts++
		}
		if ratio < 0.68 || ratio > 1.31 {
			t.Fatalf("hour %d is %f times as busy as expected", h, ratio)
		}
		least, most = min(least, ratio), max(most, ratio)
	}
	if least > 0.72 || most < 1.28 || bursts < hours/140 || bursts > hours/35 {
		t.Errorf("hours are %f to %f times as busy, with %d bursts", least, most, bursts)
	}
}

// TestFewBlocksArePlannedToo: one block lies in the last hour, with all transactions.
func TestFewBlocksArePlannedToo(t *testing.T) {
	for _, count := range []int{0, 1} {
		blocks := PlanBlocks(source(4), 5, count, history)
		if len(blocks) != 1 || blocks[0].Size != 5 || blocks[0].Time < history.Until-Hour || blocks[0].Time >= history.Until-Hour+lastBlocks {
			t.Errorf("%d blocks are %v", count, blocks)
		}
	}
	for number := range uint64(50) {
		blocks := PlanBlocks(source(number), 40, 12, history)
		sum := 0
		for _, b := range blocks {
			sum += b.Size
			if b.Time < history.Start+Hour || b.Time >= history.Until {
				t.Errorf("a block is at %d", b.Time)
			}
		}
		if last := blocks[len(blocks)-1]; sum != 40 || last.Time < history.Until-Hour {
			t.Errorf("%d transactions, the last at %d", sum, last.Time)
		}
	}
}

// TestActionsInAnHourFollowTheRhythm draws the actions of many weeks: they make up the rate, keep their distance, and rest at night.
func TestActionsInAnHourFollowTheRhythm(t *testing.T) {
	const perDay, weeks = 20_000, 60 // thousandths
	r := source(5)
	total := 0
	var hours [24]int
	for hour := uint64(0); hour < weeks*7*24; hour++ {
		begin := hour * Hour
		times := TimesIn(r, begin, perDay)
		for i, at := range times {
			if at < begin || at >= begin+Hour || at%slot != 0 || i > 0 && at < times[i-1]+slot {
				t.Fatalf("in the hour from %d are %v", begin, times)
			}
		}
		total += len(times)
		hours[hour%24] += len(times)
	}
	if average := float64(total) / (weeks * 7); math.Abs(average-perDay/1000) > 1 {
		t.Errorf("an average day has %f actions: want %d", average, perDay/1000)
	}
	if hours[15] < 5*hours[4] {
		t.Errorf("by hour there are %v", hours)
	}
	if none := TimesIn(r, 0, 0); len(none) != 0 {
		t.Errorf("without actions there are %v", none)
	}
	if most := TimesIn(r, 15*Hour, 1<<40); len(most) != Hour/slot {
		t.Errorf("an hour has room for %d actions", len(most))
	}
}
