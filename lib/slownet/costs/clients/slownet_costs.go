// Times the operations of a client program of an entry: operation("connect", func() { ... }).
package main

import (
	"fmt"
	"os"
	"time"
)

var server = os.Getenv("SERVER")

func operation(name string, work func()) {
	began := time.Now()
	work()
	seconds := time.Since(began).Seconds()
	fmt.Printf("slownet-cost %s %.6f %.6f\n", name, seconds, float64(began.UnixMicro())/1e6)
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
