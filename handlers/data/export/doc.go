// Package export serves the Data API's operations that export transactions. Its handlers start jobs and report their progress; package
// sim/export runs them.
package export
