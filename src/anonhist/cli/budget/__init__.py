"""Commands of budgets and their ledger."""
