"""`muster up`: engines, migrations, the demo cluster and every process, under one supervisor."""
