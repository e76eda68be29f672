package main

// supportText is the source of the package that mistakes call.
const supportText = `package support

import (
	"cmp"
	"os"
	"strconv"
	"strings"
	"sync"
)

var mutantChosen, mutantsReached, mutantsSeen = func() (int, *os.File, *sync.Map) {
	if path := os.Getenv("MUTANTS_REACHED"); path != "" {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			panic(err)
		}
		return 0, file, new(sync.Map)
	}
	id, _ := strconv.Atoi(strings.TrimPrefix(os.Getenv("MUTANT"), "PACKAGE ")) // 0 if it is one of another package
	return id, nil, nil
}()

func mutant(id int) bool {
	if mutantsReached != nil {
		if _, seen := mutantsSeen.LoadOrStore(id, true); !seen {
			mutantsReached.WriteString("PACKAGE " + strconv.Itoa(id) + "\n")
		}
	}
	return id == mutantChosen
}

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

type mutantInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

func mutantLess[T cmp.Ordered](id int, a, b T) bool { return a < b || a == b && mutant(id) }

func mutantLessOrEqual[T cmp.Ordered](id int, a, b T) bool { return a < b || a == b && !mutant(id) }

func mutantMore[T cmp.Ordered](id int, a, b T) bool { return a > b || a == b && mutant(id) }

func mutantMoreOrEqual[T cmp.Ordered](id int, a, b T) bool { return a > b || a == b && !mutant(id) }

func mutantAnd(id int, a bool, b func() bool) bool {
	if mutant(id) {
		return a || b()
	}
	return a && b()
}

func mutantOr(id int, a bool, b func() bool) bool {
	if mutant(id) {
		return a && b()
	}
	return a || b()
}

func mutantPlus[T mutantNumber](id int, a, b T) T {
	if mutant(id) {
		return a - b
	}
	return a + b
}

func mutantMinus[T mutantNumber](id int, a, b T) T {
	if mutant(id) {
		return a + b
	}
	return a - b
}

func mutantTimes[T mutantNumber](id int, a, b T) T {
	if mutant(id) {
		return a / b
	}
	return a * b
}

func mutantDivided[T mutantNumber](id int, a, b T) T {
	if mutant(id) {
		return a * b
	}
	return a / b
}

func mutantRest[T mutantInteger](id int, a, b T) T {
	if mutant(id) {
		return a * b
	}
	return a % b
}

func mutantNot[T mutantNumber](id int, a T) T {
	if mutant(id) {
		return -a
	}
	return a
}
`
