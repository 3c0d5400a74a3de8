"""Is each example read exactly once in a pass, whoever reads it?"""

from tfdist.data.audit.declared import audit_declared
from tfdist.data.audit.findings import Findings
from tfdist.data.audit.tasks import audit, audit_with

__all__ = ["Findings", "audit", "audit_declared", "audit_with"]
