//go:build twin_runs_while_waiting

package twin

// Is is the name of the twin.
const Is = "runs_while_waiting"
