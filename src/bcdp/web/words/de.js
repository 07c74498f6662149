/** The page's own words in German. */

import { listed, spelledIn } from "../device/wording/english.js";

/** @type {import("./en.js").One} */
const many = (odds) => `höchstens um das ${odds}-fache`;

/** @type {import("./en.js").PageWords} */
export const words = {
  ...spelledIn("de"),
  all: "alle Antworten zusammen",
  nothingAssumed: "ohne jede Annahme, wie auch immer die Antworten zusammenhängen",
  meaning:
    "Eine Bedingung handelt davon, was die ratende Person weiß: Zwischen Menschen, die sich in der Antwort " +
    "unterscheiden, unterscheidet sich die Wahrscheinlichkeit von allem über ihre anderen Antworten höchstens so weit, wie " +
    "die Bedingung sagt, in Prozentpunkten (q) oder um einen Faktor (Chancen). Gegen jemanden, der engere " +
    "Zusammenhänge kennt, allgemein oder bei einer Person, gilt nur das Versprechen ohne Annahme. " +
    "Jedes Versprechen gilt für eine Antwort und einen Bericht.",
  operatorSays: (said) => `Woher die Bedingungen stammen, sagt der Betreiber, und niemand hat es geprüft: ${said}`,
  times: many,
  anyTimes: "um beliebig viel",
  told: (times, percent) => `${times} (eine Vermutung mit 50 % wird höchstens ${percent} %)`,
  unmoved: "die anderen Antworten gar nicht mit ihr schwanken (q = 0)",
  moved: (points) => `die anderen Antworten um höchstens q = ${points} Prozentpunkte mit ihr schwanken`,
  movedBetween: (low, high) =>
    `die anderen Antworten um höchstens q = ${low} bis ${high} Prozentpunkte mit ihr schwanken, wie es der Plan auflistet`,
  learned: (times) =>
    `alle anderen Antworten zu kennen ihre Chancen höchstens um das ${times}-fache verschieben könnte`,
  learnedBetween: (low, high) =>
    `alle anderen Antworten zu kennen ihre Chancen höchstens um das ${low}- bis ${high}-fache verschieben könnte, wie es ` +
    "der Plan auflistet",
  byLaws: "die anderen Antworten so von ihr abhängen, wie es die Tabelle der Anteile im Plan sagt",
  condition: (parts) => `wenn ${parts.join(", und wenn ")}`,
  within: (labels) => `, unter Menschen mit gleicher Angabe zu ${labels}`,
  openSent: (label, value) => `${label} wird gesendet, wie es ist, ungeschützt: ${value}.`,
  range: (low, high) => `${low} bis ${high}`,
  ranges: (ranges) =>
    `, für Vermutungen, in welchem dieser Bereiche sie liegt, und keine feineren: ${ranges.join("; ")}`,
  doubled: { q: "bei doppeltem q", odds: "bei doppelten Chancen", both: "bei doppeltem q und doppelten Chancen" },
  leftDoubled: (times, doubled, nothing) => `${times} ${doubled}, ${nothing} ohne jede Annahme`,
  exceeded: { q: "q", odds: "Chancen - 1", both: "q und Chancen - 1" },
  leftExceeded: (times, factor, numbers, nothing) =>
    `${times} beim ${factor}-fachen von ${numbers}, ${nothing} ohne jede Annahme`,
  left: (nothing) => `${nothing} ohne jede Annahme`,
  unconditional: "es hat keine Bedingung",
  promise: (label, told, condition) =>
    `Wer den Bericht sieht, kann die Chancen einer Vermutung über ${label} ${told} steigern, ${condition}.`,
  otherwise: (left) => ` Wenn das falsch ist: ${left}.`,
  chance: (menus) =>
    `Allein der Zufall, nicht Ihre Eingabe, hat gewählt, was gefragt wird${menus > 1 ? `, aus ${menus} Menüs` : ""}.`,
  separate: (messages) =>
    `Ihr Gerät sendet ${messages} getrennte Nachrichten, eine für jeden Hinweis unten. Nichts in ihnen zeigt, dass sie von ` +
    "einer Person kommen.",
  hint: (about, hint, least, most) =>
    `Zu ${about} deutet Ihr Bericht auf ${hint}. Ihr Gerät gibt diesen Hinweis mit einer Wahrscheinlichkeit von ` +
    `mindestens ${least} % und höchstens ${most} %, was auch immer wahr ist.`,
  nothing: "nichts",
  more: (count) => `${count} weitere`,
  and: (parts) => listed(parts, "und"),
  or: (parts) => listed(parts, "oder"),
  near: (value) => `etwa ${value}`,
  square: (value) => `ein Quadrat von etwa ${value} (zwischen -1 und 1)`,
  product: (value) => `ein Produkt von etwa ${value} (zwischen -1 und 1)`,
  no: "nein",
  yes: "ja",
  language: "Deutsch",
  locale: "de",
  direction: "ltr",
  title: "Eine Umfrage, die Ihr eigenes Gerät beantwortet",
  back: "Zurück",
  start: "Beginnen",
  goOn: "Fortsetzen",
  next: "Weiter",
  progress: (number, count) => `${number} von ${count}`,
  questions: (count) => `${count} Frage${count === "1" ? "" : "n"}`,
  stepEnter: "Sie antworten hier.",
  stepEnterNote: "Was Sie eingeben, bleibt auf diesem Gerät.",
  stepEnterOpen: "Was Sie eingeben, bleibt auf diesem Gerät, außer dem, was als ungeschützt gekennzeichnet ist.",
  stepDice: "Ihr Gerät würfelt.",
  stepDiceNote: "Es macht aus Ihren Antworten einen vagen Hinweis.",
  stepDiceSeparate: "Es macht aus Ihren Antworten vage Hinweise, in getrennten Nachrichten.",
  stepSend: "Sie sehen den Hinweis und senden ihn.",
  stepSendNote: "Bevor er Ihr Gerät verlässt, sehen Sie, wie viel er verraten kann.",
  checkedTitle: "Von diesem Gerät geprüft",
  verified: (label, held, broken) =>
    `Eine Vermutung über Ihre Antwort zu ${label}, die in 50 von 100 Fällen stimmt, stimmt mit Ihrem Hinweis in höchstens ` +
    `${held} von 100, wenn die Annahme der Veranstalter über den Zusammenhang der Antworten stimmt; sonst in höchstens ` +
    `${broken}.`,
  verifiedAlways: (label, held) =>
    `Eine Vermutung über Ihre Antwort zu ${label}, die in 50 von 100 Fällen stimmt, stimmt mit Ihrem Hinweis in höchstens ` +
    `${held} von 100, was auch immer man annimmt.`,
  verifiedAll: (all) => `Über alle Ihre Antworten zusammen: in höchstens ${all} von 100, was auch immer man annimmt.`,
  keep: "Meine Eingaben auf diesem Gerät behalten, bis ich sende",
  keepNote:
    "Dann geht beim Schließen oder Neuladen nichts verloren; wer dieses Gerät benutzt, kann es aber lesen. Sonst ist es nur im Speicher dieser Seite.",
  notKept: (why) => `Das kann nicht behalten werden: ${why}`,
  openField: "Wird gesendet, wie es ist, ungeschützt.",
  chooseLanguage: "Sprache",
  reading: "Der Plan dieser Umfrage wird gelesen…",
  checking: "Ihr Gerät prüft, was diese Umfrage verspricht. Große Umfragen dauern eine Weile…",
  organiserSays: "In den Worten der Veranstalter, die niemand geprüft hat",
  organiser: "Wer fragt",
  purpose: "Wofür",
  contact: "Kontakt",
  duration: "Wie lange es dauert",
  minutes: (count) => `etwa ${count} Minute${count === "1" ? "" : "n"}`,
  decline: "Wenn Sie ablehnen",
  mayDecline: "Sie dürfen ablehnen und jederzeit aufhören: Schließen Sie diese Seite, und nichts wird gesendet.",
  promiseTitle: "Was diese Umfrage verspricht, und unter welcher Bedingung",
  promiseCaption:
    "Wie weit jemand, der einen Bericht sieht, die Chancen einer Vermutung über die Antworten steigern kann.",
  promiseHeads: ["Eine Vermutung über", "Ihre Chancen steigen", "Bedingung", "Wenn das falsch ist"],
  batchRelay: (people) =>
    "Das Hauptversprechen: um wie viel die Auswertung die Chancen einer Vermutung über die Antworten einer Person " +
    `erhöhen kann. Sie sieht Antworten nur in gemischten Stapeln von mindestens ${people}.`,
  batchCollector: (people) =>
    `Das Hauptversprechen: um wie viel jemand, der die veröffentlichten Zählungen von mindestens ${people} Personen ` +
    "sieht, die Chancen einer Vermutung über die Antworten einer Person erhöhen kann.",
  batchWho: (collector, relay) =>
    `Zwei Stellen teilen sich die Arbeit. ${collector} wertet aus: Dort kann man Antworten öffnen, erfährt aber nicht, ` +
    `von wem sie sind. ${relay} gibt sie in gemischten Stapeln weiter und kann sie nicht öffnen. Das Hauptversprechen ` +
    "gilt, wenn beide nicht zusammenarbeiten.",
  batchTrust:
    "Das Hauptversprechen gilt, wenn die Auswertung niemandem einzelne Antworten zeigt und nur eine Zählung " +
    "veröffentlicht.",
  batchHolds: (honest, times) =>
    `Es setzt in jedem Stapel, in jeder Gruppe offener Angaben, ${honest} Personen voraus, die wie gefragt antworten und ` +
    "deren Antworten nicht von Ihren abhängen, wie es in einem Haushalt sein kann. Es kann mit einer " +
    `Wahrscheinlichkeit von 1 zu ${times} fehlschlagen.`,
  fallbackRelay: "Wenn beide zusammenarbeiten, bleibt, was über eine einzelne Antwort versprochen ist:",
  fallbackCollector: "Für alle, die eine einzelne Antwort sehen:",
  review: "Meine Antworten ansehen",
  reviewTitle: "Ihre Antworten, wie diese Seite sie gelesen hat",
  reviewNote: "Noch ist nichts daraus gemacht und nichts gesendet.",
  change: "Ändern",
  show: "Zeigen, was gesendet würde",
  once:
    "Damit entsteht Ihre verwischte Antwort, ein für alle Mal: Eine zweite würde mehr über Sie verraten. Noch wird nichts " +
    "gesendet.",
  noAnswer: "Keine Antwort",
  apart: ", die Antworten ausgenommen, die nach dem Fragebogen von ihr abhängen",
  notAsked: "Nicht gefragt",
  noneTicked: "Nichts davon",
  tickAtMost: (most) => `Wählen Sie höchstens ${most} aus.`,
  ownAnswer: "Sie dürfen das leer lassen. Ein leeres Feld ist geschützt wie jede andere Antwort.",
  countsAs: (word) => `Darf leer bleiben: zählt als ${word}.`,
  noAnswerCounts: (word) => `Keine Antwort (zählt als ${word})`,
  bounds: (low, high) => `Von ${low} bis ${high}.`,
  accepted: (low, high) => `eine Zahl von ${low} bis ${high}`,
  acceptedDate: (low, high) => `ein Datum von ${low} bis ${high}`,
  preferNot: "Keine Angabe",
  enter: (accepted) => `Bitte geben Sie ${accepted} ein.`,
  isNot: (text, accepted) => `„${text}“ ist nicht ${accepted}.`,
  readAs: (number) => `Gelesen als ${number}.`,
  clipped: (number, counts) => `${number}, zählt als ${counts}`,
  ambiguous: (text) => `„${text}“ kann zwei Zahlen bedeuten. Welche meinen Sie?`,
  choose: "Bitte wählen Sie eines aus.",
  search: "In dieser Liste suchen",
  hidden: (count) => `${count} weitere: Tippen Sie einen Teil des Wortes, um sie zu finden.`,
  lookOne: "Eine Antwort braucht noch einen Blick: Bitte lesen Sie, was dort steht.",
  lookMany: (count) => `${count} Antworten brauchen noch einen Blick: Bitte lesen Sie, was dort steht.`,
  previewTitle: "Dies, und sonst nichts, verlässt Ihr Gerät",
  leftTitle: "Dies, und sonst nichts, hat Ihr Gerät verlassen",
  message: "Die Nachricht, Wort für Wort",
  serverSees: "Wie bei jeder Seite sieht der Server auch Ihre Netzadresse und die Zeit.",
  relaySees: (relay) =>
    `Sie wird für die Auswertung versiegelt und geht über ${relay}: Dort sieht man Ihre Netzadresse, aber nicht die ` +
    "Nachricht; die Auswertung sieht die Nachricht, aber nicht Ihre Adresse, wenn beide nicht zusammenarbeiten. Wer " +
    "diese Seite anbietet, sieht, dass und wann Sie sie geöffnet haben.",
  drawnWith: (low, high) => `Mit einer Wahrscheinlichkeit von ${low} % bis ${high} % gezogen, was auch immer wahr ist.`,
  guess: (label) => `Kann jemand Ihre Antwort zu ${label} erraten?`,
  ofHundred: "Von 100 Vermutungen, die ohne Ihren Hinweis zur Hälfte stimmen:",
  chanceBefore: (count) => `${count} richtig ohne ihn`,
  chanceHeld: (count) => `höchstens ${count} mehr mit ihm, wenn die Annahme stimmt`,
  chanceBroken: (count) => `höchstens ${count} mehr, wenn sie nicht stimmt`,
  otherAnswers: "Ihre anderen Antworten",
  otherAnswersNote:
    "Höchstens so viele von 100 solchen Vermutungen stimmen mit Ihrem Hinweis; in Klammern, wenn die Annahme nicht stimmt.",
  mayClose: "Sie können diese Seite jetzt schließen.",
  orMore: ["oder mehr", "und mehr", "oder älter", "+"],
  orLess: ["oder weniger", "oder jünger"],
  planNumber:
    "Die Nummer dieses Plans. Alle, die dasselbe gefragt werden, haben dieselbe; vergleichen Sie sie mit anderen:",
  whatever: "Senden Sie es, was es auch sagt: Nur zu senden, was gefällt, würde mehr verraten als der Hinweis.",
  send: "Senden",
  sendAgain: "Noch einmal versuchen",
  limitsTitle: "Meine eigenen Grenzen",
  limitsNote:
    "Ihr Gerät antwortet und sendet nur innerhalb dieser Grenzen. Sie bleiben auf diesem Gerät und nirgends sonst.",
  limitAll: "Chancen einer Vermutung über alle Antworten zusammen: höchstens so vielmal gesteigert",
  limitOne: "Chancen einer Vermutung über eine einzelne Antwort: höchstens so vielmal gesteigert",
  limitTotal:
    "Alle Umfragen, die dieser Browser bei dieser Adresse beantwortet hat, zusammen: höchstens so vielmal gesteigert",
  limitCalm: "Grün nur, wenn eine Vermutung mit 50 % höchstens so viel Prozent wird",
  usualAll: (factor, epsilon) => `Wenn leer: das ${factor}-fache, ein Epsilon von ${epsilon}.`,
  usualOne: "Wenn leer: nur die Grenze darüber.",
  usualTotal: (factor) => `Wenn leer: keine Grenze. Mit dieser Umfrage wäre es das ${factor}-fache.`,
  usualCalm: (percent) => `Wenn leer: ${percent} Prozent.`,
  notAFactor: (text) => `„${text}“ ist kein Faktor: Bitte geben Sie eine Zahl von mindestens 1 ein.`,
  beyond: "Diese Umfrage verrät mehr, als Ihre Grenzen erlauben.",
  refused: (becomes) =>
    "Ihr Gerät beantwortet diese Umfrage nicht, sie liegt jenseits der Grenzen am Ende dieser Seite: Ohne jede Annahme " +
    `wird eine Vermutung mit 50 % über Ihre Antworten höchstens ${becomes} %.`,
  ready: "Ihre Antwort ist fertig und bleibt auf diesem Gerät. Sie ist noch nicht gesendet.",
  sending: "Wird gesendet…",
  received: "Ihre Antwort ist angekommen. Danke!",
  duplicate: "Diese Antwort war schon angekommen: Sie zählt einmal.",
  usedElsewhere:
    "Diese Einladung war schon benutzt, auf einem anderen Gerät oder von jemand anderem. Es zählt, was damals gesendet " +
    "wurde, und nicht diese Antwort. Wenn Sie das nicht waren, sagen Sie es bitte den Veranstaltern.",
  keptUnsent: "Eine Antwort auf diese Umfrage wurde in diesem Browser gemacht und nicht gesendet.",
  keptSent:
    "Eine Antwort auf diese Umfrage wurde aus diesem Browser gesendet. Sie wird nicht noch einmal gezeigt, denn vielleicht " +
    "liest jemand anderes.",
  showKept: "Es ist meine: zeigen",
  another: "Ich bin eine andere Person: neu anfangen",
  anotherNote: "Nur wenn Sie selbst noch nicht geantwortet haben: Eine zweite Antwort würde mehr über Sie verraten.",
  panelAsks: (from, to) =>
    `Diese Umfrage fragt jede Person in einem von mehreren Zeiträumen, den der Zufall bestimmt. Ihrer ist vom ${from} bis zum ${to}. Bitte kommen Sie dann wieder.`,
  panelOver: "Ihr Zeitraum dieser Umfrage ist vorbei. Es wurde nichts gesendet, und das ist in Ordnung.",
  panelPrepared:
    "Heute wurde nichts gesendet. Ihr Gerät merkt sich zufällige Antworten für eine spätere Frage, nicht Ihre Eingaben.",
  noTicket:
    "Diese Umfrage braucht eine Einladung, und diese Adresse hat keine. Bitte öffnen Sie den Link Ihrer Einladung: Ohne sie " +
    "würde abgelehnt, was Sie senden.",
  otherPlan:
    "Das ist ein anderer Plan, als Ihre Einladung nennt. An einem eigenen Plan könnte man Sie erkennen, darum beantwortet " +
    "Ihr Gerät ihn nicht. Bitte sagen Sie es den Veranstaltern.",
  notAnswered: (why) => `Ihr Gerät beantwortet diese Umfrage nicht: ${why}`,
  notSent: (why) =>
    `Es konnte nicht gesendet werden: ${why} Sie können es noch einmal versuchen: Dieselbe Antwort zählt einmal.`,
  forgetful: "Dieser Browser merkt sich nichts, und eine Antwort wird einmal gegeben.",
  full: "Der Speicher dieses Browsers ist voll, und eine Antwort muss bleiben, damit sie einmal gegeben wird. Bitte schaffen Sie Platz.",
  sentUnkept:
    "Ihre Antwort ist angekommen. Danke! Der Speicher dieses Browsers ist voll, er kann sich das nicht merken: Bitte " +
    "antworten Sie nicht noch einmal.",
  noReceipt: "geantwortet hat nicht die Auswertung. Vielleicht verlangt Ihr Netz erst eine Anmeldung.",
  noPlan: (status) => `Der Server hat keinen Plan dafür (Status ${status}). Bitte kommen Sie später wieder.`,
  away: "Der Server ist nicht zu erreichen. Bitte sehen Sie nach, ob Sie verbunden sind.",
  timeOut: "Der Server hat nicht rechtzeitig geantwortet.",
  tooLarge: "Ihr Plan ist zu groß für eine Seite.",
  tooLong: "Ihren Plan zu prüfen dauert auf diesem Gerät zu lange.",
  tooOften: (seconds) => `Gerade kommen viele Antworten aus Ihrem Netz. Bitte warten Sie ${seconds} Sekunden.`,
  changed: "Diese Umfrage hat sich inzwischen geändert. Laden Sie die Seite neu, um die neue zu sehen.",
  serverRefused: (why) => `Der Server hat es abgelehnt (${why}).`,
  reload: "Seite neu laden",
  cannotSeal: "Dieser Browser kann sie nicht für die Zwischenstelle versiegeln. Bitte nehmen Sie einen neueren.",
  insecure: "Diese Seite ist nicht sicher (https), und nur eine sichere kann einen Plan prüfen.",
};
