//go:build twin_checksum_ignored

package twin

// Is is the name of the twin.
const Is = "checksum_ignored"
