"""The one app of the product."""

from django.apps import AppConfig


class RolloutsAppConfig(AppConfig):
    name = "rollouts_app"
