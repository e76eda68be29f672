//go:build !linux

package intercept

// writeTrust writes certificates for the programs that this process starts.
func writeTrust(content []byte) (*trustFile, error) { return watchedFile(content) }
