"""Node privacy: degrees are bounded first, so that one node with any edges changes what is counted by no more."""
