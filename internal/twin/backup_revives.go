//go:build twin_backup_revives

package twin

// Is is the name of the twin.
const Is = "backup_revives"
