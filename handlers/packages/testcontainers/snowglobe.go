// Package snowglobe runs a world in a container, from the image that make image writes.
//
//	container, err := snowglobe.Run(ctx, "snowglobe", snowglobe.WithSeed(7))
//	defer testcontainers.TerminateContainer(container)
//	client, err := ethclient.Dial(container.RPCURL)
package snowglobe

import (
	"context"
	"fmt"
	"strconv"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const port = "9650/tcp"

// Container is a running world.
type Container struct {
	testcontainers.Container

	URL    string // of the world
	RPCURL string // of JSON-RPC on mainnet's C-Chain
}

// Run starts a container, by default with a tiny world in memory. Like other modules, it returns a created container even with an error, so that the
// caller can terminate it.
func Run(ctx context.Context, image string, options ...testcontainers.ContainerCustomizer) (*Container, error) {
	all := []testcontainers.ContainerCustomizer{
		testcontainers.WithExposedPorts(port),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/sim/health").WithPort(port)),
		// From inside the container, clients are on other machines and may use any host name.
		testcontainers.WithCmd("serve", "--quiet", "--db", ":memory:", "--profile", "tiny", "--addr", "0.0.0.0:9650", "--fuji-addr", "off", "--allow-control", "--http-allowed-hosts", "*"),
	}
	made, err := testcontainers.Run(ctx, image, append(all, options...)...)
	var c *Container
	if made != nil {
		c = &Container{Container: made}
	}
	if err != nil {
		return c, fmt.Errorf("snowglobe: %w", err)
	}
	if c.URL, err = made.PortEndpoint(ctx, port, "http"); err != nil {
		return c, fmt.Errorf("snowglobe: %w", err)
	}
	c.RPCURL = c.URL + "/ext/bc/C/rpc"
	return c, nil
}

// WithProfile sets the size of the world, such as default, or a file in the container that describes one.
func WithProfile(name string) testcontainers.CustomizeRequestOption {
	return WithFlags("--profile", name)
}

// WithSeed sets the seed of the world's random numbers; the default is 1.
func WithSeed(n int64) testcontainers.CustomizeRequestOption {
	return WithFlags("--seed", strconv.FormatInt(n, 10))
}

// WithFlags passes further flags to snowglobe serve.
func WithFlags(flags ...string) testcontainers.CustomizeRequestOption {
	return testcontainers.WithCmdArgs(flags...)
}
