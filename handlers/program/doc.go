// Package program runs the command of snowglobe exec beside a server: it passes signals on to the command, and the command's exit
// code is the simulator's own.
package program
