from anonhist.numeric.projective_space import is_prime, prime_at_least, prime_at_most, prime_factors
from anonhist_testing.cases import each_of


def test_primes_are_those_of_a_sieve() -> None:
    sieve = [True] * 5000
    sieve[:2] = False, False
    for number in range(2, 71):
        sieve[number * number :: number] = [False] * len(sieve[number * number :: number])
    assert [is_prime(number) for number in range(5000)] == sieve


@each_of("number", [1, 2, 97, 360, 2**26 - 1, 3_330_300, 2**31 - 1, 7_411_742_281])
def test_factors_are_prime_and_make_up_the_number(number: int) -> None:
    factors = prime_factors(number)
    assert list(factors) == sorted(set(factors))
    assert all(is_prime(factor) and number % factor == 0 for factor in factors)
    left = number
    for factor in factors:
        while left % factor == 0:
            left //= factor
    assert left == 1


@each_of("number", [2, 3, 4, 24, 25, 89, 90, 96, 7920])
def test_neighbouring_primes_have_no_prime_in_between(number: int) -> None:
    above, below = prime_at_least(number), prime_at_most(number)
    assert below <= number <= above
    assert is_prime(below)
    assert is_prime(above)
    assert not any(is_prime(between) for between in range(below + 1, above))
