"""GitHub by REST: who the App is, where it is installed, which repositories and people there are.

Knows HTTP and nothing of our tables; imports nothing of ours but the errors. Frozen dataclasses
come out, or one of the four errors. What a repository holds is read by git, in `gitstore`.
"""

from rollouts_app.github.app_shapes import AppFacts, DeliveryFacts, HookFacts, NewAppFacts
from rollouts_app.github.client import (
    AppClient,
    InstallationClient,
    UserClient,
    api_url,
    convert_manifest,
)
from rollouts_app.github.oauth import accepts_client
from rollouts_app.github.shapes import (
    InstallationFacts,
    InstallationToken,
    PermissionFacts,
    RateFacts,
    RepositoryFacts,
    RequestFacts,
    UserFacts,
    read_installation,
)
from rollouts_app.github.signature import is_genuine

__all__ = [
    "AppClient",
    "AppFacts",
    "DeliveryFacts",
    "HookFacts",
    "InstallationClient",
    "InstallationFacts",
    "InstallationToken",
    "NewAppFacts",
    "PermissionFacts",
    "RateFacts",
    "RepositoryFacts",
    "RequestFacts",
    "UserClient",
    "UserFacts",
    "accepts_client",
    "api_url",
    "convert_manifest",
    "is_genuine",
    "read_installation",
]
