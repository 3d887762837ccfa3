//go:build race

package provider_test

// raceEnabled says whether the race detector runs.
const raceEnabled = true
