package hookcmd

import "errors"

func startGateway(options) error {
	return errors.New("starting the gateway on demand is not supported on Windows yet")
}
