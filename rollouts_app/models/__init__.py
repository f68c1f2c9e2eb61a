"""The facts, one noun a file. This is the list of all tables."""

from rollouts_app.models.apps import GitHubApp
from rollouts_app.models.audit import AuditEvent
from rollouts_app.models.branches import Branch
from rollouts_app.models.catalogs import Catalog
from rollouts_app.models.configs import ConfigVersion
from rollouts_app.models.deliveries import WebhookDelivery
from rollouts_app.models.invitations import Invitation
from rollouts_app.models.names import RepositoryName
from rollouts_app.models.repositories import Installation, Repository
from rollouts_app.models.requests import InstallationRequest
from rollouts_app.models.rollouts import Rollout
from rollouts_app.models.server import ServerSettings
from rollouts_app.models.syncs import SyncRun
from rollouts_app.models.tallies import Tally
from rollouts_app.models.tokens import CliToken, DeviceGrant
from rollouts_app.models.users import User
from rollouts_app.models.versions import RolloutVersion
from rollouts_app.models.workspaces import Membership, Workspace, WorkspaceSlug

__all__ = [
    "AuditEvent",
    "Branch",
    "Catalog",
    "CliToken",
    "ConfigVersion",
    "DeviceGrant",
    "GitHubApp",
    "Installation",
    "InstallationRequest",
    "Invitation",
    "Membership",
    "Repository",
    "RepositoryName",
    "Rollout",
    "RolloutVersion",
    "ServerSettings",
    "SyncRun",
    "Tally",
    "User",
    "WebhookDelivery",
    "Workspace",
    "WorkspaceSlug",
]
