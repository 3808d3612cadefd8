"""Every file that the tool writes, moves or removes goes through here: by descriptors, and never through a link."""
