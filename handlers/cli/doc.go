// Package cli reads the program's command line, environment and configuration file: verbs with their flags, help, completion and the manual
// page. A flag takes precedence over its environment variable, and the variable over the file. Cobra provides verbs, their help,
// suggestions and completion for four shells; pflag provides the flags. Kong would declare all flags as tags of one struct, but here each
// package declares its own.
package cli
