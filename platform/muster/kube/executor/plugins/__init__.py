"""PreBind, Bind and PostBind: the part of a profile that does I/O."""
