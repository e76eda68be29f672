// Package filelock locks files between processes, by each operating system's own means.
package filelock
