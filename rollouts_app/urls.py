"""The site map."""

from django.urls import include, path

from rollouts_app.views import (
    account,
    api_keys,
    audit,
    benchmarks,
    branches,
    compare,
    connection,
    deliveries,
    device,
    doctor,
    git_integration,
    home,
    installing,
    invitations,
    inviting,
    members,
    new_rollout,
    onboarding,
    operations,
    permissions,
    rollouts,
    server,
    setup,
    syncs,
    webhooks,
    workspace_settings,
)

front = [
    path("", home.landing, name="landing"),
    path("theme", home.theme, name="theme"),
    path("healthz", operations.healthz, name="healthz"),
    path("readyz", operations.readyz, name="readyz"),
    path("metrics", operations.metrics, name="metrics"),
]

machines = [
    path("webhooks/github", webhooks.github_webhook, name="github-webhook"),
    path("api/cli/", include("rollouts_app.cli_api.urls")),
]

first_steps = [
    path("onboarding", onboarding.onboarding, name="onboarding"),
    path("onboarding/workspace", onboarding.workspace_new, name="workspace-new"),
    path("onboarding/installed", installing.installed, name="installed"),
]

server_pages = [
    path("setup", setup.setup, name="setup"),
    path("setup/begin", setup.setup_begin, name="setup-begin"),
    path("setup/app", setup.setup_app, name="setup-app"),
    path("setup/created", setup.setup_created, name="setup-created"),
    path("server", server.server, name="server"),
    path("server/secret", server.server_secret, name="server-secret"),
    path("server/administrators", server.administrator_add, name="administrator-add"),
    path(
        "server/administrators/remove",
        server.administrator_remove,
        name="administrator-remove",
    ),
    path("login/<str:token>", server.login_link, name="login-link"),
    path("doctor", doctor.doctor, name="doctor"),
    path("server/audit", audit.server_audit_log, name="server-audit-log"),
]

people = [
    path("account", account.account, name="account"),
    path("account/delete", account.account_delete, name="account-delete"),
    path("account/keys", api_keys.own_key_list, name="own-key-list"),
    path("account/keys/<slug:key_id>/revoke", api_keys.own_key_revoke, name="own-key-revoke"),
    path("device", device.device, name="device"),
    path("invitations", invitations.invitations, name="invitations"),
    path("invitations/<str:token>", invitations.invitation, name="invitation"),
    path(
        "invitations/<int:invitation_id>/accept",
        invitations.invitation_accept,
        name="invitation-accept",
    ),
    path("join/<int:workspace_id>", invitations.join, name="join"),
]

# Below a workspace: <workspace>/…
workspace = [
    path("", home.workspace_home, name="workspace-home"),
    path("/rollouts", rollouts.rollout_list, name="rollout-list"),
    path("/rollouts/<str:name>", rollouts.rollout_detail, name="rollout-detail"),
    path("/compare", compare.compare, name="compare"),
    path("/branches", branches.branch_list, name="branch-list"),
    path("/sync-status", rollouts.sync_status, name="sync-status"),
    path("/new-rollout", new_rollout.new_rollout, name="new-rollout"),
    path("/audit", audit.audit_log, name="audit-log"),
    path("/integrations/git", git_integration.git_integration, name="git-integration"),
    path("/integrations/git/syncs", syncs.sync_list, name="sync-list"),
    path("/integrations/git/syncs/<int:run_id>", syncs.sync_detail, name="sync-detail"),
    path("/integrations/git/syncs/<int:run_id>/retry", syncs.sync_retry, name="sync-retry"),
    path("/integrations/git/syncs/<int:run_id>/cancel", syncs.sync_cancel, name="sync-cancel"),
    path("/integrations/git/deliveries", deliveries.delivery_list, name="delivery-list"),
    path("/integrations/git/permissions", permissions.git_permissions, name="git-permissions"),
    path("/integrations/git/sync-now", git_integration.sync_now, name="sync-now"),
    path(
        "/integrations/git/installation",
        installing.connect_installation,
        name="connect-installation",
    ),
    path("/integrations/git/repository", installing.connect_repository, name="connect-repository"),
    path(
        "/integrations/git/new-repository", installing.create_repository, name="create-repository"
    ),
    path("/integrations/git/request", installing.request_new, name="request-new"),
    path("/integrations/git/request/drop", installing.request_drop, name="request-drop"),
    path("/setup-steps", onboarding.setup_step, name="setup-step"),
    path(
        "/integrations/git/repositories/<int:repository_id>/disconnect",
        connection.disconnect,
        name="disconnect",
    ),
    path(
        "/integrations/git/repositories/<int:repository_id>/deactivate",
        connection.deactivate,
        name="deactivate",
    ),
    path(
        "/integrations/git/repositories/<int:repository_id>/delete",
        connection.delete_kept,
        name="delete-kept",
    ),
    path(
        "/integrations/git/repositories/<int:repository_id>/reconnect",
        connection.reconnect,
        name="reconnect",
    ),
    path("/members", members.member_list, name="member-list"),
    path("/members/invite", inviting.invite, name="invite"),
    path(
        "/members/invitations/<int:invitation_id>/resend",
        inviting.invitation_resend,
        name="invitation-resend",
    ),
    path(
        "/members/invitations/<int:invitation_id>/revoke",
        inviting.invitation_revoke,
        name="invitation-revoke",
    ),
    path("/members/<int:membership_id>/role", members.member_role, name="member-role"),
    path("/members/<int:membership_id>/owner", members.member_make_owner, name="member-make-owner"),
    path(
        "/members/<int:membership_id>/hand-over", members.member_hand_over, name="member-hand-over"
    ),
    path("/members/<int:membership_id>/remove", members.member_remove, name="member-remove"),
    path("/api-keys", api_keys.api_key_list, name="api-key-list"),
    path("/api-keys/new", api_keys.api_key_new, name="api-key-new"),
    path("/api-keys/<slug:key_id>/revoke", api_keys.api_key_revoke, name="api-key-revoke"),
    path("/benchmarks", benchmarks.benchmarks, name="benchmarks"),
    path("/leave", members.leave, name="leave"),
    path("/settings", workspace_settings.workspace_settings, name="workspace-settings"),
    path("/settings/access", workspace_settings.workspace_access, name="workspace-access"),
    path("/delete", workspace_settings.workspace_delete, name="workspace-delete"),
]

urlpatterns = [
    *front,
    *machines,
    *first_steps,
    *server_pages,
    *people,
    path("<slug:workspace>", include(workspace)),
]
