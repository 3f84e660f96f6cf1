package notify

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// metadata are addresses at which clouds hand out credentials to whoever asks
// from the machine, beside those that are link-local.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("192.0.0.192/32"), netip.MustParsePrefix("fd00:ec2::254/128"),
}

// Reach says which addresses messages may go to: any but those of this machine
// and of the cloud's own services, unless they are listed.
type Reach []netip.Prefix

// check refuses an address after its name was resolved, so that no name can
// lead elsewhere.
func (r Reach) check(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return permanent(err)
	}
	ip := at.Addr().Unmap().WithZone("")
	for _, p := range r {
		if p.Contains(ip) {
			return nil
		}
	}
	bad := ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || !ip.IsValid() || at.Port() == 0
	for _, p := range metadata {
		bad = bad || p.Contains(ip)
	}
	if bad {
		return permanent(fmt.Errorf("%s is an address that messages may not go to; list it under notify.reach if it is meant", ip))
	}
	return nil
}

// checkForeign is check for an address that no configuration names: it must
// not lead into a network of ours either.
func (r Reach) checkForeign(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return permanent(err)
	}
	ip := at.Addr().Unmap().WithZone("")
	ours := ip.IsPrivate() || shared.Contains(ip) || !ip.IsGlobalUnicast()
	if ours && !slices.ContainsFunc(r, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return permanent(fmt.Errorf("%s is no public address; list it under notify.reach if it is meant", ip))
	}
	return r.check(address)
}

// shared is what providers number their customers with.
var shared = netip.MustParsePrefix("100.64.0.0/10")

func dialer(check func(string) error) *net.Dialer {
	return &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error { return check(address) }}
}

// client follows no redirects and uses no proxy: both would go elsewhere than
// the configuration says.
func (r Reach) client() *http.Client { return client(r.check) }

func client(check func(string) error) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DialContext: dialer(check).DialContext, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second},
	}
}

// post sends a request and judges its answer.
func post(c *http.Client, req *http.Request) error {
	req.Header.Set("User-Agent", "gatelatch")
	resp, err := c.Do(req)
	if err != nil {
		// The address has what the configuration keeps secret in it.
		var inner interface{ Unwrap() error }
		if errors.As(err, &inner) && inner.Unwrap() != nil {
			err = inner.Unwrap()
		}
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<16)
	return judge(resp)
}

func judge(resp *http.Response) error {
	err := fmt.Errorf("the answer is %s", resp.Status)
	switch code := resp.StatusCode; {
	case code/100 == 2:
		return nil
	case code/100 == 3:
		return permanent(fmt.Errorf("%w: redirects are not followed", err))
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code/100 == 5:
		if s, e := strconv.Atoi(resp.Header.Get("Retry-After")); e == nil && s > 0 {
			return &BusyError{Err: err, After: time.Duration(s) * time.Second}
		}
		return err
	}
	return permanent(err)
}
