"""Django's settings. What differs between installations comes from `env.py`; the rest is decided here."""

from pathlib import Path

import dj_database_url
from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE

from muster.config import logs

# Whoever loads the settings may ring a bell: shared tasks must find our broker, not Celery's default app.
from muster.config.celery import app as celery_app  # noqa: F401
from muster.config.env import ROOT, env

MUSTER = env()

BASE_DIR = Path(__file__).resolve().parents[1]
SECRET_KEY = MUSTER.signing_key()
DEBUG = MUSTER.debug
ALLOWED_HOSTS = MUSTER.allowed_hosts
CSRF_TRUSTED_ORIGINS = MUSTER.trusted_origins

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "knox",
    "django_filters",
    "django_htmx",
    "django_cotton.apps.SimpleAppConfig",
    "django_vite",
    "channels",
    "tree_queries",
    "pgtrigger",
    "muster.common",
    "muster.audit",
    "muster.accounts",
    "muster.clusters",
    "muster.quotas",
    "muster.workloads",
    "muster.placements",
    "muster.fragmentation",
    "muster.cycle",
    "muster.preview",
    "muster.kube",
    "muster.realtime",
    "muster.web",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "muster.common.middleware.RequestIdMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "muster.config.middleware.ScopedCSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "muster.config.urls"
ASGI_APPLICATION = "muster.config.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
APPEND_SLASH = True
FORCE_SCRIPT_NAME = MUSTER.path_prefix or None

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "web" / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django_cotton.cotton_loader.Loader",
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "builtins": ["django_cotton.templatetags.cotton"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "muster.web.context.frame",
            ],
        },
    }
]

# --- database -------------------------------------------------------------------------------------------------

# Threads that come and go (web, the executor) share a pool; a process with one thread keeps its connection.
_POOL_SIZES = {"web": {"min_size": 2, "max_size": 16}, "kube": {"min_size": 2, "max_size": 40}}
_pool = _POOL_SIZES.get(MUSTER.process)

_database = dj_database_url.parse(MUSTER.postgres)
_connection_options: dict[str, object] = {
    **_database.get("OPTIONS", {}),
    "application_name": f"muster-{MUSTER.process}",
}
if _pool:
    _connection_options["pool"] = _pool

DATABASES = {
    "default": {
        **_database,
        "CONN_HEALTH_CHECKS": True,
        "CONN_MAX_AGE": 0 if _pool else None,
        "OPTIONS": _connection_options,
    }
}

REDIS_URL = MUSTER.redis

# --- people ---------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
KNOX_TOKEN_MODEL = "accounts.ApiToken"
# knox's own migrations would make the table of the token model that ours replaces.
MIGRATION_MODULES = {"knox": None}
LOGIN_URL = "web:sign-in"
LOGIN_REDIRECT_URL = "web:overview"
LOGOUT_REDIRECT_URL = "web:sign-in"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

# --- files and pages ------------------------------------------------------------------------------------------

FRONTEND_DIST = ROOT / "frontend" / "dist"
STATIC_URL = f"{MUSTER.path_prefix}/static/"
STATIC_ROOT = MUSTER.data_dir / "static"
STATICFILES_DIRS = [FRONTEND_DIST] if FRONTEND_DIST.is_dir() else []
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": MUSTER.data_dir / "files"},
    },
    # Vite has hashed the names already; the Manifest storage would hash them a second time.
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_IMMUTABLE_FILE_TEST = r"^.+[-.][0-9A-Za-z_-]{8,12}\.(js|css|woff2)$"
DJANGO_VITE = {"default": {"dev_mode": False, "manifest_path": FRONTEND_DIST / ".vite" / "manifest.json"}}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
ADMIN_SECURITY_POLICY = {
    "script-src": [SELF, UNSAFE_INLINE, UNSAFE_EVAL],
    "style-src": [SELF, UNSAFE_INLINE],
}
# Pages say themselves when the front end was not built; the REST interface works without it.
SILENCED_SYSTEM_CHECKS = ["django_vite.W001"]

X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SAMESITE = "Lax"
# The pages' accent (frontend/styles/tokens.css, hue 277) in the eleven steps that unfold asks for: lightness, chroma.
_ACCENT_STEPS = {
    50: (0.975, 0.013), 100: (0.945, 0.03), 200: (0.9, 0.055), 300: (0.83, 0.095), 400: (0.72, 0.15), 500: (0.6, 0.19),
    600: (0.505, 0.205), 700: (0.455, 0.205), 800: (0.4, 0.18), 900: (0.35, 0.145), 950: (0.26, 0.11),
}  # fmt: skip
UNFOLD = {
    "SITE_TITLE": "Muster",
    "SITE_HEADER": "Muster",
    "SITE_URL": f"{MUSTER.path_prefix}/",
    "SITE_SYMBOL": "tune",
    "BORDER_RADIUS": "6px",
    "COLORS": {
        "primary": {str(step): f"oklch({light} {chroma} 277)" for step, (light, chroma) in _ACCENT_STEPS.items()}
    },
}

# --- REST -----------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "muster.accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["muster.common.api.permissions.SignedInWithinScope"],
    "DEFAULT_PAGINATION_CLASS": "muster.common.api.pagination.Pages",
    "DEFAULT_THROTTLE_CLASSES": ["muster.common.api.throttles.PerToken"],
    "DEFAULT_THROTTLE_RATES": {"token": "6000/min", "login": "20/min"},
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "EXCEPTION_HANDLER": "muster.common.api.errors.handle",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
# Tokens end when their maker says so, not after knox's ten hours.
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_TTL": None}
SPECTACULAR_SETTINGS = {
    "TITLE": "Muster",
    "DESCRIPTION": "Shares Kubernetes GPU clusters between teams.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "JobKind": "muster.workloads.choices.JobKind",
        "JobState": "muster.workloads.choices.JobState",
        "JobVerb": "muster.workloads.api.serializers.VERBS",
        "TenantVerb": "muster.accounts.api.serializers.VERBS",
        "NodeVerb": "muster.clusters.api.serializers.VERBS",
        "HoldKind": "muster.placements.choices.HoldKind",
        "HoldState": "muster.placements.choices.HoldState",
        "IntentState": "muster.placements.choices.IntentState",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "muster.common.api.openapi.add_errors",
    ],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# --- logs -----------------------------------------------------------------------------------------------------

LOGGING = logs.configure(log_format=MUSTER.log_format, level=MUSTER.log_level)
