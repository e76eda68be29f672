package usage

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// historyDays is the length of the history, counted back from the end of the generated history.
const historyDays = 30

// Requests of the history.
var (
	pastPaths = []string{
		"/v1/chains/{chainId}/addresses/{address}/balances:getNative", "/v1/chains/{chainId}/addresses/{address}/balances:listErc20",
		"/v1/chains/{chainId}/addresses/{address}/transactions", "/v1/chains/{chainId}/blocks", "/v1/chains/{chainId}/transactions/{txHash}",
		"/v1/chains/{chainId}/nfts/collections/{address}/tokens/{tokenId}",
	}
	pastEVMMethods     = []string{"eth_blockNumber", "eth_call", "eth_getBalance", "eth_getLogs", "eth_getTransactionReceipt"}
	pastPrimaryMethods = map[string][]string{
		"/ext/bc/P": {"platform.getHeight", "platform.getCurrentValidators"}, "/ext/bc/X": {"avm.getUTXOs"}, "/ext/info": {"info.getNetworkID"},
	}
	pastAgents  = []string{"axios/1.7.9", "viem/2.21.0", "ethers/6.13.4", "curl/8.9.1"}
	pastOrigins = []struct{ country, continent string }{{"US", "NA"}, {"DE", "EU"}, {"JP", "AS"}, {"BR", "SA"}, {"XX", "XX"}}
	pastKeys    = []string{"key-backend", "key-frontend"}
)

// pastKind is a kind of requests in the history, with the text on either side of the hour that seeds their random draw.
type pastKind struct {
	Dimensions
	before, after string
}

// pastKinds lists all kinds, in their order within an hour.
func (r *Recorder) pastKinds() (all []pastKind) {
	before := fmt.Sprintf("usage\x00%x\x00", r.world.Identity())
	add := func(d Dimensions) {
		all = append(all, pastKind{d, before, fmt.Sprintf("\x00%s\x00%s\x00%s\x00%s", d.Path, d.Method, d.ChainID, d.Network)})
	}
	for _, c := range r.world.Chains {
		chain := fmt.Sprint(c.Row.EVMID)
		for _, path := range pastPaths {
			add(Dimensions{RequestType: "data", Path: path, ChainID: chain, Network: c.Row.Network})
		}
		for _, method := range pastEVMMethods {
			add(Dimensions{RequestType: "rpc", Path: "/ext/bc/" + chain + "/rpc", Method: method, ChainID: chain, Network: c.Row.Network})
		}
	}
	for _, n := range r.world.Networks {
		for _, path := range []string{"/ext/bc/P", "/ext/bc/X", "/ext/info"} {
			for _, method := range pastPrimaryMethods[path] {
				add(Dimensions{RequestType: "rpc", Path: path, Method: method, Network: n.Name})
			}
		}
	}
	return all
}

// past visits the history's requests of some kinds, from one hour up to another.
func (r *Recorder) past(kinds []pastKind, from, to int64, visit func(slot, *Figures)) {
	end := r.world.Meta.Until / 3600 * 3600
	for hour := max(from/3600*3600, end-historyDays*24*3600); hour < min(to, end); hour += 3600 {
		for i := range kinds {
			kinds[i].requests(hour, visit)
		}
	}
}

// requests draws an hour's requests of a kind: most succeed, and more come by day.
func (k *pastKind) requests(hour int64, visit func(slot, *Figures)) {
	seed := sha256.Sum256(append(strconv.AppendInt([]byte(k.before), hour, 10), k.after...))
	draw := func(n int, of uint64) uint64 { return uint64(binary.BigEndian.Uint16(seed[2*n:])) % of }
	busy := uint64(12 - max(hour/3600%24-12, 12-hour/3600%24)) // 0 at midnight, 12 at noon
	count := int64(draw(0, 4) + busy*draw(1, 3))
	if count == 0 {
		return
	}
	d := k.Dimensions
	d.Key, d.UserAgent, d.Status = pastKeys[draw(2, uint64(len(pastKeys)))], pastAgents[draw(3, uint64(len(pastAgents)))], 200
	origin := pastOrigins[draw(4, uint64(len(pastOrigins)))]
	d.Country, d.Continent = origin.country, origin.continent
	at := hour + int64(draw(5, 60))*60
	visit(slot{at, d}, pastFigures(&d, count, draw(6, 4)))
	if draw(7, 8) == 0 {
		d.Status = 400
		visit(slot{at, d}, pastFigures(&d, 1, draw(8, 4)))
	}
}

// pastLatency is the latency class of the history's quickest requests.
var pastLatency = latencyOf(4 * time.Millisecond)

func pastFigures(d *Dimensions, count int64, class uint64) *Figures {
	f := &Figures{Requests: count, Credits: count * creditsOf(d)}
	if d.Status >= 400 {
		f.Failed, f.Invalid, f.Wasted = f.Requests, f.Requests, f.Credits
	}
	f.Latency[pastLatency+int(class)] = uint32(count)
	return f
}

// hourLogs exceeds the requests in any hour of the history.
const hourLogs = 1 << 16

// pastSlot holds one kind of requests in a minute.
type pastSlot struct {
	slot
	*Figures
}

// pastLogs visits the history's requests between two times, newest first. It skips hours without a chosen one.
func (r *Recorder) pastLogs(from, to int64, chosen func(*Dimensions) bool, yield func(*Log) bool) {
	kinds, end := r.pastKinds(), r.world.Meta.Until/3600*3600
	for hour := min((to-1)/3600*3600, end-3600); hour >= max(from/3600*3600, end-historyDays*24*3600); hour -= 3600 {
		var slots []pastSlot
		some := false
		r.past(kinds, hour, hour+3600, func(s slot, f *Figures) {
			slots = append(slots, pastSlot{s, f})
			some = some || chosen(&s.Dimensions)
		})
		if !some {
			continue
		}
		logs := singleLogs(slots)
		for i := range slices.Backward(logs) {
			if logs[i].Number = hour/3600*hourLogs + int64(i); !yield(&logs[i]) {
				return
			}
		}
	}
}

// singleLogs returns the requests one by one, oldest first.
func singleLogs(slots []pastSlot) (logs []Log) {
	for _, s := range slots {
		took := time.Duration(latency(slices.IndexFunc(s.Latency[:], func(n uint32) bool { return n > 0 })) * float64(time.Millisecond))
		for i := range s.Requests {
			logs = append(logs, Log{Time: s.start*1000 + i*60_000/s.Requests, Took: took, Dimensions: &s.Dimensions, Credits: s.Credits / s.Requests,
				From: &Caller{IP: "203.0.113.7", Host: "localhost", UserAgent: s.UserAgent}})
		}
	}
	slices.SortStableFunc(logs, func(a, b Log) int { return cmp.Compare(a.Time, b.Time) })
	return logs
}
