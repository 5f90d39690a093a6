from slownet.calibration.carried import BEYOND, NEAR, highest


def through(rate, carries=250e6, heaps=1.3e9):
    """A CPU that carries some rate if it handles packets one by one, and more if in batches."""
    return rate if rate <= carries else heaps if rate >= BEYOND else 0.9 * carries


def test_the_highest_rate_is_found_from_below():
    found = highest(through)
    assert 250e6 / NEAR <= found <= 250e6
    assert highest(lambda rate: rate) == BEYOND
