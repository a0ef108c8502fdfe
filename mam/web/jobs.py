"""All jobs by name, and what each kind of worker does before its first one."""

from mam.web import curve_jobs, find_jobs, model_jobs
from mam.web.job import Job

JOBS: dict[str, Job] = {
    "look": curve_jobs.look,
    "group": curve_jobs.group,
    "group file": curve_jobs.group_file,
    "toy": model_jobs.toy,
    "find": find_jobs.find,
    "learn": find_jobs.learn,
    "warm curves": curve_jobs.warm_curves,
    "warm models": model_jobs.warm_models,
    "warm find": find_jobs.warm_find,
}
WARM_UPS: dict[str, list[tuple[str, dict]]] = {
    "curves": [("warm curves", {}), ("warm models", {})],
    "find": [("warm find", {})],
}
