// Package export serves the Data API's operations that export transactions. Exports are jobs: they are started here and tell how
// far they are, the jobs of package sim/export carry them out.
package export
