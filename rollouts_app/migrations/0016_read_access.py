from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts_app', '0015_workspace_settings'),
    ]

    operations = [
        migrations.AddField(
            model_name='membership',
            name='ask_again_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='membership',
            name='asked_about',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='membership',
            name='may_read',
            field=models.BooleanField(null=True),
        ),
        migrations.AddField(
            model_name='workspace',
            name='is_open_to_readers',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='workspace',
            name='needs_read_access',
            field=models.BooleanField(default=True),
        ),
    ]
