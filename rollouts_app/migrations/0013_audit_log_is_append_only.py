from django.db import migrations, models
import django.db.models.deletion

# Events of a workspace go with it by the foreign key's cascade. By then its row is gone, which is
# how the trigger tells a workspace's end from somebody who deletes history.
GO_WITH_THEIR_WORKSPACE = """
ALTER TABLE rollouts_app_auditevent
    ADD CONSTRAINT audit_events_go_with_their_workspace
    FOREIGN KEY (workspace_id) REFERENCES rollouts_app_workspace (id) ON DELETE CASCADE;
"""
STAY_WITHOUT_IT = """
ALTER TABLE rollouts_app_auditevent DROP CONSTRAINT audit_events_go_with_their_workspace;
"""
APPEND_ONLY = """
CREATE FUNCTION refuse_to_change_the_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.workspace_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM rollouts_app_workspace WHERE id = OLD.workspace_id
    ) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'The audit log is append-only: % is refused.', TG_OP
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER audit_events_are_not_changed
    BEFORE UPDATE ON rollouts_app_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_the_audit_log();
CREATE TRIGGER audit_events_are_not_truncated
    BEFORE TRUNCATE ON rollouts_app_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_the_audit_log();
CREATE TRIGGER audit_events_are_not_deleted
    BEFORE DELETE ON rollouts_app_auditevent
    FOR EACH ROW EXECUTE FUNCTION refuse_to_change_the_audit_log();
"""
CHANGEABLE = """
DROP TRIGGER audit_events_are_not_deleted ON rollouts_app_auditevent;
DROP TRIGGER audit_events_are_not_truncated ON rollouts_app_auditevent;
DROP TRIGGER audit_events_are_not_changed ON rollouts_app_auditevent;
DROP FUNCTION refuse_to_change_the_audit_log();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts_app', '0012_audit_events'),
    ]

    operations = [
        migrations.AlterField(
            model_name='auditevent',
            name='workspace',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='audit_events', to='rollouts_app.workspace'),
        ),
        migrations.AddIndex(
            model_name='auditevent',
            index=models.Index(fields=['actor', '-id'], name='audit_events_of_a_person'),
        ),
        migrations.RunSQL(GO_WITH_THEIR_WORKSPACE, STAY_WITHOUT_IT),
        migrations.RunSQL(APPEND_ONLY, CHANGEABLE),
    ]
