//go:build twin_digest_ignored

package twin

// Is is the name of the twin.
const Is = "digest_ignored"
