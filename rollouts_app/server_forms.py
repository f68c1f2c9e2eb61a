"""The forms of those who look after the server: first run, settings, secrets."""

import re
from typing import Any

from django import forms

from rollouts_app.github_setup import LONGEST_NAME, Wishes, can_be_reached, suggested_name
from rollouts_app.models import ServerSettings

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,98}[A-Za-z0-9])?")
NO_LOGIN = "{} is no name that GitHub gives: letters, digits and single dashes."
PLAIN = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class AppForm(forms.Form):
    """What the GitHub App of this server is to be."""

    name = forms.CharField(
        label="Name of the App",
        max_length=LONGEST_NAME,
        help_text="People see it when they sign in. On GitHub no other App may have it.",
        widget=forms.TextInput(PLAIN),
    )
    owner = forms.ChoiceField(
        choices=[("person", "My own account"), ("organization", "An organization")],
        initial="person",
    )
    organization = forms.CharField(
        label="Organization",
        required=False,
        max_length=100,
        help_text="Its name in addresses, as in github.com/acme. You have to be an owner of it.",
        widget=forms.TextInput(PLAIN),
    )
    has_webhook = forms.BooleanField(required=False)
    is_public = forms.BooleanField(required=False)
    may_create = forms.BooleanField(required=False)

    def __init__(self, values: Any = None) -> None:
        super().__init__(
            values, initial={"name": suggested_name(), "has_webhook": can_be_reached()}
        )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("owner") != "organization":
            values["organization"] = ""
        elif not LOGIN.fullmatch(values.get("organization", "")):
            self.add_error("organization", "Enter the organization's name, as in github.com/acme.")
        return values

    @property
    def wishes(self) -> Wishes:
        """What was entered; the form must be valid."""
        values = self.cleaned_data
        return Wishes(
            name=values["name"],
            organization=values["organization"],
            has_webhook=values["has_webhook"],
            is_public=values["is_public"],
            may_create=values["may_create"],
        )


class PolicyForm(forms.Form):
    """Who may sign in, and who may create workspaces."""

    sign_in = forms.ChoiceField(choices=ServerSettings.SignIn)
    organizations = forms.CharField(
        label="Organizations",
        required=False,
        max_length=5000,
        widget=forms.TextInput(PLAIN),
        help_text="With commas between them. Whoever reaches the GitHub App's installation there "
        "may sign in, which means everybody who can read one of its repositories.",
    )
    workspace_creators = forms.ChoiceField(choices=ServerSettings.Creators)

    def __init__(self, values: Any, server: ServerSettings) -> None:
        super().__init__(
            values,
            initial={
                "sign_in": server.who_may_sign_in,
                "organizations": ", ".join(server.organizations),
                "workspace_creators": server.workspace_creators,
            },
        )

    @property
    def changes(self) -> dict[str, Any]:
        """What is new of the choices, as before → after."""
        after = {
            **self.cleaned_data,
            "organizations": ", ".join(self.cleaned_data["organizations"]),
        }
        return {name: f"{self.initial[name]} → {after[name]}" for name in self.changed_data}

    def clean_organizations(self) -> list[str]:
        found: dict[str, str] = {}
        for name in re.split(r"[\s,;]+", self.cleaned_data["organizations"].strip()):
            if name and not LOGIN.fullmatch(name):
                raise forms.ValidationError(NO_LOGIN.format(name))
            found.setdefault(name.casefold(), name)
        return [name for name in found.values() if name]


class SecretForm(forms.Form):
    """One of the App's secrets, renewed."""

    kind = forms.ChoiceField(
        choices=[(kind, kind) for kind in ("private_key", "client_secret", "webhook_secret")]
    )
    secret = forms.CharField(
        max_length=20_000, error_messages={"required": "Paste the new secret here."}
    )


class AdministratorForm(forms.Form):
    """Somebody who has signed in before, by GitHub login."""

    login = forms.CharField(label="GitHub login", max_length=100, widget=forms.TextInput(PLAIN))
