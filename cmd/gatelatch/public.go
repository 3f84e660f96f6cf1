package main

import (
	"errors"
	"fmt"
	"net/url"
)

// checkPublic refuses what is no origin with TLS: a login, and with it every
// decision, would cross a network in the clear.
func checkPublic(public string) error {
	if public == "" {
		return nil
	}
	u, err := url.Parse(public)
	if err == nil && (u.Scheme != "https" || u.Host == "" || public != "https://"+u.Host) {
		err = errors.New("it is not of the form https://HOST")
	}
	if err != nil {
		return withHint(fmt.Errorf("--public-url %s: %w", public, err),
			"give the address of a tunnel or proxy with TLS, without a path; see docs/page.md")
	}
	return nil
}
