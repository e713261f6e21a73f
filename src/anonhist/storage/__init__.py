"""Databases that anonhist writes: how they open, when a transaction is on the disk, and what their errors mean."""
