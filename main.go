// Command snowglobe holds a whole Avalanche-style network in one file and answers for it.
package main

func main() {}
