//go:build twin_ack_before_commit

package twin

// Is is the name of the twin.
const Is = "ack_before_commit"
