module snowglobe

go 1.26.8

require (
	github.com/ava-labs/avalanchego v1.15.0 // ids, addresses, codec and warp signatures of the network itself
	github.com/brianvoe/gofakeit/v7 v7.18.1 // names for what the seed makes up. Another version may draw other names: raise it with sim.Generator only
	github.com/cespare/xxhash/v2 v2.3.0 // entity tags, at memory's speed
	github.com/consensys/gnark-crypto v0.22.0 // BLS keys and aggregation without cgo, and the curve secp256k1
	github.com/decred/dcrd/dcrec/secp256k1/v4 v4.4.0 // nonces of signatures, as in go-ethereum without cgo
	github.com/ethereum/go-ethereum v1.17.10 // the EVM, tries, ABI and JSON-RPC of the C-Chain and L1s
	github.com/google/jsonschema-go v0.4.3 // describes and checks the arguments of agents' tools, through the MCP SDK
	github.com/google/uuid v1.6.0 // page tokens and export ids
	github.com/gorilla/mux v1.8.1 // routing of the REST interfaces
	github.com/gorilla/rpc v1.2.0 // JSON-RPC of the P-Chain, X-Chain and node services
	github.com/gorilla/websocket v1.5.3 // WebSocket of the EVM chains
	github.com/gowebpki/jcs v1.0.2 // canonical JSON, which webhooks sign
	github.com/holiman/uint256 v1.3.2 // the 256-bit numbers of the EVM
	github.com/jmoiron/sqlx v1.4.0 // rows to structs
	github.com/klauspost/compress v1.20.4 // gzip, faster than the standard library's; S2, with a dictionary for what the file keeps, and for traces while they wait
	github.com/modelcontextprotocol/go-sdk v1.8.0 // the Model Context Protocol, by its authors, in every version that clients speak
	github.com/rs/cors v1.7.0 // cross-origin answers of the node, in the version that avalanchego uses, so that headers are the same; GO-2024-2883 is of later ones, 1.9 to 1.10
	github.com/spf13/cobra v1.10.2 // verbs with help, suggestions, completion for four shells and manual pages
	github.com/spf13/pflag v1.1.0 // flags, which each package declares for itself
	github.com/yuin/goldmark v1.8.7 // the pages of the manual, as HTML and as text; without dependencies
	go.yaml.in/yaml/v3 v3.0.6 // profiles and the API-keys file
	golang.org/x/sync v0.25.0 // bounded parallel work
	golang.org/x/sys v0.50.0 // locking the file on every system; files in memory
	modernc.org/sqlite v1.60.1 // the file, without cgo
)

require (
	github.com/Microsoft/go-winio v0.6.2 // indirect
	github.com/ProjectZKM/Ziren/crates/go-runtime/zkvm_runtime v0.0.0-20251001021608-1fe7b43fc4d6 // indirect
	github.com/VictoriaMetrics/fastcache v1.13.0 // indirect
	github.com/bits-and-blooms/bitset v1.25.0 // indirect
	github.com/btcsuite/btcd/btcutil v1.1.3 // indirect
	github.com/crate-crypto/go-eth-kzg v1.5.0 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/deckarep/golang-set/v2 v2.6.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/emicklei/dot v1.6.2 // indirect
	github.com/ethereum/c-kzg-4844/v2 v2.1.8 // indirect
	github.com/ethereum/go-bigmodexpfix v0.0.0-20250911101455-f9e208c548ab // indirect
	github.com/ferranbt/fastssz v0.1.4 // indirect
	github.com/fjl/jsonw v0.1.0 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/go-ole/go-ole v1.3.0 // indirect
	github.com/gofrs/flock v0.12.1 // indirect
	github.com/golang/snappy v1.0.1-0.20260716114414-9ae09f520e93 // indirect
	github.com/google/renameio/v2 v2.0.0 // indirect
	github.com/holiman/bloomfilter/v2 v2.0.3 // indirect
	github.com/huin/goupnp v1.3.0 // indirect
	github.com/jackpal/go-nat-pmp v1.0.2 // indirect
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/minio/sha256-simd v1.0.0 // indirect
	github.com/mitchellh/mapstructure v1.5.0 // indirect
	github.com/mr-tron/base58 v1.2.0 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/pion/dtls/v3 v3.1.5 // indirect
	github.com/pion/logging v0.2.4 // indirect
	github.com/pion/stun/v3 v3.1.7 // indirect
	github.com/pion/transport/v4 v4.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/shirou/gopsutil v3.21.11+incompatible // indirect
	github.com/supranational/blst v0.3.16 // indirect
	github.com/syndtr/goleveldb v1.0.1-0.20220614013038-64ee5596c38a // indirect
	github.com/tklauser/go-sysconf v0.3.15 // indirect
	github.com/tklauser/numcpus v0.10.0 // indirect
	github.com/wlynxg/anet v0.0.5 // indirect
	github.com/yusufpapurcu/wmi v1.2.4 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/metric v1.47.0 // indirect
	go.opentelemetry.io/otel/trace v1.47.0 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/exp v0.0.0-20241215155358-4a5509556b9e // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
	gopkg.in/yaml.v2 v2.4.0 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)

require (
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/dlclark/regexp2 v1.11.5 // indirect
	github.com/dop251/goja v0.0.0-20230806174421-c933cf95e127 // indirect
	github.com/fsnotify/fsnotify v1.9.0 // indirect
	github.com/go-sourcemap/sourcemap v2.1.3+incompatible // indirect
	github.com/google/pprof v0.0.0-20260802141513-ef3492d7dac3 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)
