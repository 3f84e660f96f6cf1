// Package linear tests three gateways on one database: whatever is done to
// them, what their clients are told could have been said by a single one.
package linear
