import django.db.models.deletion
import django.utils.timezone
import rollouts_app.models.invitations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts_app', '0013_audit_log_is_append_only'),
    ]

    operations = [
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('member', 'Member')], max_length=10)),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('request', models.UUIDField(null=True, unique=True)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('github_id', models.BigIntegerField(null=True)),
                ('github_login', models.CharField(blank=True, max_length=255)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField(default=rollouts_app.models.invitations.expiry)),
                ('accepted_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('accepted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('invited_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='rollouts_app.workspace')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'admin', 'member'])), name='invitation_role_is_known'), models.CheckConstraint(condition=models.Q(('accepted_at', None), ('revoked_at', None), _connector='OR'), name='an_accepted_invitation_is_not_revoked'), models.UniqueConstraint(condition=models.Q(('accepted_at', None), ('revoked_at', None)), fields=('workspace', 'github_id'), name='one_pending_invitation_per_account'), models.UniqueConstraint(condition=models.Q(('accepted_at', None), ('revoked_at', None), models.Q(('email', ''), _negated=True)), fields=('workspace', 'email'), name='one_pending_invitation_per_email')],
            },
        ),
    ]
