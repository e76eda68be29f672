package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/fixtures/worldfile"
)

// KnownAddress is a contract that clients expect on mainnet's C-Chain at a hard-coded address.
type KnownAddress struct {
	Contract string
	Address  common.Address
	Clients  string // the clients that expect it
	Set      string // the set of a world file that deploys it
	Absent   string // what to do without it
}

// KnownAddresses lists the addresses that the clients in the manual expect.
func KnownAddresses() []KnownAddress {
	const deploy = "no; deploy your own"
	all := []KnownAddress{
		{"Multicall3", fixtures.Multicall, "viem, ethers, wagmi", "", ""},
		{"TeleporterMessenger", fixtures.TeleporterMessenger, "interchain SDK, ICTT", "", ""},
		{"TeleporterRegistry", fixtures.TeleporterRegistries[fixtures.MainnetName], "interchain SDK, ICTT", "", ""},
		{"CREATE2 deployer", fixtures.Create2Deployer, "Foundry, Hardhat Ignition, permissionless", "", ""},
		{"Safe singleton factory", fixtures.SafeDeployer, "protocol-kit, safe-deployments", "", ""},
		{"Permit2", fixtures.Permit2, "Uniswap SDKs", "", ""},
	}
	for _, t := range fixtures.ListedTokens[fixtures.MainnetName] {
		all = append(all, KnownAddress{t.Symbol, t.Address, "token lists, Uniswap SDKs", "", ""})
	}
	for _, set := range worldfile.KnownSets {
		clients := "protocol-kit, permissionless"
		if strings.HasPrefix(set.Name, "entrypoint") {
			clients = "viem, permissionless, bundlers"
		}
		for _, of := range set.Contracts {
			name := of.Artifact[strings.LastIndex(of.Artifact, "/")+1:]
			all = append(all, KnownAddress{strings.TrimSuffix(name, ".json"), of.Address, clients, set.Name, ""})
		}
	}
	for _, absent := range []struct{ contract, address, clients, instead string }{
		{"EntryPoint 0.8", "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108", "viem, permissionless", deploy + " from its authors' package"},
		{"Uniswap v2 factory", "0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C", "Uniswap SDKs", deploy + " from `@uniswap/v2-core`, and give the SDK its address"},
		{"Uniswap v3 factory", "0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD", "Uniswap SDKs", deploy + " from `@uniswap/v3-core`, and give the SDK its address"},
		{"Uniswap v3 position manager", "0x655C406EBFa14EE2006250925e54ec43AD184f8B", "Uniswap SDKs", deploy + " from `@uniswap/v3-periphery`, and give the SDK its address"},
		{"Uniswap v3 router", "0xbb00FF08d01D300023C629E8fFfFcb65A5a578cE", "Uniswap SDKs", deploy + " from its authors' package"},
		{"Uniswap universal router", "0x94b75331AE8d42C1b61065089B7d48FE14aA73b7", "Uniswap SDKs", deploy + " from its authors' package"},
		{"CreateX", "0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed", "createx-forge, Hardhat Ignition", "no; send its authors' presigned deployment, which every EVM chain accepts"},
		{"ERC-1820 registry", "0x1820a4B7618BdE71Dce8cdc73aAB6C95905faD24", "ERC-777 tokens", "no; send the deployment of EIP-1820, which every EVM chain accepts"},
	} {
		all = append(all, KnownAddress{absent.contract, common.HexToAddress(absent.address), absent.clients, "", absent.instead})
	}
	return all
}

// known writes the table of KnownAddresses.
func known() string {
	b := new(strings.Builder)
	b.WriteString("| contract | address on C | clients | in a world |\n|---|---|---|---|\n")
	for _, k := range KnownAddresses() {
		there := "yes"
		switch {
		case k.Set != "":
			set := slices.IndexFunc(worldfile.KnownSets, func(s worldfile.KnownSet) bool { return s.Name == k.Set })
			there = fmt.Sprintf("with `known: [{set: %s, …}]` in a world file, from `%s`", k.Set, worldfile.KnownSets[set].Package)
		case k.Absent != "":
			there = k.Absent
		}
		fmt.Fprintf(b, "| %s | `%s` | %s | %s |\n", k.Contract, k.Address, k.Clients, there)
	}
	return b.String()
}
