"""The page and its API (extra `web`): a server that counts bytes, and worker processes that work.

The server process never decodes a picture and opens no file that a request names. Whatever takes
time is a job: a function of `mam.web.jobs`, run in a process of its own that is ended when it takes
too long or when nobody waits for it any more.
"""
