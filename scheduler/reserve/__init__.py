"""What is booked while a plan is made: devices on the working copy, quota of the queues, NICs."""
