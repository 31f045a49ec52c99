"""A generator of random numbers that is the same in Python and in the Go tests: a linear congruential one."""


class Draws:
    def __init__(self, seed):
        self.state = seed

    def below(self, m):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) * m >> 31

    def unit(self):
        return self.below(2**14) / 2**14

    def normal(self):
        """Of variance 1/2, nearly normal."""
        return sum(self.unit() for _ in range(6)) - 3
