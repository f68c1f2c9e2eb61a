"""Every form: input is checked here and nowhere else."""

import re
import uuid
from collections.abc import Mapping
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings

from rollouts_app.models import Branch, Membership, Repository, RolloutVersion, Workspace
from rollouts_app.models.workspaces import RESERVED_SLUGS, is_slug

# What GitHub accepts as a repository's name.
REPOSITORY_NAME = re.compile(r"(?!\.{1,2}$)(?!.*\.git$)[A-Za-z0-9._-]{1,100}")
# What `osmosis rollout init` accepts as a name.
ROLLOUT_NAME = re.compile(r"[a-z][a-z0-9-]*")
RESERVED_ROLLOUT_NAMES = frozenset({"default"})


class WorkspaceForm(forms.Form):
    """The name of a new workspace, which is also its address."""

    slug = forms.CharField(
        label="Name",
        max_length=64,
        validators=[is_slug],
        widget=forms.TextInput(
            {
                "autofocus": True,
                "autocapitalize": "none",
                "autocomplete": "off",
                "spellcheck": "false",
            }
        ),
        help_text="Lower-case letters, digits and dashes. It is the first part of your addresses.",
    )

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug in RESERVED_SLUGS:
            raise forms.ValidationError(
                f"“{slug}” is an address of this server. Choose another name."
            )
        return slug


class SettingsForm(WorkspaceForm):
    """A workspace's name and the time zone of its pages."""

    timezone = forms.CharField(label="Time zone")

    def __init__(self, values: Mapping[str, Any] | None, workspace: Workspace) -> None:
        super().__init__(values, initial={"slug": workspace.slug, "timezone": workspace.timezone})
        # What is set stays a choice, also on a machine that does not know it.
        self.zones = sorted({"UTC", workspace.timezone} | available_timezones())
        slug = self.fields["slug"]
        del slug.widget.attrs["autofocus"]
        slug.help_text = (
            f"{slug.help_text} Old ones lead to the new, while this workspace is there."
        )

    def clean_timezone(self) -> str:
        zone: str = self.cleaned_data["timezone"]
        if zone not in self.zones:
            raise forms.ValidationError("Choose one of the time zones listed.")
        return zone


class AccessForm(forms.Form):
    """What GitHub's permissions count for in a workspace: two switches, off where not sent."""

    needs_read_access = forms.BooleanField(required=False)
    is_open_to_readers = forms.BooleanField(required=False)


MOST_LOGINS = 50


class InviteForm(forms.Form):
    """Whom to invite, and as what: whoever gets a link, an e-mail address, or GitHub accounts.

    `request` tells the same form sent twice from a second invitation.
    """

    logins = forms.CharField(required=False, max_length=5000)
    email = forms.EmailField(required=False)
    request = forms.UUIDField(required=False, initial=uuid.uuid4)

    def __init__(self, values: Mapping[str, Any] | None, own: Membership) -> None:
        super().__init__(values)
        ways = ["logins", "link", *(["email"] if settings.EMAIL_HOST else [])]
        roles = [(role.value, role.label) for role in own.roles_to_give]
        self.fields["how"] = forms.ChoiceField(
            choices=[(way, way) for way in ways], initial="logins"
        )
        self.fields["role"] = forms.ChoiceField(choices=roles, initial=Membership.Role.MEMBER)

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        how = values.get("how")
        if how == "email" and "email" in values and not values["email"]:
            self.add_error("email", "Enter the address to send the invitation to.")
        if how == "logins" and not 0 < len(self.all_logins) <= MOST_LOGINS:
            self.add_error(
                "logins",
                f"Enter one GitHub login, or up to {MOST_LOGINS}: one a line or with commas.",
            )
        return values

    @property
    def all_logins(self) -> list[str]:
        """The logins that were entered, each once, as they were first written."""
        found: dict[str, str] = {}
        for word in re.split(r"[\s,;]+", self.cleaned_data.get("logins", "")):
            login = word.removeprefix("@")
            found.setdefault(login.casefold(), login)
        return [login for login in found.values() if login]


class NewRolloutForm(forms.Form):
    """The name of a rollout to be, by the rule of `osmosis rollout init`, new on its branch.

    `since` is the newest sync run there was when the waiting for its push began.
    """

    name = forms.CharField(required=False)
    since = forms.IntegerField(required=False, min_value=0, max_value=2**63 - 1)

    def __init__(self, values: Mapping[str, Any], branch: Branch | None) -> None:
        super().__init__(values)
        self.branch = branch

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name in RESERVED_ROLLOUT_NAMES:
            raise forms.ValidationError(f"“{name}” is reserved. Choose another name.")
        if name and not ROLLOUT_NAME.fullmatch(name):
            raise forms.ValidationError(
                "A name starts with a–z; then come a–z, 0–9 and dashes, and nothing else."
            )
        if name and self.branch and self._is_taken(self.branch, name):
            raise forms.ValidationError(
                f"{self.branch.name} has a rollout named {name}. Choose another name."
            )
        return name

    def _is_taken(self, branch: Branch, name: str) -> bool:
        return RolloutVersion.objects.on(branch).filter(rollout__name=name).exists()


class RepositoryChoiceForm(forms.Form):
    """A repository picked from an installation, as "installation:repository" numbers."""

    choice = forms.RegexField(r"^\d{1,18}:\d{1,18}$")

    @property
    def numbers(self) -> tuple[int, int]:
        installation, repository = self.cleaned_data["choice"].split(":")
        return int(installation), int(repository)


class NewRepositoryForm(forms.Form):
    """A repository to create from the template: on which installation's account, and its name."""

    installation = forms.IntegerField(min_value=1, max_value=2**53)
    name = forms.RegexField(
        REPOSITORY_NAME,
        label="Name",
        max_length=100,
        error_messages={
            "invalid": "Use letters, digits, dots, dashes and underscores, up to 100 of them."
        },
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not REPOSITORY_NAME.fullmatch(name):
            raise forms.ValidationError("GitHub has no repositories of this name. Choose another.")
        return name


class DeletionForm(forms.Form):
    """Consent to a deletion: the repository's name, typed."""

    name = forms.CharField(required=False)

    def __init__(self, values: Mapping[str, Any] | None, repository: Repository) -> None:
        super().__init__(values)
        self.repository = repository

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if self.wants_deletion and name.casefold() != self.repository.full_name.casefold():
            raise forms.ValidationError(
                f"To delete for good, type {self.repository.full_name} here. Nothing was changed."
            )
        return name

    @property
    def wants_deletion(self) -> bool:
        return True


class DisconnectForm(DeletionForm):
    """Whether what was synced is kept or deleted; a deletion needs the repository's name."""

    choice = forms.ChoiceField(choices=[("keep", "Keep"), ("delete", "Delete")], initial="keep")
    field_order = ("choice", "name")

    @property
    def wants_deletion(self) -> bool:
        return self.cleaned_data.get("choice") == "delete"


class ApiKeyForm(forms.Form):
    """What a new API key is called, and for how many days it is good."""

    DAYS = (("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "1 year"))

    name = forms.CharField(
        label="Name",
        max_length=100,
        widget=forms.TextInput({"autofocus": True, "autocomplete": "off", "class": "input"}),
        error_messages={"required": "Give it a name, by which you know later what uses it."},
        help_text="What will use it, such as “CI of agents”.",
    )
    days = forms.ChoiceField(label="Expires after", choices=DAYS, initial="90")
    request = forms.UUIDField(required=False, initial=uuid.uuid4)
