"""The address of the studio, and the token that admits a browser."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

HOST = "127.0.0.1"  # the one address that the studio listens on


@dataclass(frozen=True)
class Entrance:
    """The name, the port and the token of one start of the studio.

    Examples
    --------
    >>> Entrance(8321, "6b0c25a7d1e94f38.localhost", "secret").address("/data/1")
    'http://6b0c25a7d1e94f38.localhost:8321/data/1?token=secret'
    >>> Entrance(8321, HOST, "secret").address("/data/1")
    'http://127.0.0.1:8321/secret/data/1'
    """

    port: int
    name: str  # `HOST`: there is no cookie, and every path begins with the token
    token: str

    @classmethod
    def draw(cls, port: int, *, plain_host: bool = False) -> Entrance:
        """Draw a name and a token; with `plain_host` the name is `HOST`."""
        name = HOST if plain_host else f"{secrets.token_hex(8)}.localhost"
        return cls(port, name, secrets.token_urlsafe(32))

    @property
    def host(self) -> str:
        """Return the required ``Host`` header: browsers omit port 80."""
        return self.name if self.port == 80 else f"{self.name}:{self.port}"

    @property
    def root(self) -> str:
        """Return the prefix of every path."""
        return f"/{self.token}" if self.name == HOST else ""

    def address(self, place: str) -> str:
        """Return the address of the page at `place`, with the token."""
        query = "" if self.root else f"?token={self.token}"
        return f"http://{self.host}{self.root}{place}{query}"
