"""Spark for tests: small, short-lived Java machines, in which compiling much would take longer than running."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

from support.system import require

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
    "spark.ui.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}


def spark_session(master: str, settings: dict[str, str]) -> Any:
    """A session that starts its own Java machines."""
    require(shutil.which("java"), "openjdk-17-jre-headless")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("tests")
    for name, value in (SETTINGS | settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session
