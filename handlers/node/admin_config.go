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

// Requests and replies of the admin methods that look inside the node. The specification omits them; a node and its client have them.
type (
	// ConfigReply holds the part of a node's configuration that applies to a simulated node, under the node's names.
	ConfigReply struct {
		HTTP        HTTPConfig     `json:"httpConfig"`
		AVAXAssetID ids.ID         `json:"avaxAssetID"`
		NetworkID   uint32         `json:"networkID"`
		Profiler    ProfilerConfig `json:"profilerConfig"`
	}
	// HTTPConfig describes the node's interfaces and their clients.
	HTTPConfig struct {
		API            APIConfig `json:"apiConfig"`
		AllowedOrigins []string  `json:"httpAllowedOrigins"`
		AllowedHosts   []string  `json:"httpAllowedHosts"`
	}
	// APIConfig describes which services run.
	APIConfig struct {
		Admin   bool `json:"adminAPIEnabled"`
		Info    bool `json:"infoAPIEnabled"`
		Metrics bool `json:"metricsAPIEnabled"`
		Health  bool `json:"healthAPIEnabled"`
	}
	// ProfilerConfig describes where profiles go.
	ProfilerConfig struct {
		Folder string `json:"dir"`
	}
	// DBGetArgs names an entry of the node's key-value database.
	DBGetArgs struct {
		Key string `json:"key"`
	}
	// DBGetReply holds an entry's value, or the error code.
	DBGetReply struct {
		Value     string `json:"value"`
		ErrorCode int    `json:"errorCode"`
	}
)

// dbNotFound is avalanchego's code for a missing entry.
const dbNotFound = 2

// Stacktrace writes the stacks of all goroutines.
func (a *adminAPI) Stacktrace(*http.Request, *jsonrpc.NoArgs, *EmptyReply) error {
	return a.profiler.write("stacktrace.txt", func(w io.Writer) error {
		const readable = 2
		return pprof.Lookup("goroutine").WriteTo(w, readable)
	})
}

// GetConfig returns the node's configuration. A node with an admin service has all the others.
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

// DbGet finds nothing: a node stores keys and values, Snowglobe tables.
func (a *adminAPI) DbGet(_ *http.Request, args *DBGetArgs, reply *DBGetReply) error {
	if _, err := formatting.Decode(formatting.HexNC, args.Key); err != nil {
		return err
	}
	reply.ErrorCode = dbNotFound
	return nil
}
