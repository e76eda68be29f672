// Package cli reads the program's command line, its environment and its configuration file: verbs with their flags, help, completion and
// the manual page. A flag takes precedence over its environment variable, and that over the file. Cobra brings verbs, help on them,
// suggestions and completion for four shells; pflag the flags. Kong would declare flags as tags of one struct, and here each package declares its own.
package cli
