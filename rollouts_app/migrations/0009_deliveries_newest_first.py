from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts_app', '0008_full_disks'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(fields=['-received_at', '-id'], name='deliveries_newest_first'),
        ),
    ]
