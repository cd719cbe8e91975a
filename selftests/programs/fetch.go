// SPDX-License-Identifier: GPL-2.0

// Fetches files with Go's net/http, four at a time, for selftests/guest/khttpd_clients.py.
//
//	go-fetch BASE DIRECTORY NAME...		BASE/NAME into DIRECTORY/NAME
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

func fetch(url, to string) error {
	reply, err := http.Get(url)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, reply.Status)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, reply.Body); err != nil {
		return err
	}
	return file.Close()
}

func main() {
	names, results := make(chan string), make(chan error)
	for i := 0; i < 4; i++ {
		go func() {
			for name := range names {
				results <- fetch(os.Args[1]+"/"+name, filepath.Join(os.Args[2], name))
			}
		}()
	}
	go func() {
		for _, name := range os.Args[3:] {
			names <- name
		}
	}()
	for range os.Args[3:] {
		if err := <-results; err != nil {
			fmt.Fprintln(os.Stderr, "go-fetch:", err)
			os.Exit(1)
		}
	}
}
