"""The product's own settings, for a product whose GitHub is the emulator on this machine."""

import atexit
import os
import shutil
import socket
import tempfile
from pathlib import Path

from cryptography.fernet import Fernet

from tests.github_emulator import GitHubEmulator


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


FOLDER = Path(tempfile.mkdtemp(prefix="osmosis-tests-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
(FOLDER / "static").mkdir()  # WhiteNoise warns of a missing one
LIVE_SERVER = f"127.0.0.1:{free_port()}"
EMULATOR = GitHubEmulator(FOLDER / "github", free_port())
EMULATOR.keeps_records = False
EMULATOR.app.callback_urls = [
    f"http://{host}/accounts/github/login/callback/" for host in ("testserver", LIVE_SERVER)
]
EMULATOR.app.webhook_url = f"http://{LIVE_SERVER}/webhooks/github"
EMULATOR.app.setup_url = f"http://{LIVE_SERVER}/onboarding/installed"

os.environ |= {
    "PUBLIC_URL": f"http://{LIVE_SERVER}",
    "DJANGO_LIVE_TEST_SERVER_ADDRESS": LIVE_SERVER,
    # Playwright keeps an event loop in the test's thread, beside which Django refuses to work.
    "DJANGO_ALLOW_ASYNC_UNSAFE": "true",
    "SECRET_KEY": "only for tests",
    "ENCRYPTION_KEYS": Fernet.generate_key().decode(),
    "DATA_DIR": str(FOLDER),
    "SIGN_IN": "everybody",
    "GITHUB_URL": EMULATOR.url,
    "GITHUB_APP_ID": str(EMULATOR.app.id),
    "GITHUB_APP_SLUG": EMULATOR.app.slug,
    "GITHUB_APP_CLIENT_ID": EMULATOR.app.client_id,
    "GITHUB_APP_CLIENT_SECRET": EMULATOR.app.client_secret,
    "GITHUB_APP_PRIVATE_KEY": EMULATOR.app.private_key,
    "GITHUB_APP_WEBHOOK_SECRET": EMULATOR.app.webhook_secret,
}

from osmosis_web.settings import *  # noqa: E402, F403
from osmosis_web.settings import DATABASES, STORAGES  # noqa: E402

# Tests start many threads beside their own; a browser's open pages hold on to connections.
DATABASES["default"]["OPTIONS"]["pool"]["max_size"] = 40

# Files are served from where they are written: no collecting before each test run.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
