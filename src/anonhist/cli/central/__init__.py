"""Commands on whole data: release, estimate, plan, compare, and draw."""
