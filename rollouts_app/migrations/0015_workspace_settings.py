import django.db.models.deletion
from django.db import migrations, models

# Whatever names or renames a workspace, no slug that one has or had is taken by another: the
# primary key refuses it.
KEEP_ALL_SLUGS = """
INSERT INTO rollouts_app_workspaceslug (slug, workspace_id)
    SELECT slug, id FROM rollouts_app_workspace;
CREATE FUNCTION keep_the_slug_of_a_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM rollouts_app_workspaceslug WHERE slug = NEW.slug AND workspace_id = NEW.id
    ) THEN
        INSERT INTO rollouts_app_workspaceslug (slug, workspace_id) VALUES (NEW.slug, NEW.id);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER slugs_of_workspaces_are_kept
    AFTER INSERT OR UPDATE OF slug ON rollouts_app_workspace
    FOR EACH ROW EXECUTE FUNCTION keep_the_slug_of_a_workspace();
"""
KEEP_NONE = """
DROP TRIGGER slugs_of_workspaces_are_kept ON rollouts_app_workspace;
DROP FUNCTION keep_the_slug_of_a_workspace();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts_app', '0014_invitations'),
    ]

    operations = [
        migrations.AddField(
            model_name='workspace',
            name='deletion_requested_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='workspace',
            name='timezone',
            field=models.CharField(default='UTC', max_length=64),
        ),
        migrations.CreateModel(
            name='WorkspaceSlug',
            fields=[
                ('slug', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slugs', to='rollouts_app.workspace')),
            ],
        ),
        migrations.RunSQL(KEEP_ALL_SLUGS, KEEP_NONE),
    ]
