package leftover

var RunFor = run
