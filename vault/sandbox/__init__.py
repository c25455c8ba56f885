"""The jails: what a process may still do after it has given up the rest, enforced by the system kernel."""
