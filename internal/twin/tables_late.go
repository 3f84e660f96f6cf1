//go:build twin_tables_late

package twin

// Is is the name of the twin.
const Is = "tables_late"
