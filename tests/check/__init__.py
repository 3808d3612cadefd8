"""`tf2npu check` on scripts that behave in unusual ways."""
