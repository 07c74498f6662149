/**
 * The English sentences of promises, for Python too: `present/sentences.py` reads them as JSON. What
 * is in braces is replaced by words that follow from the plan's numbers.
 */
export const SENTENCES = {
  "all": "all answers together",
  "nothingAssumed": "with nothing assumed, however the answers are related",
  "meaning":
    "A condition is about what the guesser knows: between people who differ in the answer, the chance of anything about their other answers differs by no more than the condition says, in percentage points (q) or as a factor (odds). Against somebody who knows of closer links, in general or for one person, only the promise with nothing assumed holds. Each promise is about one answer and one report.",
  "operatorSays": "Where conditions come from, the operator says and nobody has checked: {said}",
  "times": "at most {factor} times",
  "told": "{times} (a guess at 50% becomes at most {chance})",
  "unmoved": "the other answers do not move with it at all (q = 0)",
  "movedOne": "the other answers move by at most q = {points} percentage point with it",
  "moved": "the other answers move by at most q = {points} percentage points with it",
  "movedBetween": "the other answers move by at most q = {low} to {high} percentage points with it, as the plan lists",
  "learned": "knowing all the other answers could move the odds of it at most {times} times",
  "learnedBetween":
    "knowing all the other answers could move the odds of it at most {low} to {high} times, as the plan lists",
  "byLaws": "the other answers depend on it as the plan's table of shares says",
  "condition": "if {parts}",
  "apart": ", not counting answers that the questionnaire ties to it",
  "within": ", among people with the same {labels}",
  "ranges": ", for guesses which of these ranges it is in and no finer ones: {ranges}",
  "leftDoubled": "{times} at twice {numbers}, {nothing} with nothing assumed",
  "leftExceeded": "{times} at {factor} times {numbers}, {nothing} with nothing assumed",
  "left": "{nothing} with nothing assumed",
  "unconditional": "it has no condition",
  "promise": "Whoever sees the report can raise the odds of a guess about {label} {told}, {condition}.",
  "panel":
    "A panel of {waves} waves, one every {every} from {start} on: each person is asked in one of them, drawn by chance. Every promise covers the answers of all waves together, and so does every condition.",
  "changes":
    "Some are asked how {labels} changed since an earlier wave. In between their device keeps random answers, and not the earlier value.",
  "otherwise": " If that is wrong: {left}."
};
