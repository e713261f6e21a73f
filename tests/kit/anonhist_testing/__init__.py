"""The test kit: repeatable sources and statistical assertions. No shipped code imports it."""
