/** The page's own words in French. */

import { listed, spelledIn } from "../device/wording/english.js";

/** @type {import("./en.js").PageWords} */
export const words = {
  ...spelledIn("fr"),
  all: "toutes les réponses ensemble",
  nothingAssumed: "sans rien supposer, quels que soient les liens entre les réponses",
  meaning:
    "Une condition porte sur ce que sait la personne qui devine : entre des gens qui diffèrent par la réponse, la chance de " +
    "quoi que ce soit sur leurs autres réponses ne diffère pas plus que ne le dit la condition, en points de pourcentage " +
    "(q) ou d’un facteur (cote). Contre quelqu’un qui connaît des liens plus étroits, en " +
    "général ou pour une personne, seule vaut la promesse sans rien supposer. Chaque promesse porte sur une réponse et un " +
    "rapport.",
  operatorSays: (said) => `D’où viennent les conditions, l’exploitant le dit et personne ne l’a vérifié : ${said}`,
  times: (odds) => `au plus ${odds} fois`,
  anyTimes: "autant qu’on veut",
  told: (times, percent) => `${times} (une supposition à 50 % devient au plus ${percent} %)`,
  unmoved: "les autres réponses ne varient pas du tout avec elle (q = 0)",
  moved: (points, several) =>
    `les autres réponses varient d’au plus q = ${points} point${several ? "s" : ""} de pourcentage avec elle`,
  movedBetween: (low, high) =>
    `les autres réponses varient d’au plus q = ${low} à ${high} points de pourcentage avec elle, comme le plan l’énumère`,
  learned: (times) => `connaître toutes les autres réponses pourrait changer sa cote d’au plus ${times} fois`,
  learnedBetween: (low, high) =>
    `connaître toutes les autres réponses pourrait changer sa cote d’au plus ${low} à ${high} fois, comme le plan l’énumère`,
  byLaws: "les autres réponses en dépendent comme le dit le tableau des parts du plan",
  condition: (parts) => `si ${parts.join(", et si ")}`,
  within: (labels) => `, parmi les gens ayant la même réponse à ${labels}`,
  openSent: (label, value) => `${label} est envoyé tel quel, sans protection : ${value}.`,
  range: (low, high) => `${low} à ${high}`,
  ranges: (ranges) =>
    `, pour deviner dans lequel de ces intervalles elle se trouve, et rien de plus fin : ${ranges.join(" ; ")}`,
  doubled: { q: "avec q doublé", odds: "avec la cote doublée", both: "avec q et la cote doublés" },
  leftDoubled: (times, doubled, nothing) => `${times} ${doubled}, ${nothing} sans rien supposer`,
  exceeded: { q: "q", odds: "cote - 1", both: "q et cote - 1" },
  leftExceeded: (times, factor, numbers, nothing) =>
    `${times} à ${factor} fois ${numbers}, ${nothing} sans rien supposer`,
  left: (nothing) => `${nothing} sans rien supposer`,
  unconditional: "elle n’a pas de condition",
  promise: (label, told, condition) =>
    `Qui voit le rapport peut augmenter la cote d’une supposition sur ${label} ${told}, ${condition}.`,
  otherwise: (left) => ` Si c’est faux : ${left}.`,
  chance: (menus) =>
    "Le hasard seul, et non ce que vous avez saisi, a choisi ce qui est demandé" +
    `${menus > 1 ? `, parmi ${menus} menus` : ""}.`,
  separate: (messages) =>
    `Votre appareil envoie ${messages} messages séparés, un pour chaque indice ci-dessous. Rien n’y montre qu’ils viennent ` +
    "d’une même personne.",
  hint: (about, hint, least, most) =>
    `Sur ${about}, votre rapport suggère ${hint}. Votre appareil donne cet indice avec une chance d’au moins ${least} % et ` +
    `d’au plus ${most} %, quelle que soit la vérité.`,
  nothing: "rien",
  more: (count) => `${count} de plus`,
  and: (parts) => listed(parts, "et"),
  or: (parts) => listed(parts, "ou"),
  near: (value) => `environ ${value}`,
  square: (value) => `un carré d’environ ${value} (de -1 à 1)`,
  product: (value) => `un produit d’environ ${value} (de -1 à 1)`,
  no: "non",
  yes: "oui",
  language: "Français",
  locale: "fr",
  direction: "ltr",
  title: "Une enquête à laquelle répond votre propre appareil",
  back: "Retour",
  start: "Commencer",
  goOn: "Continuer",
  next: "Suivant",
  progress: (number, count) => `${number} sur ${count}`,
  questions: (count) => `${count} question${count === "1" ? "" : "s"}`,
  stepEnter: "Vous répondez ici.",
  stepEnterNote: "Ce que vous saisissez reste sur cet appareil.",
  stepEnterOpen: "Ce que vous saisissez reste sur cet appareil, sauf ce qui est marqué comme envoyé tel quel.",
  stepDice: "Votre appareil lance les dés.",
  stepDiceNote: "Il tire de vos réponses un seul indice, vague.",
  stepDiceSeparate: "Il tire de vos réponses des indices vagues, dans des messages séparés.",
  stepSend: "Vous voyez l’indice, puis vous l’envoyez.",
  stepSendNote: "Avant qu’il parte, vous voyez ce qu’il peut révéler.",
  checkedTitle: "Vérifié par cet appareil",
  verified: (label, held, broken) =>
    `Une supposition sur votre réponse à ${label}, juste 50 fois sur 100, l’est au plus ${held} fois sur 100 une fois votre ` +
    `indice connu, si l’hypothèse de l’organisateur sur les liens entre réponses est vraie ; au plus ${broken} fois sinon.`,
  verifiedAlways: (label, held) =>
    `Une supposition sur votre réponse à ${label}, juste 50 fois sur 100, l’est au plus ${held} fois sur 100 une fois votre ` +
    "indice connu, quoi que l’on suppose.",
  verifiedAll: (all) => `Sur toutes vos réponses ensemble : au plus ${all} fois sur 100, quoi que l’on suppose.`,
  keep: "Garder ce que je saisis sur cet appareil jusqu’à l’envoi",
  keepNote:
    "Rien n’est alors perdu si cette page est fermée ou rechargée, mais qui utilise cet appareil peut le lire. Sinon, tout n’est que dans la mémoire de cette page.",
  notKept: (why) => `Impossible de le garder : ${why}`,
  openField: "Envoyé tel quel, sans protection.",
  chooseLanguage: "Langue",
  reading: "Lecture du plan de cette enquête…",
  checking: "Votre appareil vérifie ce que promet cette enquête. Les grandes enquêtes prennent du temps…",
  organiserSays: "Selon l’organisateur, et personne ne l’a vérifié",
  organiser: "Qui demande",
  purpose: "Pourquoi",
  contact: "Contact",
  duration: "Durée",
  minutes: (count) => `environ ${count} minute${count === "1" ? "" : "s"}`,
  decline: "Si vous refusez",
  mayDecline: "Vous pouvez refuser, ou arrêter à tout moment : fermez cette page, et rien n’est envoyé.",
  promiseTitle: "Ce que promet cette enquête, et à quelle condition",
  promiseCaption: "De combien qui voit un rapport peut augmenter la cote d’une supposition sur les réponses.",
  promiseHeads: ["Une supposition sur", "Sa cote augmente", "À condition", "Si c’est faux"],
  batchRelay: (people) =>
    "La promesse principale : de combien le collecteur peut augmenter les chances d’une supposition sur les réponses " +
    `d’une personne. Il ne voit les réponses qu’en lots mélangés d’au moins ${people}.`,
  batchCollector: (people) =>
    `La promesse principale : de combien quiconque voit les décomptes publiés d’au moins ${people} personnes peut ` +
    "augmenter les chances d’une supposition sur les réponses d’une personne.",
  batchWho: (collector, relay) =>
    `Deux organisations se partagent le travail. ${collector} collecte : elle peut ouvrir les réponses, sans savoir qui ` +
    `les a envoyées. ${relay} les transmet en lots mélangés et ne peut pas les ouvrir. La promesse principale tient si ` +
    "les deux ne s’entendent pas.",
  batchTrust:
    "La promesse principale tient si le collecteur ne montre à personne de réponses isolées et ne publie qu’un décompte.",
  batchHolds: (honest, times) =>
    `Elle compte sur ${honest} personnes dans chaque lot, dans chaque groupe de ce qui est envoyé tel quel, qui répondent ` +
    "comme demandé et dont les réponses ne dépendent pas des vôtres, comme dans un ménage. Elle peut échouer avec une " +
    `probabilité de 1 sur ${times}.`,
  fallbackRelay: "Si les deux s’entendent, il reste ce qui est promis pour une réponse isolée :",
  fallbackCollector: "Pour quiconque voit une réponse isolée :",
  review: "Revoir mes réponses",
  reviewTitle: "Vos réponses, telles que cette page les a lues",
  reviewNote: "Rien n’en a encore été fait, et rien n’a été envoyé.",
  change: "Modifier",
  show: "Montrer ce qui serait envoyé",
  once:
    "Ceci fabrique votre réponse brouillée, une fois pour toutes : une seconde en dirait plus sur vous. Rien n’est encore " +
    "envoyé.",
  noAnswer: "Pas de réponse",
  apart: ", hormis les réponses qui en dépendent selon le questionnaire",
  notAsked: "Question non posée",
  noneTicked: "Aucune de ces réponses",
  tickAtMost: (most) => `Choisissez-en au plus ${most}.`,
  ownAnswer: "Vous pouvez laisser ce champ vide. Un champ vide est protégé comme toute autre réponse.",
  countsAs: (word) => `Peut rester vide : compte comme ${word}.`,
  noAnswerCounts: (word) => `Pas de réponse (compte comme ${word})`,
  bounds: (low, high) => `De ${low} à ${high}.`,
  accepted: (low, high) => `un nombre de ${low} à ${high}`,
  acceptedDate: (low, high) => `une date entre ${low} et ${high}`,
  preferNot: "Je préfère ne pas répondre",
  enter: (accepted) => `Veuillez saisir ${accepted}.`,
  isNot: (text, accepted) => `« ${text} » n’est pas ${accepted}.`,
  readAs: (number) => `Lu comme ${number}.`,
  clipped: (number, counts) => `${number}, ce qui compte comme ${counts}`,
  ambiguous: (text) => `« ${text} » peut signifier deux nombres. Lequel voulez-vous dire ?`,
  choose: "Veuillez choisir.",
  search: "Chercher dans cette liste",
  hidden: (count) => `${count} de plus : tapez une partie du mot pour les trouver.`,
  lookOne: "Une réponse demande un autre regard : veuillez lire ce qui y est écrit.",
  lookMany: (count) => `${count} réponses demandent un autre regard : veuillez lire ce qui y est écrit.`,
  previewTitle: "Ceci, et rien d’autre, quitte votre appareil",
  leftTitle: "Ceci, et rien d’autre, a quitté votre appareil",
  message: "Le message, mot pour mot",
  serverSees: "Comme pour toute page, le serveur voit aussi votre adresse réseau et l’heure.",
  relaySees: (relay) =>
    `Il est scellé pour le collecteur et passe par ${relay}, qui voit votre adresse réseau mais pas le message ; le ` +
    "collecteur voit le message mais pas votre adresse, si les deux ne s’entendent pas. Qui sert cette page voit que " +
    "vous l’avez ouverte, et quand.",
  drawnWith: (low, high) => `Tiré avec une chance de ${low} % à ${high} %, quelle que soit la vérité.`,
  guess: (label) => `Peut-on deviner votre réponse à ${label} ?`,
  ofHundred: "Sur 100 suppositions, justes une fois sur deux sans votre indice :",
  chanceBefore: (count) => `${count} justes sans lui`,
  chanceHeld: (count) => `au plus ${count} de plus avec lui, si l’hypothèse est vraie`,
  chanceBroken: (count) => `au plus ${count} de plus si elle ne l’est pas`,
  otherAnswers: "Vos autres réponses",
  otherAnswersNote:
    "Au plus tant de suppositions sur 100 sont justes avec votre indice ; entre parenthèses, si l’hypothèse n’est pas vraie.",
  mayClose: "Vous pouvez maintenant fermer cette page.",
  orMore: ["ou plus", "et plus", "+"],
  orLess: ["ou moins", "et moins"],
  planNumber:
    "Le numéro de ce plan. Toutes les personnes interrogées de la même façon ont le même ; comparez-le avec d’autres :",
  whatever: "Envoyez-le quoi qu’il dise : n’envoyer que ce qui plaît en dirait plus que l’indice.",
  send: "Envoyer",
  sendAgain: "Réessayer",
  limitsTitle: "Mes propres limites",
  limitsNote:
    "Votre appareil ne répond et n’envoie que dans ces limites. Elles restent sur cet appareil et nulle part ailleurs.",
  limitAll: "Cote d’une supposition sur toutes les réponses ensemble : augmentée au plus tant de fois",
  limitOne: "Cote d’une supposition sur une seule réponse : augmentée au plus tant de fois",
  limitTotal: "Toutes les enquêtes auxquelles ce navigateur a répondu à cette adresse : augmentée au plus tant de fois",
  limitCalm: "Vert seulement si une supposition à 50 % devient au plus tant de pour cent",
  usualAll: (factor, epsilon) => `Si vide : ${factor} fois, un epsilon de ${epsilon}.`,
  usualOne: "Si vide : la limite ci-dessus seule.",
  usualTotal: (factor) => `Si vide : aucune limite. Avec cette enquête ce serait ${factor} fois.`,
  usualCalm: (percent) => `Si vide : ${percent} pour cent.`,
  notAFactor: (text) => `« ${text} » n’est pas un facteur : veuillez saisir un nombre d’au moins 1.`,
  beyond: "Cette enquête en dit plus que vos limites ne le permettent.",
  refused: (becomes) =>
    "Votre appareil ne répond pas à cette enquête, au-delà des limites en bas de cette page : sans rien supposer, une " +
    `supposition à 50 % sur vos réponses devient au plus ${becomes} %.`,
  ready: "Votre réponse est prête et gardée sur cet appareil. Elle n’a pas encore été envoyée.",
  sending: "Envoi…",
  received: "Votre réponse est bien arrivée. Merci !",
  duplicate: "Cette réponse était déjà arrivée : elle compte une fois.",
  usedElsewhere:
    "Cette invitation avait déjà servi, sur un autre appareil ou à quelqu’un d’autre. Ce qui a été envoyé alors compte, et " +
    "cette réponse non. Si ce n’était pas vous, veuillez le dire à l’organisateur.",
  keptUnsent: "Une réponse à cette enquête a été faite dans ce navigateur et n’a pas été envoyée.",
  keptSent:
    "Une réponse à cette enquête a été envoyée de ce navigateur. Elle n’est plus montrée, car quelqu’un d’autre lit peut-être.",
  showKept: "C’est la mienne : la montrer",
  another: "Je suis une autre personne : recommencer",
  anotherNote: "Seulement si vous n’avez pas répondu vous-même : une seconde réponse en dirait plus sur vous.",
  panelAsks: (from, to) =>
    `Cette enquête interroge chaque personne pendant une période tirée au sort. La vôtre va du ${from} au ${to}. Revenez à ce moment-là, s’il vous plaît.`,
  panelOver: "Votre période de cette enquête est terminée. Rien n’a été envoyé, et rien n’est nécessaire.",
  panelPrepared:
    "Rien n’a été envoyé aujourd’hui. Votre appareil garde des réponses aléatoires pour une question ultérieure, et non ce que vous avez saisi.",
  noTicket:
    "Cette enquête est sur invitation, et cette adresse n’en porte pas. Veuillez ouvrir le lien de votre invitation : sans " +
    "elle, ce que vous envoyez serait refusé.",
  otherPlan:
    "Ce plan n’est pas celui que nomme votre invitation. Un plan à vous seul permettrait de vous reconnaître ; votre appareil " +
    "n’y répond donc pas. Veuillez en informer l’organisateur.",
  notAnswered: (why) => `Votre appareil ne répond pas à cette enquête : ${why}`,
  notSent: (why) => `L’envoi a échoué : ${why} Vous pouvez réessayer : la même réponse compte une fois.`,
  forgetful: "ce navigateur ne retient rien, et une réponse se donne une fois.",
  full: "la mémoire de ce navigateur est pleine, et une réponse doit être gardée pour être donnée une fois. Veuillez en libérer.",
  sentUnkept:
    "Votre réponse est bien arrivée. Merci ! La mémoire de ce navigateur est pleine, il ne peut pas le retenir : veuillez ne " +
    "pas répondre de nouveau.",
  noReceipt: "ce qui a répondu n’est pas le collecteur. Votre réseau demande peut-être d’abord une connexion.",
  noPlan: (status) => `le serveur n’a pas de plan pour elle (statut ${status}). Veuillez revenir plus tard.`,
  away: "le serveur est injoignable. Veuillez vérifier votre connexion.",
  timeOut: "le serveur n’a pas répondu à temps.",
  tooLarge: "son plan est trop grand pour une page.",
  tooLong: "vérifier son plan prend trop de temps sur cet appareil.",
  tooOften: (seconds) => `beaucoup de réponses viennent de votre réseau. Veuillez attendre ${seconds} secondes.`,
  changed: "cette enquête a changé entre-temps. Rechargez la page pour voir la nouvelle.",
  serverRefused: (why) => `le serveur l’a refusé (${why}).`,
  reload: "Recharger la page",
  cannotSeal: "ce navigateur ne peut pas le sceller pour le relais. Veuillez en utiliser un plus récent.",
  insecure: "cette page n’est pas sûre (https), et seule une page sûre peut vérifier un plan.",
};
