"""The demonstration: its people, queues and quotas (`seed`), and jobs that come and go (`jobs`)."""
