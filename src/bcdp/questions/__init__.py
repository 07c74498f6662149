"""Questions: what a device is asked, and how a record becomes the input of a question's table.

A kind of question is one file here with a subclass of `QuestionKind`, and its line in `KINDS`. Its counterparts are in
`web/device/reading/questions.js` and `bcdp_device/verify/questions.py`, which share no code with it on purpose.
"""

from bcdp.questions.document import KINDS, Cut, PlanPart, Question
from bcdp.questions.inputs import Coordinate, input_of, input_shares
from bcdp.questions.kind import QuestionKind

__all__ = ["KINDS", "Coordinate", "Cut", "PlanPart", "Question", "QuestionKind", "input_of", "input_shares"]
