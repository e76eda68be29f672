package node

import (
	"fmt"
	"io"
	"net/http"
	"runtime/pprof"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers/node/jsonrpc"
)

// Requests and answers of the methods of the admin service that look inside the node. The specification does not have
// them; a node and its client do.
type (
	// ConfigReply is the part of a node's configuration that a simulated node has too, with the names of a node.
	ConfigReply struct {
		HTTP        HTTPConfig     `json:"httpConfig"`
		AVAXAssetID ids.ID         `json:"avaxAssetID"`
		NetworkID   uint32         `json:"networkID"`
		Profiler    ProfilerConfig `json:"profilerConfig"`
	}
	// HTTPConfig says what is served, and to whom.
	HTTPConfig struct {
		API            APIConfig `json:"apiConfig"`
		AllowedOrigins []string  `json:"httpAllowedOrigins"`
		AllowedHosts   []string  `json:"httpAllowedHosts"`
	}
	// APIConfig says which services there are.
	APIConfig struct {
		Admin   bool `json:"adminAPIEnabled"`
		Info    bool `json:"infoAPIEnabled"`
		Metrics bool `json:"metricsAPIEnabled"`
		Health  bool `json:"healthAPIEnabled"`
	}
	// ProfilerConfig says where profiles go.
	ProfilerConfig struct {
		Folder string `json:"dir"`
	}
	// DBGetArgs name an entry of a node's key-value database.
	DBGetArgs struct {
		Key string `json:"key"`
	}
	// DBGetReply is the value of an entry, or why there is none.
	DBGetReply struct {
		Value     string `json:"value"`
		ErrorCode int    `json:"errorCode"`
	}
)

// dbNotFound is a node's code for an entry that is not there.
const dbNotFound = 2

// Stacktrace writes down what every goroutine is doing.
func (a *adminAPI) Stacktrace(*http.Request, *jsonrpc.NoArgs, *EmptyReply) error {
	return a.profiler.write("stacktrace.txt", func(w io.Writer) error {
		const readable = 2
		return pprof.Lookup("goroutine").WriteTo(w, readable)
	})
}

// GetConfig answers what the node was started with. A node that has an admin service has all the others.
func (a *adminAPI) GetConfig(_ *http.Request, _ *jsonrpc.NoArgs, reply *ConfigReply) error {
	_, served := a.router.routes["metrics"]
	folder, err := a.profiler.folder()
	if err != nil {
		return fmt.Errorf("profile folder: %w", err)
	}
	rules := a.router.network.Rules
	*reply = ConfigReply{
		HTTP:        HTTPConfig{APIConfig{true, true, served, true}, []string{"*"}, a.hosts},
		AVAXAssetID: rules.AVAXAssetID, NetworkID: rules.NetworkID, Profiler: ProfilerConfig{folder},
	}
	return nil
}

// DbGet finds nothing: what a node keeps under keys is in the world's tables here.
func (a *adminAPI) DbGet(_ *http.Request, args *DBGetArgs, reply *DBGetReply) error {
	if _, err := formatting.Decode(formatting.HexNC, args.Key); err != nil {
		return err
	}
	reply.ErrorCode = dbNotFound
	return nil
}
