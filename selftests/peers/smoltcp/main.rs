// SPDX-License-Identifier: GPL-2.0
//! A TCP peer on smoltcp, for selftests/guest/tcp_peers.py: takes or opens connections on a TAP
//! device, on each sends as many random bytes as it is asked for while it reads to the end, and
//! tells the SHA-256 of both. Ends only when it is killed.
//!
//!     smoltcp-peer DEVICE ADDRESS listen PORT COUNT
//!     smoltcp-peer DEVICE ADDRESS connect REMOTE PORT COUNT
//!
//! The other side sends first: a seed and a number of bytes, eight bytes each, big-endian. Per
//! connection a line comes out: SEED RECEIVED SHA256 SENT SHA256, or "SEED broken".
use std::cmp::min;
use std::env;
use std::os::unix::io::AsRawFd;
use std::process::exit;

use sha2::{Digest, Sha256};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{wait, Medium, TunTapInterface};
use smoltcp::socket::tcp;
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, Ipv6Address};

const MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0x0f, 1]);
const RECEIVE_BUFFER: usize = 200_000; // more than 65535: with window scaling
const SEND_BUFFER: usize = 100_000;
const READ_AT_MOST: u64 = 20_000;
const WRITE_AT_MOST: u64 = 9_000;
const HEADER: usize = 16;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&self.next().to_le_bytes()[..piece.len()]);
        }
    }
}

struct Connection {
    handle: SocketHandle,
    header: Vec<u8>,
    random: Random,
    left: Option<u64>, // to be sent, when the header has come
    received: u64,
    sent: u64,
    received_sum: Sha256,
    sent_sum: Sha256,
    opened: bool,
    eof: bool,
    shut: bool,
    done: bool,
}

impl Connection {
    fn new(handle: SocketHandle) -> Self {
        Connection {
            handle,
            header: Vec::new(),
            random: Random(0),
            left: None,
            received: 0,
            sent: 0,
            received_sum: Sha256::new(),
            sent_sum: Sha256::new(),
            opened: false,
            eof: false,
            shut: false,
            done: false,
        }
    }

    /// Reads a piece of random size; whether there is more.
    fn read(&mut self, socket: &mut tcp::Socket) -> bool {
        let most = (1 + self.random.next() % READ_AT_MOST) as usize;
        let _ = socket.recv(|data| {
            let taken = &data[..min(data.len(), most)];
            self.received_sum.update(taken);
            self.received += taken.len() as u64;
            let wanted = min(taken.len(), HEADER - self.header.len());
            self.header.extend_from_slice(&taken[..wanted]);
            (taken.len(), ())
        });
        if self.left.is_none() && self.header.len() == HEADER {
            self.random = Random(self.number(0));
            self.left = Some(self.number(8));
        }
        // Its end is told when nothing is left to be read.
        self.eof |= socket.recv(|_| (0, ())) == Err(tcp::RecvError::Finished);
        socket.recv_queue() > 0
    }

    fn number(&self, at: usize) -> u64 {
        self.header[at..at + 8].iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
    }

    /// Writes pieces of random size while there is room.
    fn write(&mut self, socket: &mut tcp::Socket) {
        let Some(mut left) = self.left else { return };
        while left > 0 && socket.can_send() {
            let most = min(left, 1 + self.random.next() % WRITE_AT_MOST) as usize;
            let written = socket.send(|room| {
                let written = min(room.len(), most);
                self.random.fill(&mut room[..written]);
                self.sent_sum.update(&room[..written]);
                (written, written as u64)
            });
            left -= written.unwrap_or(0);
            self.sent += written.unwrap_or(0);
        }
        self.left = Some(left);
        if left == 0 && !self.shut {
            socket.close();
            self.shut = true;
        }
    }

    /// What is to be done now; whether there is more to read.
    fn serve(&mut self, socket: &mut tcp::Socket) -> bool {
        if self.done {
            return false;
        }
        self.opened |= socket.may_recv() || socket.may_send();
        let more = self.read(socket);
        self.write(socket);
        let over = matches!(socket.state(), tcp::State::Closed | tcp::State::TimeWait);
        if over && self.eof && self.shut {
            println!(
                "{} {} {:x} {} {:x}",
                self.number(0),
                self.received,
                self.received_sum.clone().finalize(),
                self.sent,
                self.sent_sum.clone().finalize()
            );
            self.done = true;
        } else if over && self.opened && !self.eof && !more {
            println!("{} broken", if self.left.is_some() { self.number(0) } else { 0 });
            self.done = true;
        }
        more
    }
}

fn usage() -> ! {
    eprintln!("smoltcp-peer DEVICE ADDRESS listen PORT COUNT | connect REMOTE PORT COUNT");
    exit(2)
}

fn main() {
    let args: Vec<String> = env::args().collect();
    if args.len() < 6 {
        usage();
    }
    let mut device = TunTapInterface::new(&args[1], Medium::Ethernet).expect("TAP device");
    let fd = device.as_raw_fd();
    let mut config = Config::new(MAC.into());
    config.random_seed = u64::from(std::process::id());
    let mut iface = Interface::new(config, &mut device, Instant::now());
    let own: Ipv6Address = args[2].parse().expect("address");
    iface.update_ip_addrs(|list| list.push(IpCidr::new(IpAddress::Ipv6(own), 64)).unwrap());

    let (remote, rest) = match args[3].as_str() {
        "listen" => (None, &args[4..]),
        "connect" => (Some(args[4].parse::<Ipv6Address>().expect("remote")), &args[5..]),
        _ => usage(),
    };
    if rest.len() != 2 {
        usage();
    }
    let port: u16 = rest[0].parse().expect("port");
    let count: u16 = rest[1].parse().expect("count");
    let mut sockets = SocketSet::new(vec![]);
    let mut connections = Vec::new();
    for i in 0..count {
        let mut socket = tcp::Socket::new(
            tcp::SocketBuffer::new(vec![0; RECEIVE_BUFFER]),
            tcp::SocketBuffer::new(vec![0; SEND_BUFFER]),
        );
        socket.set_congestion_control(tcp::CongestionControl::Cubic);
        match remote {
            Some(address) => socket
                .connect(iface.context(), (IpAddress::Ipv6(address), port), 50000 + i)
                .expect("connect"),
            None => socket.listen(port).expect("listen"),
        }
        connections.push(Connection::new(sockets.add(socket)));
    }
    println!("ready");
    loop {
        iface.poll(Instant::now(), &mut device, &mut sockets);
        let mut more = false;
        for connection in &mut connections {
            more |= connection.serve(sockets.get_mut(connection.handle));
        }
        let now = Instant::now();
        iface.poll(now, &mut device, &mut sockets);
        let delay = if more {
            Some(Duration::ZERO)
        } else {
            iface.poll_delay(now, &sockets)
        };
        wait(fd, delay).expect("wait");
    }
}
