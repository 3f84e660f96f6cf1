//go:build twin_clock_runs_back

package twin

// Is is the name of the twin.
const Is = "clock_runs_back"
