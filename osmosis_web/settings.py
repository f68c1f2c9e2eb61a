"""The settings, and the only place where the environment is read. Safe by default."""

from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from osmosis_web.environment import env, env_all_or_none, env_choice, env_int, env_secret
from osmosis_web.logs import FORMATS, logging_settings
from osmosis_web.mail import mail_server

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env("DATA_DIR", str(BASE_DIR / ".data"))).resolve()

# Where people reach this server. Hosts, trusted origins and cookie security follow from it.
PUBLIC_URL = env("PUBLIC_URL").rstrip("/")
_public = urlsplit(PUBLIC_URL)
if _public.scheme not in {"http", "https"} or not _public.hostname or _public.path:
    raise ImproperlyConfigured(
        f"PUBLIC_URL must look like https://rollouts.example.org, not {PUBLIC_URL!r}."
    )
_is_https = _public.scheme == "https"

DEBUG = False
SECRET_KEY = env_secret("SECRET_KEY")
# Fernet keys for what is encrypted at rest, newest first.
ENCRYPTION_KEYS = [key.strip() for key in env_secret("ENCRYPTION_KEYS").split(",") if key.strip()]
ALLOWED_HOSTS = [f"[{_public.hostname}]" if ":" in _public.hostname else _public.hostname]
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

# The repository host. Anything but github.com is taken as GitHub Enterprise: pages and git at the
# root, the API under /api/v3.
GITHUB_URL = env("GITHUB_URL", "https://github.com").rstrip("/")

# The GitHub App, when somebody made it by hand. All or none: without them it is made at /setup.
GITHUB_APP_ID = env("GITHUB_APP_ID", "")
GITHUB_APP_SLUG = env("GITHUB_APP_SLUG", "")
GITHUB_APP_CLIENT_ID = env("GITHUB_APP_CLIENT_ID", "")
GITHUB_APP_CLIENT_SECRET = env_secret("GITHUB_APP_CLIENT_SECRET", "")
GITHUB_APP_PRIVATE_KEY = env_secret("GITHUB_APP_PRIVATE_KEY", "")
GITHUB_APP_WEBHOOK_SECRET = env_secret("GITHUB_APP_WEBHOOK_SECRET", "")
# While the webhook secret is changed, deliveries signed with the one before count as well.
GITHUB_APP_FORMER_WEBHOOK_SECRET = env_secret("GITHUB_APP_FORMER_WEBHOOK_SECRET", "")
env_all_or_none(
    {
        "GITHUB_APP_ID": GITHUB_APP_ID,
        "GITHUB_APP_SLUG": GITHUB_APP_SLUG,
        "GITHUB_APP_CLIENT_ID": GITHUB_APP_CLIENT_ID,
        "GITHUB_APP_CLIENT_SECRET": GITHUB_APP_CLIENT_SECRET,
        "GITHUB_APP_PRIVATE_KEY": GITHUB_APP_PRIVATE_KEY,
        "GITHUB_APP_WEBHOOK_SECRET": GITHUB_APP_WEBHOOK_SECRET,
    }
)

# Who may sign in until an administrator has chosen on /server.
SIGN_IN = env_choice("SIGN_IN", "invited", "invited", "everybody")

# The repository that newcomers may start theirs from, "owner/name"; none when empty.
TEMPLATE_REPOSITORY = env(
    "TEMPLATE_REPOSITORY",
    "Osmosis-AI/workspace-template" if GITHUB_URL == "https://github.com" else "",
)

# How often the heads of a repository are compared when no webhook comes, in seconds.
SYNC_INTERVAL_SECONDS = env_int("SYNC_INTERVAL_SECONDS", 300)

# What the git caches of all repositories may take of this machine's disk, in bytes.
GIT_CACHE_BYTES = env_int("GIT_CACHE_BYTES", 20_000_000_000)

# The server that sends invitations; without one there are only links.
_mail = mail_server(env_secret("EMAIL_URL", ""), PUBLIC_URL)
EMAIL_HOST, EMAIL_PORT = _mail.host, _mail.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.user, _mail.password
EMAIL_USE_TLS, EMAIL_USE_SSL, EMAIL_TIMEOUT = _mail.starts_tls, _mail.is_tls, 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = _mail.sender

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.github",
    "csp",
    "django_htmx",
    "procrastinate.contrib.django",
    "template_partials",
    "rollouts_app",
]

MIDDLEWARE = [
    "rollouts_app.views.operations.ProbesMiddleware",
    "rollouts_app.views.requests.RequestMiddleware",
    "rollouts_app.cli_api.errors.JsonErrorsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "rollouts_app.views.setup_first.SetupFirstMiddleware",
    "rollouts_app.views.access.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "osmosis_web.urls"
WSGI_APPLICATION = "osmosis_web.wsgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": [
                "rollouts_app.templatetags.rollouts",
                "template_partials.templatetags.partials",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES = {"default": dj_database_url.parse(env("DATABASE_URL"), conn_health_checks=True)}
if DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
    raise ImproperlyConfigured("DATABASE_URL must name a PostgreSQL server (postgres://…).")
DATABASES["default"].setdefault("OPTIONS", {}).setdefault(
    "pool", {"min_size": 1, "max_size": 10, "timeout": 10}
)
PROCRASTINATE_IMPORT_PATHS = ["rollouts_app.sync.tasks", "rollouts_app.sync.upkeep"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Rate limits and short-lived tokens: shared by all processes, gone with the database.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "cache_entries",
        # Beyond this a third is thrown away, valid or not: Django's 300 are one busy hour.
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

# Sign-in: GitHub only, with the App's own OAuth. The user's token is not kept by allauth.
AUTH_USER_MODEL = "rollouts_app.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "landing"
ACCOUNT_ADAPTER = "rollouts_app.accounts.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_DEFAULT_HTTP_PROTOCOL = _public.scheme
ACCOUNT_LOGOUT_REDIRECT_URL = "landing"
SOCIALACCOUNT_ADAPTER = "rollouts_app.accounts.GitHubAdapter"
SOCIALACCOUNT_ONLY = True
# A GitHub App without "Email addresses: read" is refused /user/emails, which would end the sign-in.
SOCIALACCOUNT_QUERY_EMAIL = False
SOCIALACCOUNT_PROVIDERS = {
    "github": {
        "OAUTH_PKCE_ENABLED": True,
        # allauth takes any GITHUB_URL for GitHub Enterprise, and github.com for granted.
        **({} if GITHUB_URL == "https://github.com" else {"GITHUB_URL": GITHUB_URL}),
    }
}

# How many proxies in front of this server are trusted to say who calls and by which scheme.
TRUSTED_PROXY_COUNT = env_int("TRUSTED_PROXY_COUNT", 0)
ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXY_COUNT
if TRUSTED_PROXY_COUNT:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = _is_https
SESSION_COOKIE_NAME = "osmosis_session"
CSRF_COOKIE_NAME = "osmosis_csrf"
CSRF_FAILURE_VIEW = "rollouts_app.views.failures.csrf_failure"
SECURE_HSTS_SECONDS = 31536000 if _is_https else 0
# Subdomains and the browsers' preload list are for the domain's owner to decide, not for us.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "connect-src": [SELF],
        # Signing in posts to us, which redirects to GitHub: browsers check the whole way.
        "form-action": [SELF, GITHUB_URL],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# GitHub never sends more than 25 MB in a webhook.
DATA_UPLOAD_MAX_MEMORY_SIZE = 26 * 1024 * 1024

# Lets Prometheus read /metrics; without it there is no such page.
METRICS_TOKEN = env_secret("METRICS_TOKEN", "")

LOG_FORMAT = env("LOG_FORMAT", "text")
if LOG_FORMAT not in FORMATS:
    raise ImproperlyConfigured(f"LOG_FORMAT must be text or json, not {LOG_FORMAT!r}.")
# What must never stand in the log, wherever it comes from.
LOGGING = logging_settings(
    LOG_FORMAT,
    secrets=[
        SECRET_KEY,
        *ENCRYPTION_KEYS,
        GITHUB_APP_CLIENT_SECRET,
        GITHUB_APP_PRIVATE_KEY,
        GITHUB_APP_WEBHOOK_SECRET,
        METRICS_TOKEN,
        EMAIL_HOST_PASSWORD,
        str(DATABASES["default"].get("PASSWORD") or ""),
    ],
)
