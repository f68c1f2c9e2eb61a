"""gunicorn's own lines, which look like all others."""

import os

from django.conf import settings
from gunicorn.config import Config
from gunicorn.glogging import Logger

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "osmosis_web.settings")


class GunicornLogger(Logger):
    """Writes in the format that LOG_FORMAT asks for."""

    def setup(self, cfg: Config) -> None:
        super().setup(cfg)
        line = dict(settings.LOGGING["formatters"]["line"])
        formatter = line.pop("()")(line.pop("format", None), **line)
        for handler in self.error_log.handlers:
            handler.setFormatter(formatter)
