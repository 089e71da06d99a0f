"""The sequence that numbers live events."""

from django.db import migrations


class Migration(migrations.Migration):
    initial = True
    dependencies = [("common", "0001_initial")]
    operations = [migrations.RunSQL("CREATE SEQUENCE live_seq", "DROP SEQUENCE live_seq")]
