package node

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/pprof"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/primary"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/parse"
)

// adminAPI implements /ext/admin: avalanchego's api/admin.Admin.
type adminAPI struct {
	router   *router
	loggers  *Loggers
	profiler *Profiler
	hosts    []string // host names that the node answers to
}

// Requests and replies of the admin service.
type (
	// EmptyReply reports success.
	EmptyReply struct{}
	// EndpointAliasArgs gives an endpoint another name; both fields hold what follows /ext/.
	EndpointAliasArgs struct {
		Endpoint string `json:"endpoint"`
		Alias    string `json:"alias"`
	}
	// ChainAliasArgs gives a chain another name.
	ChainAliasArgs struct {
		Chain string `json:"chain"`
		Alias string `json:"alias"`
	}
	// ChainAliasesArgs names a chain by its id.
	ChainAliasesArgs struct {
		Chain string `json:"chain"`
	}
	// ChainAliasesReply lists a chain's names, nil if there is no such chain.
	ChainAliasesReply struct {
		Aliases []string `json:"aliases"`
	}
	// LoggerArgs names a logger; no name means all loggers.
	LoggerArgs struct {
		LoggerName string `json:"loggerName"`
	}
	// SetLoggerLevelArgs changes the levels of one logger, or of all.
	SetLoggerLevelArgs struct {
		LoggerName   string    `json:"loggerName"`
		LogLevel     *LogLevel `json:"logLevel"`
		DisplayLevel *LogLevel `json:"displayLevel"`
	}
	// LoggerLevelsReply lists loggers' levels.
	LoggerLevelsReply struct {
		LoggerLevels map[string]LogAndDisplayLevels `json:"loggerLevels,omitempty"`
	}
	// LoadVMsReply lists the virtual machines newly found in the plugin folder.
	LoadVMsReply struct {
		NewVMs map[ids.ID][]string `json:"newVMs"`
	}
)

var (
	errLongAlias = errors.New("alias length is too long")
	errNoLevel   = errors.New("need to specify either displayLevel or logLevel")
	errAliased   = errors.New("alias already mapped to an ID")
)

// Alias serves an endpoint at another path too.
func (a *adminAPI) Alias(r *http.Request, args *EndpointAliasArgs, _ *EmptyReply) error {
	if len(args.Alias) > maxAlias {
		return errLongAlias
	}
	return a.router.alias(r.Context(), args.Endpoint, args.Alias)
}

// AliasChain gives a chain another name, valid wherever its id is.
func (a *adminAPI) AliasChain(_ *http.Request, args *ChainAliasArgs, _ *EmptyReply) error {
	if len(args.Alias) > maxAlias {
		return errLongAlias
	}
	network := a.router.network
	id, err := primary.ChainByAlias(network, args.Chain)
	if err != nil {
		return err
	}
	if a.router.aliases.begins("bc/"+args.Alias) || !network.Aliases.Give(args.Alias, id) {
		return fmt.Errorf("%w: %s", errAliased, args.Alias)
	}
	return nil
}

// GetChainAliases returns the names of a chain, which the caller must name by its id.
func (a *adminAPI) GetChainAliases(_ *http.Request, args *ChainAliasesArgs, reply *ChainAliasesReply) error {
	id, err := parse.ID(args.Chain)
	if err != nil {
		return err
	}
	reply.Aliases = a.router.network.Aliases.Names(id)
	return nil
}

// GetLoggerLevel returns the levels of one logger, or of all.
func (a *adminAPI) GetLoggerLevel(_ *http.Request, args *LoggerArgs, reply *LoggerLevelsReply) error {
	names, err := a.loggers.choose(args.LoggerName)
	if err != nil {
		return err
	}
	reply.LoggerLevels = map[string]LogAndDisplayLevels{}
	for _, name := range names {
		reply.LoggerLevels[name] = *a.loggers.all[name].levels.Load()
	}
	return nil
}

// SetLoggerLevel changes what the node logs from now on.
func (a *adminAPI) SetLoggerLevel(r *http.Request, args *SetLoggerLevelArgs, reply *LoggerLevelsReply) error {
	if args.LogLevel == nil && args.DisplayLevel == nil {
		return errNoLevel
	}
	names, err := a.loggers.choose(args.LoggerName)
	if err != nil {
		return err
	}
	for _, name := range names {
		pair := *a.loggers.all[name].levels.Load()
		if args.LogLevel != nil {
			pair.LogLevel = *args.LogLevel
		}
		if args.DisplayLevel != nil {
			pair.DisplayLevel = *args.DisplayLevel
		}
		a.loggers.all[name].levels.Store(&pair)
	}
	if rest.RequestDialect(r.Context()) == schema.Upstream {
		return a.GetLoggerLevel(r, &LoggerArgs{args.LoggerName}, reply)
	}
	return nil
}

// LoadVMs returns nothing new: every virtual machine is built in.
func (a *adminAPI) LoadVMs(_ *http.Request, _ *jsonrpc.NoArgs, reply *LoadVMsReply) error {
	a.loggers.named("vm-factory").Info("no new virtual machines")
	reply.NewVMs = map[ids.ID][]string{}
	return nil
}

// StartCPUProfiler starts writing cpu.profile.
func (a *adminAPI) StartCPUProfiler(*http.Request, *jsonrpc.NoArgs, *EmptyReply) error {
	return a.profiler.start()
}

// StopCPUProfiler completes cpu.profile.
func (a *adminAPI) StopCPUProfiler(*http.Request, *jsonrpc.NoArgs, *EmptyReply) error {
	return a.profiler.stop()
}

// MemoryProfile writes mem.profile.
func (a *adminAPI) MemoryProfile(*http.Request, *jsonrpc.NoArgs, *EmptyReply) error {
	return a.profiler.memory()
}

// LockProfile writes lock.profile.
func (a *adminAPI) LockProfile(*http.Request, *jsonrpc.NoArgs, *EmptyReply) error {
	return a.profiler.write("lock.profile", func(w io.Writer) error { return pprof.Lookup("mutex").WriteTo(w, 0) })
}

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
