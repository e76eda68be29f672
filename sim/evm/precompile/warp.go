package precompile

import "github.com/ethereum/go-ethereum/common"

// Warp is how a chain speaks with others.
var Warp = declare(common.HexToAddress("0x0200000000000000000000000000000000000005"), "warpConfig", nil)
