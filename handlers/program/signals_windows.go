package program

import "os"

// passedOn lists the signals that the simulator forwards to its command.
var passedOn = []os.Signal{os.Interrupt}

// fromTerminal reports whether the console sends this signal to the command too.
func fromTerminal(os.Signal) bool { return true }
