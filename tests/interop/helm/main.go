// Helm's engine in one process, for tests and for the benchmark.
//
//	helm serve                      answers requests, one line of JSON each: see serve.go
//	helm render CHART FOLDER OUT    does the benchmark's job: see render.go
//
// One build serves one minor of Helm: the build tag helm3 or helm4 selects the major, and tests/differential/engine.rs replaces
// the versions of go.mod by those of the minor.
package main

import (
	"fmt"
	"os"
)

func main() {
	var err error
	switch arguments := os.Args[1:]; {
	case len(arguments) == 1 && arguments[0] == "serve":
		err = serve(os.Stdin, os.Stdout)
	case len(arguments) == 4 && arguments[0] == "render":
		err = render(arguments[1], arguments[2], arguments[3])
	default:
		err = fmt.Errorf("usage: helm serve | helm render CHART FOLDER OUT")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
