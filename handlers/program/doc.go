// Package program runs the command of snowglobe exec beside a server: it forwards signals to the command, and exits with the command's exit
// code.
package program
