"""Budgets of data sets, in a ledger that survives the process."""

from anonhist.accounting.balance import Balance
from anonhist.accounting.budget import Budget, Cost
from anonhist.accounting.charge import Charge, Receipt
from anonhist.accounting.entry import Entry
from anonhist.accounting.ledger import Ledger
from anonhist.accounting.verification import Released, Verification, verify

__all__ = ["Balance", "Budget", "Charge", "Cost", "Entry", "Ledger", "Receipt", "Released", "Verification", "verify"]
