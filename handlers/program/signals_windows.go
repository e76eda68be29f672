package program

import "os"

// passedOn are the signals that a program gets which is sent to the simulator.
var passedOn = []os.Signal{os.Interrupt}

// fromTerminal says that the console sends this signal to the program too.
func fromTerminal(os.Signal) bool { return true }
