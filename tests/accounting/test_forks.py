"""What a forked process does with a ledger of its parent, and what becomes of it."""

import os
import signal
import threading
import time
from collections.abc import Callable
from fractions import Fraction

import pytest

from anonhist.accounting import Charge, Ledger, verify

Asking = Callable[..., Charge]


def _in_child(work: Callable[[], object]) -> int:
    """Fork, and return the child: it ends with 0 if its work is done."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001  # the child must not go on with the tests
            os._exit(1)
        os._exit(0)
    return child


def _ended(child: int, seconds: float = 30) -> int | None:
    """Return how a child ended, or None if it had to be killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def test_a_forked_process_opens_its_own_connection(ledger: Ledger, asking: Asking) -> None:
    ledger.charge(asking("0.1"))
    assert _ended(_in_child(lambda: ledger.charge(asking("0.2")))) == 0
    ledger.charge(asking("0.3"))
    assert ledger.balance("passwords").spent.epsilon == Fraction(3, 5)


@pytest.mark.full
@pytest.mark.first(1)
def test_a_process_forked_while_a_thread_charges_charges_too(ledger: Ledger, asking: Asking) -> None:
    stop = threading.Event()

    def charge_on() -> None:
        while not stop.wait(0.002):
            ledger.charge(asking("1e-9"))

    thread = threading.Thread(target=charge_on)
    thread.start()
    try:
        ends = []
        for _ in range(8):
            time.sleep(0.01)
            ends.append(_ended(_in_child(lambda: ledger.charge(asking("0.1")))))
            if ends[-1] is None:
                break
    finally:
        stop.set()
        thread.join()
    assert ends == [0] * 8
    assert verify(ledger).problems == ()
    assert ledger.balance("passwords").spent.epsilon > Fraction(4, 5)


def test_charges_of_a_child_stay_when_its_parent_closes_the_ledger(ledger: Ledger, asking: Asking) -> None:
    ledger.charge(asking("0.1"))
    opened, closed = os.pipe(), os.pipe()

    def charge_twice() -> None:
        ledger.charge(asking("0.2"))
        os.write(opened[1], b"x")
        os.read(closed[0], 1)
        ledger.charge(asking("0.3"))

    child = _in_child(charge_twice)
    os.read(opened[0], 1)
    ledger.close()
    os.write(closed[1], b"x")
    assert _ended(child) == 0
    for each in (*opened, *closed):
        os.close(each)
    assert ledger.balance("passwords").spent.epsilon == Fraction(3, 5)
