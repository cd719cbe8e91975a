// SPDX-License-Identifier: GPL-2.0

// Go's net/http as server and as client, for selftests/guest/programs_more.py: the server
// answers with what was posted, the client posts from eight goroutines and compares. Built as a
// static program, which makes its system calls without the C library. Ends when it is killed.
//
//	go-http serve|ask ADDRESS PORT
package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
)

const (
	requests = 8
	size     = 100000
)

func fatal(why error) {
	fmt.Fprintln(os.Stderr, "go-http:", why)
	os.Exit(1)
}

func serve(address string) {
	fatal(http.ListenAndServe(address, http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Write(body)
		})))
}

// echoed says whether the server gives back what it is given.
func echoed(url string, seed int64) error {
	sent := make([]byte, size)
	rand.New(rand.NewSource(seed)).Read(sent)
	reply, err := http.Post(url, "application/octet-stream", bytes.NewReader(sent))
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	got, err := io.ReadAll(reply.Body)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, sent) {
		return fmt.Errorf("%d bytes that are not what was sent", len(got))
	}
	return nil
}

func ask(address string) {
	results := make(chan error)
	for i := int64(0); i < requests; i++ {
		go func(seed int64) { results <- echoed("http://"+address+"/", seed) }(i)
	}
	for i := 0; i < requests; i++ {
		if err := <-results; err != nil {
			fatal(err)
		}
	}
	fmt.Printf("%d answers of %d bytes\n", requests, size)
}

func main() {
	if len(os.Args) != 4 {
		fatal(fmt.Errorf("usage: go-http serve|ask ADDRESS PORT"))
	}
	address := net.JoinHostPort(os.Args[2], os.Args[3])
	switch os.Args[1] {
	case "serve":
		serve(address)
	case "ask":
		ask(address)
	default:
		fatal(fmt.Errorf("neither serve nor ask: %s", os.Args[1]))
	}
}
