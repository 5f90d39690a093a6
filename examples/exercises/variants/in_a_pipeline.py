"""Questions to Redis, one by one and many at once: what 17_in_a_pipeline.toml measures."""

from slownet import Redis
from slownet.tools.redis_benchmark import redis_benchmark

TURNS = 100


def redis(net, directory):
    """Start Redis on the host `server`."""
    return Redis(net["server"], directory)


def ask(net, redis, depth):
    """Return how many questions are answered in a second on one connection."""
    alone, together = (
        redis_benchmark(net["client"], redis.host.IP(), requests=TURNS * each, pipeline=each).per_s for each in (1, depth)
    )
    return {"alone_per_s": alone, "together_per_s": together}
