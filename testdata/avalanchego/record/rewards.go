package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/ava-labs/avalanchego/genesis"
	"github.com/ava-labs/avalanchego/upgrade"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/units"
	"github.com/ava-labs/avalanchego/vms/platformvm/reward"
)

// rewarded is a stake of the primary network and the reward that it may get.
type rewarded struct {
	Network  uint32
	Start    int64
	Duration int64 // seconds
	Stake    uint64
	Supply   uint64
	Want     uint64
}

// recordRewards writes rewards of stakes around the time of Helicon, from which on the consumption rate falls for 90 days.
func recordRewards(w io.Writer) error {
	random := rand.New(rand.NewPCG(7, 8))
	fmt.Fprint(w, "[")
	separator := ""
	for _, network := range []uint32{constants.MainnetID, constants.FujiID} {
		config, upgrades := genesis.GetStakingConfig(network).RewardConfig, upgrade.GetConfig(network)
		calculator := reward.NewPrimaryNetworkCalculator(config, upgrades)
		helicon := upgrades.HeliconTime.Unix()
		starts := []int64{-300 * day, -1, 0, 1, 2, 89 * day, 90*day - 1, 90 * day, 90*day + 1, 500 * day}
		for range 60 {
			starts = append(starts, random.Int64N(90*day))
		}
		for _, since := range starts {
			for _, duration := range []int64{12 * 60 * 60, 2 * day, 14 * day, 365*day - random.Int64N(300*day), 365 * day} {
				r := rewarded{Network: network, Start: helicon + since, Duration: duration, Stake: 25*units.Avax + random.Uint64N(3*units.MegaAvax)}
				r.Supply = 400*units.MegaAvax + random.Uint64N(320*units.MegaAvax)
				r.Want = calculator.Calculate(time.Unix(r.Start, 0), time.Duration(duration)*time.Second, r.Stake, r.Supply)
				line, err := json.Marshal(r)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "%s\n%s", separator, line)
				separator = ","
			}
		}
	}
	_, err := fmt.Fprintln(w, "\n]")
	return err
}
