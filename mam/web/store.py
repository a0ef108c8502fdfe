"""What people sent, in memory: the least recently used goes first when there is no room."""

from collections import OrderedDict
from hashlib import sha256
from typing import NamedTuple


class Held(NamedTuple):
    """Bytes under a name."""

    name: str
    content: bytes


class MemoryStore:
    """Contents by their digest; equal ones are held once.

    >>> store = MemoryStore(10)
    >>> first, second = store.put("a", b"12345"), store.put("b", b"678901")
    >>> store.get(first) is None, store.get(second)
    (True, Held(name='b', content=b'678901'))
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._bytes = 0

    def put(self, name: str, content: bytes) -> str:
        """Keep a content and return its key."""
        key = sha256(name.encode() + b"\0" + content).hexdigest()
        if key not in self._held:
            self._held[key] = Held(name, content)
            self._bytes += len(content)
        self._held.move_to_end(key)
        while self._bytes > self._room and len(self._held) > 1:
            _, gone = self._held.popitem(last=False)
            self._bytes -= len(gone.content)
        return key

    def get(self, key: str) -> Held | None:
        """What is held under a key, if it still is."""
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def __len__(self) -> int:
        return len(self._held)
