package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

// certificate is read again when its files change. The names that the gateway
// answers to are those it had at the start.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	changed [2]time.Time
	now     *tls.Certificate
}

func loadCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log}
	if err := c.load(); err != nil {
		return nil, withHint(fmt.Errorf("the certificate can't be used: %w", err), "--tls-cert is a chain in PEM, --tls-key its key, which others must not read")
	}
	if len(c.names()) == 0 {
		return nil, errors.New("the certificate names no host that the gateway could answer to")
	}
	return c, nil
}

func (c *certificate) load() error {
	when, err := c.times()
	if err != nil {
		return err
	}
	const others = 0o007
	if info, err := os.Stat(c.key); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&others != 0 {
		return fmt.Errorf("%s can be read by everybody", c.key)
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	if pair.Leaf == nil {
		if pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
			return err
		}
	}
	c.now, c.changed = &pair, when
	return nil
}

func (c *certificate) times() (when [2]time.Time, err error) {
	for i, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err != nil {
			return when, err
		}
		when[i] = info.ModTime()
	}
	return when, nil
}

// names are the hosts that the certificate is for, without patterns.
func (c *certificate) names() (out []string) {
	for _, name := range c.now.Leaf.DNSNames {
		if !strings.Contains(name, "*") {
			out = append(out, strings.ToLower(name))
		}
	}
	for _, ip := range c.now.Leaf.IPAddresses {
		out = append(out, ip.String())
	}
	return out
}

// config has no HTTP/2: a request that waits takes its connection over.
func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.get}
}

// get looks whether there is a new one. One that can't be read leaves the old
// in force: half of a renewal is no reason to shut people out.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if when, err := c.times(); err != nil || when == c.changed {
		return c.now, nil
	}
	if err := c.load(); err != nil {
		c.log.Warn("the new certificate can't be used; the old one stays", "err", err)
	}
	return c.now, nil
}
