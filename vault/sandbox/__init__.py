"""Sandboxes: what a process may do, enforced by the kernel (bubblewrap, Landlock, seccomp)."""
