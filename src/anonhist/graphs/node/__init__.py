"""Node privacy: degrees are bounded first, so that one node with any edges has a bounded effect."""
