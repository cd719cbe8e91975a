// SPDX-License-Identifier: GPL-2.0

// A TCP peer on gVisor's netstack, for selftests/guest/tcp_peers.py: takes or opens connections
// on a TAP device, on each sends as many random bytes as it is asked for while it reads to the
// end, and tells the SHA-256 of both. Ends only when it is killed.
//
//	gvisor-peer DEVICE ADDRESS listen PORT COUNT
//	gvisor-peer DEVICE ADDRESS connect REMOTE PORT COUNT
//
// The other side sends first: a seed and a number of bytes, eight bytes each, big-endian. Per
// connection a line comes out: SEED RECEIVED SHA256 SENT SHA256, or "SEED broken".
package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"strconv"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/fdbased"
	"gvisor.dev/gvisor/pkg/tcpip/link/tun"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv6"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/icmp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

const (
	nic         = 1
	mtu         = 1500
	mac         = "\x02\x00\x00\x00\x0f\x02"
	readAtMost  = 20000
	writeAtMost = 9000
	headerSize  = 16
)

func fatal(what string, why interface{}) {
	fmt.Fprintf(os.Stderr, "gvisor-peer: %s: %v\n", what, why)
	os.Exit(1)
}

func address(text string) tcpip.Address {
	ip := net.ParseIP(text).To16()
	if ip == nil {
		fatal("no address", text)
	}
	return tcpip.Address(ip)
}

func number(text string) int {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		fatal("no number", err)
	}
	return int(n)
}

// newStack makes a stack with one address on a TAP device.
func newStack(device string, own tcpip.Address) *stack.Stack {
	fd, err := tun.OpenTAP(device)
	if err != nil {
		fatal(device, err)
	}
	link, err := fdbased.New(&fdbased.Options{
		FDs: []int{fd}, MTU: mtu, EthernetHeader: true, Address: tcpip.LinkAddress(mac),
	})
	if err != nil {
		fatal(device, err)
	}
	s := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv6.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol, icmp.NewProtocol6},
	})
	sack := tcpip.TCPSACKEnabled(true)
	if err := s.SetTransportProtocolOption(tcp.ProtocolNumber, &sack); err != nil {
		fatal("SACK", err)
	}
	// Its CUBIC, once of a window of one segment, comes down to none and sends no more.
	reno := tcpip.CongestionControlOption("reno")
	if err := s.SetTransportProtocolOption(tcp.ProtocolNumber, &reno); err != nil {
		fatal("Reno", err)
	}
	if err := s.CreateNIC(nic, link); err != nil {
		fatal("NIC", err)
	}
	if err := s.AddProtocolAddress(nic, tcpip.ProtocolAddress{
		Protocol:          ipv6.ProtocolNumber,
		AddressWithPrefix: tcpip.AddressWithPrefix{Address: own, PrefixLen: 64},
	}, stack.AddressProperties{}); err != nil {
		fatal("address", err)
	}
	s.SetRouteTable([]tcpip.Route{{Destination: header.IPv6EmptySubnet, NIC: nic}})
	return s
}

// send writes random bytes in pieces of random size and ends the stream.
func send(conn *gonet.TCPConn, random *rand.Rand, size uint64) (uint64, []byte, error) {
	sum := sha256.New()
	piece := make([]byte, writeAtMost)
	for left := size; left > 0; {
		n := uint64(1 + random.Intn(writeAtMost))
		if n > left {
			n = left
		}
		random.Read(piece[:n])
		sum.Write(piece[:n])
		if _, err := conn.Write(piece[:n]); err != nil {
			return size - left, nil, err
		}
		left -= n
	}
	return size, sum.Sum(nil), conn.CloseWrite()
}

// serve plays one connection.
func serve(conn *gonet.TCPConn) {
	type result struct {
		sent uint64
		sum  []byte
		err  error
	}
	var first [headerSize]byte
	var received uint64

	defer conn.Close()
	if _, err := io.ReadFull(conn, first[:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		fmt.Println("0 broken")
		return
	}
	seed := binary.BigEndian.Uint64(first[:8])
	sum := sha256.New()
	sum.Write(first[:])
	received = headerSize
	sender := make(chan result, 1)
	go func() {
		sent, sum, err := send(conn, rand.New(rand.NewSource(int64(seed))),
			binary.BigEndian.Uint64(first[8:]))
		sender <- result{sent, sum, err}
	}()
	random := rand.New(rand.NewSource(int64(seed) + 1))
	piece := make([]byte, readAtMost)
	var err error
	for err == nil {
		var n int
		n, err = conn.Read(piece[:1+random.Intn(readAtMost)])
		sum.Write(piece[:n])
		received += uint64(n)
	}
	out := <-sender
	if err != io.EOF || out.err != nil {
		fmt.Fprintln(os.Stderr, seed, err, out.err)
		fmt.Println(seed, "broken")
		return
	}
	fmt.Printf("%d %d %x %d %x\n", seed, received, sum.Sum(nil), out.sent, out.sum)
}

func main() {
	args := os.Args
	switch {
	case len(args) == 6 && args[3] == "listen":
		own := address(args[2])
		s := newStack(args[1], own)
		listener, err := gonet.ListenTCP(s, tcpip.FullAddress{NIC: nic, Addr: own,
			Port: uint16(number(args[4]))}, ipv6.ProtocolNumber)
		if err != nil {
			fatal("listen", err)
		}
		fmt.Println("ready")
		for i := number(args[5]); i > 0; i-- {
			conn, err := listener.Accept()
			if err != nil {
				fatal("accept", err)
			}
			go serve(conn.(*gonet.TCPConn))
		}
	case len(args) == 7 && args[3] == "connect":
		s := newStack(args[1], address(args[2]))
		remote := tcpip.FullAddress{NIC: nic, Addr: address(args[4]), Port: uint16(number(args[5]))}
		fmt.Println("ready")
		for i := number(args[6]); i > 0; i-- {
			go func() {
				conn, err := gonet.DialContextTCP(context.Background(), s, remote,
					ipv6.ProtocolNumber)
				if err != nil {
					fatal("connect", err)
				}
				serve(conn)
			}()
		}
	default:
		fmt.Fprintln(os.Stderr,
			"gvisor-peer DEVICE ADDRESS listen PORT COUNT | connect REMOTE PORT COUNT")
		os.Exit(2)
	}
	select {}
}
