"""A small GitHub on loopback, for tests and the demo: real git, real HTTP, real signatures.

It is shaped as GitHub Enterprise: pages and OAuth at the root, API below /api/v3, git at
/OWNER/NAME.git. It speaks GitHub's documented words, and is the only place where webhook bodies are
written down. Production code never imports it.
"""

from .bare import Content, Submodule, Symlink
from .emulator import GitHubEmulator
from .git import GitFailed
from .webhooks import Delivery

__all__ = ["Content", "Delivery", "GitFailed", "GitHubEmulator", "Submodule", "Symlink"]
