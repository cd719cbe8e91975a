module peer

go 1.18

require gvisor.dev/gvisor v0.0.0-20221203005347-703fd9b7fbc0

require (
	github.com/google/btree v1.0.1 // indirect
	golang.org/x/sys v0.2.0 // indirect
	golang.org/x/time v0.0.0-20191024005414-555d28b269f0 // indirect
)
