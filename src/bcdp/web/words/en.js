/** The page's own words in English. Every other language has the same keys; what is a function here is one there. */

import { ENGLISH } from "../device/wording/english.js";

/** @typedef {import("../device/wording/english.js").One} One */
/** @typedef {import("../device/wording/english.js").Two} Two */
/**
 * @typedef {"language" | "locale" | "direction" | "title" | "openField" | "chooseLanguage" |
 *   "reading" | "checking" | "organiserSays" | "organiser" | "purpose" | "contact" | "duration" | "decline" | "mayDecline" |
 *   "promiseTitle" | "promiseCaption" | "review" | "reviewTitle" | "reviewNote" | "change" | "show" | "once" |
 *   "ownAnswer" | "preferNot" | "choose" | "search" | "lookOne" | "previewTitle" | "leftTitle" | "message" |
 *   "back" | "start" | "goOn" | "next" | "stepEnter" | "stepEnterNote" | "stepEnterOpen" | "stepDice" | "stepDiceNote" |
 *   "stepDiceSeparate" | "stepSend" | "stepSendNote" | "checkedTitle" | "keep" | "keepNote" | "ofHundred" | "otherAnswers" |
 *   "otherAnswersNote" | "mayClose" | "serverSees" | "planNumber" | "whatever" | "send" | "sendAgain" | "limitsTitle" | "limitsNote" |
 *   "limitAll" | "limitOne" | "limitTotal" | "limitCalm" | "usualOne" | "beyond" | "ready" | "sending" | "received" |
 *   "duplicate" | "usedElsewhere" | "keptUnsent" | "keptSent" | "showKept" | "another" | "anotherNote" | "noTicket" | "panelOver" | "panelPrepared" |
 *   "otherPlan" | "forgetful" | "full" | "sentUnkept" | "noReceipt" | "away" | "timeOut" | "tooLarge" | "tooLong" |
 *   "changed" | "reload" | "cannotSeal" | "insecure" | "batchTrust" | "fallbackRelay" | "fallbackCollector"} Text keys of plain texts
 */
/**
 * @typedef {"minutes" | "tickAtMost" | "countsAs" | "noAnswerCounts" | "enter" | "readAs" | "ambiguous" | "hidden" | "lookMany" |
 *   "relaySees" | "batchRelay" | "batchCollector" | "usualTotal" | "usualCalm" | "notAFactor" | "refused" | "questions" | "verifiedAll" | "guess" | "chanceBefore" | "chanceHeld" |
 *   "chanceBroken" | "notAnswered" | "notKept" |
 *   "notSent"} AboutOne keys of sentences about one text
 */
/**
 * Every language has these keys.
 * @typedef {import("../device/wording/english.js").Words & Record<Text, string> & Record<AboutOne, One> &
 *   Record<"accepted" | "acceptedDate" | "isNot" | "clipped" | "usualAll" | "progress" | "verifiedAlways" | "drawnWith" | "panelAsks" | "batchWho" | "batchHolds", Two> &
 *   Record<"noPlan" | "tooOften" | "serverRefused", (detail: string | number) => string> &
 *   { promiseHeads: string[], orMore: string[], orLess: string[], bounds: (...ends: string[]) => string,
 *   verified: (label: string, held: string, broken: string) => string }} PageWords
 */

/** @type {PageWords} */
export const words = {
  ...ENGLISH,
  language: "English",
  locale: "en",
  direction: "ltr",
  title: "A survey that your own device answers",
  back: "Back",
  start: "Start",
  goOn: "Continue",
  next: "Next",
  progress: (number, count) => `${number} of ${count}`,
  questions: (count) => `${count} question${count === "1" ? "" : "s"}`,
  stepEnter: "You answer here.",
  stepEnterNote: "What you enter stays on this device.",
  stepEnterOpen: "What you enter stays on this device, except what is marked as sent as it is.",
  stepDice: "Your device throws dice.",
  stepDiceNote: "It turns your answers into one vague hint.",
  stepDiceSeparate: "It turns your answers into vague hints, in separate messages.",
  stepSend: "You see the hint, then send it.",
  stepSendNote: "Before it leaves, you see how much it can reveal.",
  checkedTitle: "Checked by this device",
  verified: (label, held, broken) =>
    `A guess about your answer to ${label} that is right 50 times in 100 is right at most ${held} times once your hint ` +
    `is known, if the organiser's assumption about how answers go together holds; at most ${broken} times if not.`,
  verifiedAlways: (label, held) =>
    `A guess about your answer to ${label} that is right 50 times in 100 is right at most ${held} times in 100 once your ` +
    "hint is known, whatever is assumed.",
  verifiedAll: (all) => `About all your answers together: at most ${all} times in 100, whatever is assumed.`,
  keep: "Keep what I enter on this device until I send it",
  keepNote:
    "Closing or reloading this page then loses nothing, but whoever uses this device can read it. Otherwise it is in this page's memory alone.",
  notKept: (why) => `It cannot be kept: ${why}`,
  openField: "Sent as it is, not protected.",
  chooseLanguage: "Language",
  reading: "Reading the plan of this survey…",
  checking: "Your device is checking what this survey promises. Large surveys take a while…",
  organiserSays: "In the organiser's words, which nobody has checked",
  organiser: "Who asks",
  purpose: "What for",
  contact: "Contact",
  duration: "How long it takes",
  minutes: (count) => `about ${count} minute${count === "1" ? "" : "s"}`,
  decline: "If you decline",
  mayDecline: "You may decline, or stop at any time: close this page, and nothing is sent.",
  promiseTitle: "What this survey promises, and on which condition",
  promiseCaption: "By how much whoever sees a report can raise the odds of a guess about the person's answers.",
  promiseHeads: ["A guess about", "Its odds rise", "On condition", "If that is wrong"],
  batchRelay: (people) =>
    "The main promise: by how much the collector can raise the odds of a guess about one person's answers. It sees " +
    `answers only in shuffled batches of at least ${people}.`,
  batchCollector: (people) =>
    `The main promise: by how much whoever sees the published counts of at least ${people} people can raise the odds ` +
    "of a guess about one person's answers.",
  batchWho: (collector, relay) =>
    `Two organisations share the work. ${collector} collects: it can open answers, and does not learn who sent them. ` +
    `${relay} passes them on in shuffled batches, and cannot open them. The main promise holds if the two do not work ` +
    "together.",
  batchTrust: "The main promise holds if the collector shows nobody single answers, and publishes one set of counts.",
  batchHolds: (honest, times) =>
    `It counts on ${honest} people in each batch, in each group of what is sent as it is, who answer as asked and whose ` +
    `answers do not depend on yours, as those of a household may. It may fail with a chance of 1 in ${times}.`,
  fallbackRelay: "If the two work together, what is promised about a single answer is left:",
  fallbackCollector: "Whoever sees a single answer:",
  review: "Review my answers",
  reviewTitle: "Your answers, as this page read them",
  reviewNote: "They have not been used yet, and nothing has been sent.",
  change: "Change",
  show: "Show me what would be sent",
  once: "This makes your blurred answer, once and for all: a second one would tell more about you. Nothing is sent yet.",
  ownAnswer: "You may leave this blank. A blank is protected like any other answer.",
  countsAs: (word) => `May be left empty: counts as ${word}.`,
  tickAtMost: (most) => `Choose at most ${most}.`,
  noAnswerCounts: (word) => `No answer (counts as ${word})`,
  bounds: (low, high) => `From ${low} to ${high}.`,
  accepted: (low, high) => `a number from ${low} to ${high}`,
  acceptedDate: (low, high) => `a date from ${low} to ${high}`,
  preferNot: "Prefer not to say",
  enter: (accepted) => `Please enter ${accepted}.`,
  isNot: (text, accepted) => `“${text}” is not ${accepted}.`,
  readAs: (number) => `Read as ${number}.`,
  clipped: (number, counts) => `${number}, which counts as ${counts}`,
  ambiguous: (text) => `“${text}” may mean two numbers. Which one do you mean?`,
  choose: "Please choose one.",
  search: "Search in this list",
  hidden: (count) => `${count} more: type a part of the word to find them.`,
  lookOne: "One answer needs another look: please see what is written there.",
  lookMany: (count) => `${count} answers need another look: please see what is written there.`,
  previewTitle: "This, and nothing else, leaves your device",
  leftTitle: "This, and nothing else, left your device",
  message: "The message, word for word",
  serverSees: "As with every page, the server also sees your network address and the time.",
  relaySees: (relay) =>
    `It is sealed for the collector and goes through ${relay}, which sees your network address and not the message; the ` +
    "collector sees the message and not your address, if the two do not work together. Whoever serves this page sees " +
    "that you opened it, and when.",
  drawnWith: (low, high) => `Drawn with a chance of ${low}% to ${high}%, whatever is true.`,
  guess: (label) => `Can somebody guess your answer to ${label}?`,
  ofHundred: "Of 100 guesses that are even chances without your hint:",
  chanceBefore: (count) => `${count} right without it`,
  chanceHeld: (count) => `at most ${count} more with it, if the assumption holds`,
  chanceBroken: (count) => `at most ${count} more if it does not`,
  otherAnswers: "Your other answers",
  otherAnswersNote:
    "At most so many of 100 such guesses are right with your hint; in brackets, if the assumption does not hold.",
  mayClose: "You may close this page now.",
  orMore: ["or more", "and more", "or over", "+"],
  orLess: ["or less", "or fewer", "or under"],
  planNumber: "The number of this plan. Everybody who is asked the same has the same one; compare it with others:",
  whatever: "Send it whatever it says: to send only what you like would tell more than the hint does.",
  send: "Send it",
  sendAgain: "Try again",
  limitsTitle: "My own limits",
  limitsNote: "Your device answers and sends only within these limits. They are kept on this device and nowhere else.",
  limitAll: "Odds of a guess about all answers together: raised at most so many times",
  limitOne: "Odds of a guess about any one answer: raised at most so many times",
  limitTotal: "All surveys that this browser has answered at this site, together: raised at most so many times",
  limitCalm: "Green only if a guess at 50% becomes at most so many percent",
  usualAll: (factor, epsilon) => `If left empty: ${factor} times, an epsilon of ${epsilon}.`,
  usualOne: "If left empty: the limit above alone.",
  usualTotal: (factor) => `If left empty: no limit. With this survey it would be ${factor} times.`,
  usualCalm: (percent) => `If left empty: ${percent} percent.`,
  notAFactor: (text) => `“${text}” is not a factor: please enter a number of at least 1.`,
  beyond: "This survey tells more than your limits allow.",
  refused: (becomes) =>
    "Your device does not answer this survey, which is beyond the limits at the end of this page: with nothing " +
    `assumed, a guess at 50% about your answers becomes at most ${becomes}%.`,
  ready: "Your answer is ready and kept on this device. It has not been sent yet.",
  sending: "Sending…",
  received: "Your answer was received. Thank you!",
  duplicate: "This answer had already been received: it counts once.",
  usedElsewhere:
    "This invitation had been used before, on another device or by somebody else. What was sent then counts, and this " +
    "answer does not. If that was not you, please tell the organiser.",
  keptUnsent: "An answer to this survey was prepared in this browser and has not been sent.",
  keptSent:
    "An answer to this survey was sent from this browser. It is not shown again, as somebody else may be reading.",
  showKept: "It is mine: show it",
  another: "I am another person: start again",
  anotherNote: "Only if you have not answered yourself: a second answer would tell more about you.",
  panelAsks: (from, to) =>
    `This survey asks each person in one of several periods, drawn by chance. Yours is from ${from} to ${to}. Please come back then.`,
  panelOver: "Your period of this survey is over. Nothing was sent, and nothing has to be.",
  panelPrepared:
    "Nothing was sent today. Your device keeps random answers for a later question, and not what you entered.",
  noTicket:
    "This survey is by invitation, and this address has none. Please open the link of your invitation: without it, what " +
    "you send would be refused.",
  otherPlan:
    "This is another plan than your invitation names. A plan of your own could be used to recognise you, so your device " +
    "does not answer it. Please tell the organiser.",
  notAnswered: (why) => `Your device does not answer this survey: ${why}`,
  notSent: (why) => `It could not be sent: ${why} You may try again: the same answer counts once.`,
  forgetful: "this browser is set to remember nothing, and an answer is given once.",
  full: "this browser's storage is full, and an answer must be kept to be given once. Please free some of it.",
  sentUnkept:
    "Your answer was received. Thank you! This browser's storage is full, so it cannot remember that: please do not " +
    "answer again.",
  noReceipt: "what answered was not the collector. Perhaps your network asks you to sign in first.",
  noPlan: (status) => `the server has no plan for it (status ${status}). Please come back later.`,
  away: "the server cannot be reached. Please look whether you are connected.",
  timeOut: "the server did not answer in time.",
  tooLarge: "its plan is too large for a page.",
  tooLong: "to check its plan takes too long on this device.",
  tooOften: (seconds) => `many answers come from your network just now. Please wait ${seconds} seconds.`,
  changed: "this survey has changed meanwhile. Reload the page to see the new one.",
  serverRefused: (why) => `the server refused it (${why}).`,
  reload: "Reload the page",
  cannotSeal: "this browser cannot seal it for the relay. Please use a newer one.",
  insecure: "this page is not secure (https), and only a secure one can check a plan.",
};
