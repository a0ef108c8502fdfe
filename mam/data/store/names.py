"""The names of shards, and their order."""

import re

SHARD = re.compile(r"part-(\d{5,})\.parquet")


def shard_name(number: int) -> str:
    """The name of a shard.

    >>> shard_name(7)
    'part-00007.parquet'
    """
    return f"part-{number:05d}.parquet"


def shard_order(path: str) -> str:
    """What files of a folder are sorted by: their names, and shards by their numbers.

    The hundred thousandth has a longer name, which would stand before its time.

    >>> sorted(["part-100000.parquet", "part-99999.parquet", "other.parquet"], key=shard_order)
    ['other.parquet', 'part-99999.parquet', 'part-100000.parquet']
    """
    return SHARD.sub(lambda found: f"part-{int(found[1]):020d}.parquet", path)
