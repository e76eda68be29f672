// Package snowglobetest runs a simulator inside a Go test: a world of its own in memory, on a free port of this machine, which the
// end of the test closes.
//
//	func TestPay(t *testing.T) {
//		s := snowglobetest.Run(t)
//		client, err := ethclient.Dial(s.RPCURL)
//		…
//		alice := s.Persona("alice") // alice.Key, alice.Address, alice.Addresses[snowglobetest.Mainnet].P
//		before := s.Snapshot()
//		s.Advance(36 * time.Hour)
//		s.Revert(before)
//		s.Fund(alice.Address.Hex(), "2.5")
//		defer s.Fault(fault.Rule{Match: fault.Match{Operation: "getChain"}, Action: fault.Action{Status: 429}})()
//	}
//
// Every test gets the same world, byte for byte, and none sees what another does, so tests may run in parallel. The first one makes the world
// and the others get copies of that, which takes some milliseconds. Run and the methods of Server fail the test when what they ask for is
// refused, so they must be called in the test's own goroutine; Client has methods that return errors, for helpers and other goroutines.
//
// The names follow the packages for Node and Python. Requests and answers have the server's own types, from packages control and fault.
// snowglobe types --go writes a world's names as Go code; with Digest(world.Digest), Run refuses a world with other names.
package snowglobetest
