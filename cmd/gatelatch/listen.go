package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch/server"
)

// front is where browsers and agents with a key come in.
type front struct {
	net.Listener
	twin   net.Listener // the same at the other address of localhost; nil is none
	door   server.Door
	url    string
	page   string // what links lead to
	public string // where other devices find it; "" is nowhere
}

// listenFront listens for browsers: on loopback, or anywhere with TLS.
func listenFront(opt gatewayOptions) (*front, error) {
	if opt.tlsCert == "" && opt.tlsKey == "" {
		ln, err := listenLoopback(opt.listen)
		if err != nil {
			return nil, err
		}
		addr := ln.Addr().String()
		f := &front{Listener: ln, door: server.BrowserDoor(addr), url: "http://" + addr, page: "http://" + addr, public: opt.public}
		if opt.signing != "" {
			if err := f.name(); err != nil && opt.public == "" {
				return nil, errors.Join(err, ln.Close())
			}
		}
		f.door = f.door.Also(opt.public)
		return f, nil
	}
	certs, err := loadCertificate(opt.tlsCert, opt.tlsKey, opt.log)
	if err != nil {
		return nil, err
	}
	ln, err := listenTCP(opt.listen)
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(ln.Addr().String())
	door := server.SecureDoor(certs.names(), port)
	f := &front{Listener: tls.NewListener(ln, certs.config()), door: door.Also(opt.public), url: door.Origins[0], page: door.Origins[0], public: opt.public}
	if f.public == "" && !isLoopback(host) {
		f.public = f.url
	}
	return f, nil
}

// listenLoopback refuses any address that another machine could reach.
func listenLoopback(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err == nil && !isLoopback(host) {
		return nil, withHint(fmt.Errorf("can't listen on %s, which is not a loopback address, without TLS", addr),
			"give a certificate with --tls-cert and --tls-key, or forward a port with ssh to reach the gateway from elsewhere")
	}
	return listenTCP(addr)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func listenTCP(addr string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, withHint(fmt.Errorf("can't listen on %s: %w", addr, err), "give host and port, such as "+defaultListen)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, withHint(err, "something else uses that port; choose another, or any free one with --listen 127.0.0.1:0")
	}
	return ln, nil
}

// socketDir is where the sockets lie: in the state directory, unless its path
// is too long for a socket's name.
func (g *gateway) socketDir() (dir string, err error) {
	const most = 80
	if dir = g.opt.state.Run(); len(dir) > most {
		g.temp, err = os.MkdirTemp("", "gatelatch-")
		dir = g.temp
	}
	return dir, err
}

// listenSocket removes what a killed gateway left: the lock says that no other
// one lives.
func listenSocket(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return ln, os.Chmod(path, 0o600)
}

// checkTLS wants both halves of a certificate or none.
func checkTLS(opt gatewayOptions) error {
	if (opt.tlsCert == "") != (opt.tlsKey == "") {
		return withHint(errors.New("a certificate and its key go together"), "give both --tls-cert and --tls-key")
	}
	for _, path := range []string{opt.tlsCert, opt.tlsKey} {
		if path != "" && !filepath.IsAbs(path) {
			return fmt.Errorf("%s: the certificate and its key need absolute paths", path)
		}
	}
	return nil
}
