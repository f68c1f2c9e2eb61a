"""The web server's entry."""

import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "osmosis_web.settings")
application = get_wsgi_application()
# Tables may be imported from here on.
import_module("rollouts_app.metrics.handing").keep_handing_over()
