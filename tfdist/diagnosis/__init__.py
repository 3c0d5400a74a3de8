"""Would a training run here, and if not, what stands in its way? Imports no TensorFlow."""

from tfdist.diagnosis.diagnose import diagnose
from tfdist.diagnosis.finding import Finding
from tfdist.diagnosis.report import Report
from tfdist.diagnosis.settings import Settings

__all__ = ["Finding", "Report", "Settings", "diagnose"]
