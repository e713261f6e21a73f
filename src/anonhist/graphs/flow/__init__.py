"""Degrees capped by a flow that shares edges out evenly, exactly and with a certificate."""
