// Package crash kills the real gateway at every single write and fsync of a
// canonical workload, fills its disk, breaks its disk and kills its PostgreSQL
// in mid-commit. What clients were told is kept in a ledger and held against
// what the store says afterwards: nothing acknowledged is lost, nothing is there
// twice or without its event, and no latch opened twice.
package crash
