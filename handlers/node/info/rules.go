package info

import (
	"net/http"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/node/jsonrpc"
)

// FeesReply lists transaction fees in nAVAX, some from before fees became dynamic.
type FeesReply struct {
	TxFee                         jsonrpc.Uint64 `json:"txFee"`
	CreateAssetTxFee              jsonrpc.Uint64 `json:"createAssetTxFee"`
	CreateSubnetTxFee             jsonrpc.Uint64 `json:"createSubnetTxFee"`
	TransformSubnetTxFee          jsonrpc.Uint64 `json:"transformSubnetTxFee"`
	CreateBlockchainTxFee         jsonrpc.Uint64 `json:"createBlockchainTxFee"`
	AddPrimaryNetworkValidatorFee jsonrpc.Uint64 `json:"addPrimaryNetworkValidatorFee"`
	AddPrimaryNetworkDelegatorFee jsonrpc.Uint64 `json:"addPrimaryNetworkDelegatorFee"`
	AddSubnetValidatorFee         jsonrpc.Uint64 `json:"addSubnetValidatorFee"`
	AddSubnetDelegatorFee         jsonrpc.Uint64 `json:"addSubnetDelegatorFee"`
}

// GetTxFee returns transaction fees.
func (a *Service) GetTxFee(_ *http.Request, _ *jsonrpc.NoArgs, reply *FeesReply) error {
	rules := a.network.Rules
	*reply = staticFees[a.network.Name]
	reply.TxFee, reply.CreateAssetTxFee = jsonrpc.Uint64(rules.TxFee), jsonrpc.Uint64(rules.CreateAssetFee)
	reply.AddSubnetValidatorFee, reply.AddSubnetDelegatorFee = reply.TxFee, reply.TxFee
	return nil
}

// staticFees lists P-Chain fees that no longer apply: avalanchego's api/info.mainnetGetTxFeeResponse and fujiGetTxFeeResponse.
var staticFees = map[string]FeesReply{
	fixtures.MainnetName: {CreateSubnetTxFee: 1e9, TransformSubnetTxFee: 10e9, CreateBlockchainTxFee: 1e9},
	fixtures.FujiName:    {CreateSubnetTxFee: 1e8, TransformSubnetTxFee: 1e9, CreateBlockchainTxFee: 1e8},
}

// UpgradesReply lists when the network changes its rules.
type UpgradesReply struct {
	ApricotPhase1Time            time.Time     `json:"apricotPhase1Time"`
	ApricotPhase2Time            time.Time     `json:"apricotPhase2Time"`
	ApricotPhase3Time            time.Time     `json:"apricotPhase3Time"`
	ApricotPhase4Time            time.Time     `json:"apricotPhase4Time"`
	ApricotPhase4MinPChainHeight uint64        `json:"apricotPhase4MinPChainHeight"`
	ApricotPhase5Time            time.Time     `json:"apricotPhase5Time"`
	ApricotPhasePre6Time         time.Time     `json:"apricotPhasePre6Time"`
	ApricotPhase6Time            time.Time     `json:"apricotPhase6Time"`
	ApricotPhasePost6Time        time.Time     `json:"apricotPhasePost6Time"`
	BanffTime                    time.Time     `json:"banffTime"`
	CortinaTime                  time.Time     `json:"cortinaTime"`
	CortinaXChainStopVertexID    ids.ID        `json:"cortinaXChainStopVertexID"`
	DurangoTime                  time.Time     `json:"durangoTime"`
	EtnaTime                     time.Time     `json:"etnaTime"`
	FortunaTime                  time.Time     `json:"fortunaTime"`
	GraniteTime                  time.Time     `json:"graniteTime"`
	GraniteEpochDuration         time.Duration `json:"graniteEpochDuration"` // nanoseconds
	HeliconTime                  time.Time     `json:"heliconTime"`
}

// Upgrades returns when the network changed its rules and when it will.
func (a *Service) Upgrades(_ *http.Request, _ *jsonrpc.NoArgs, reply *UpgradesReply) error {
	u := a.network.Rules.Upgrades
	*reply = UpgradesReply{
		utc(u.ApricotPhase1), utc(u.ApricotPhase2), utc(u.ApricotPhase3), utc(u.ApricotPhase4), u.ApricotPhase4MinPChainHeight,
		utc(u.ApricotPhase5), utc(u.ApricotPhasePre6), utc(u.ApricotPhase6), utc(u.ApricotPhasePost6),
		utc(u.Banff), utc(u.Cortina), u.CortinaXChainStopVertexID, utc(u.Durango), utc(u.Etna), utc(u.Fortuna),
		utc(u.Granite), u.GraniteEpochDuration, utc(u.Helicon),
	}
	return nil
}

func utc(unix int64) time.Time { return time.Unix(unix, 0).UTC() }
