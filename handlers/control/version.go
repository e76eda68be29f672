package control

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"snowglobe/sim"
)

// Version names the program as the toolchain recorded it, and the generator's version, which decides a world's bytes.
func Version() string {
	module := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		module = info.Main.Version
	}
	return fmt.Sprintf("%s, generator %s, %s %s/%s", module, sim.Generator, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
