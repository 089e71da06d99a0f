"""REST interface of what touches devices and intents."""
