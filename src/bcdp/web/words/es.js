/** The page's own words in Spanish. */

import { listed, spelledIn } from "../device/wording/english.js";

/** @type {import("./en.js").PageWords} */
export const words = {
  ...spelledIn("es"),
  all: "todas las respuestas juntas",
  nothingAssumed: "sin suponer nada, sea cual sea la relación entre las respuestas",
  meaning:
    "Una condición trata de lo que sabe quien adivina: entre personas que difieren en la respuesta, la probabilidad de " +
    "cualquier cosa sobre sus otras respuestas no difiere más de lo que dice la condición, en puntos porcentuales (q) o en " +
    "un factor (posibilidades). Frente a quien conozca vínculos más estrechos, en " +
    "general o de una persona, solo vale la promesa sin suponer nada. Cada promesa trata de una respuesta y un informe.",
  operatorSays: (said) => `De dónde vienen las condiciones lo dice el operador y nadie lo ha comprobado: ${said}`,
  times: (odds) => `como mucho ${odds} veces`,
  anyTimes: "cuanto se quiera",
  told: (times, percent) => `${times} (una suposición al 50 % pasa como mucho al ${percent} %)`,
  unmoved: "las otras respuestas no varían en absoluto con ella (q = 0)",
  moved: (points, several) =>
    `las otras respuestas varían como mucho q = ${points} punto${several ? "s" : ""} porcentual${several ? "es" : ""} con ella`,
  movedBetween: (low, high) =>
    `las otras respuestas varían como mucho de q = ${low} a ${high} puntos porcentuales con ella, como enumera el plan`,
  learned: (times) => `conocer todas las otras respuestas podría cambiar sus posibilidades como mucho ${times} veces`,
  learnedBetween: (low, high) =>
    `conocer todas las otras respuestas podría cambiar sus posibilidades como mucho de ${low} a ${high} veces, como enumera ` +
    "el plan",
  byLaws: "las otras respuestas dependen de ella como dice la tabla de proporciones del plan",
  condition: (parts) => `si ${parts.join(", y si ")}`,
  within: (labels) => `, entre personas con la misma respuesta a ${labels}`,
  openSent: (label, value) => `${label} se envía tal cual, sin proteger: ${value}.`,
  range: (low, high) => `${low} a ${high}`,
  ranges: (ranges) => `, para adivinar en cuál de estos intervalos está, y nada más fino: ${ranges.join("; ")}`,
  doubled: {
    q: "con el doble de q",
    odds: "con el doble de posibilidades",
    both: "con el doble de q y de posibilidades",
  },
  leftDoubled: (times, doubled, nothing) => `${times} ${doubled}, ${nothing} sin suponer nada`,
  exceeded: { q: "q", odds: "posibilidades - 1", both: "q y posibilidades - 1" },
  leftExceeded: (times, factor, numbers, nothing) =>
    `${times} a ${factor} veces ${numbers}, ${nothing} sin suponer nada`,
  left: (nothing) => `${nothing} sin suponer nada`,
  unconditional: "no tiene condición",
  promise: (label, told, condition) =>
    `Quien vea el informe puede aumentar las posibilidades de una suposición sobre ${label} ${told}, ${condition}.`,
  otherwise: (left) => ` Si eso es falso: ${left}.`,
  chance: (menus) =>
    `Solo el azar, y no lo que usted escribió, eligió qué preguntar${menus > 1 ? `, entre ${menus} menús` : ""}.`,
  separate: (messages) =>
    `Su dispositivo envía ${messages} mensajes separados, uno por cada pista de abajo. Nada en ellos muestra que vienen de ` +
    "una misma persona.",
  hint: (about, hint, least, most) =>
    `Sobre ${about}, su informe apunta a ${hint}. Su dispositivo da esta pista con una probabilidad de al menos el ${least} % ` +
    `y como mucho el ${most} %, sea cual sea la verdad.`,
  nothing: "nada",
  more: (count) => `${count} más`,
  and: (parts) => listed(parts, "y"),
  or: (parts) => listed(parts, "o"),
  near: (value) => `cerca de ${value}`,
  square: (value) => `un cuadrado cerca de ${value} (de -1 a 1)`,
  product: (value) => `un producto cerca de ${value} (de -1 a 1)`,
  no: "no",
  yes: "sí",
  language: "Español",
  locale: "es",
  direction: "ltr",
  title: "Una encuesta que responde su propio dispositivo",
  back: "Atrás",
  start: "Empezar",
  goOn: "Continuar",
  next: "Siguiente",
  progress: (number, count) => `${number} de ${count}`,
  questions: (count) => `${count} pregunta${count === "1" ? "" : "s"}`,
  stepEnter: "Usted responde aquí.",
  stepEnterNote: "Lo que escriba se queda en este dispositivo.",
  stepEnterOpen: "Lo que escriba se queda en este dispositivo, salvo lo que está marcado como enviado tal cual.",
  stepDice: "Su dispositivo lanza los dados.",
  stepDiceNote: "Convierte sus respuestas en una sola pista imprecisa.",
  stepDiceSeparate: "Convierte sus respuestas en pistas imprecisas, en mensajes separados.",
  stepSend: "Usted ve la pista y la envía.",
  stepSendNote: "Antes de que salga, ve cuánto puede revelar.",
  checkedTitle: "Comprobado por este dispositivo",
  verified: (label, held, broken) =>
    `Una suposición sobre su respuesta a ${label} que acierta 50 veces de 100 acierta como mucho ${held} de 100 cuando se ` +
    "conoce su pista, si es cierto lo que el organizador supone sobre cómo se relacionan las respuestas; si no, como mucho " +
    `${broken}.`,
  verifiedAlways: (label, held) =>
    `Una suposición sobre su respuesta a ${label} que acierta 50 veces de 100 acierta como mucho ${held} de 100 cuando se ` +
    "conoce su pista, se suponga lo que se suponga.",
  verifiedAll: (all) =>
    `Sobre todas sus respuestas juntas: como mucho ${all} veces de 100, se suponga lo que se suponga.`,
  keep: "Guardar lo que escribo en este dispositivo hasta enviarlo",
  keepNote:
    "Así no se pierde nada al cerrar o recargar esta página, pero quien use este dispositivo puede leerlo. Si no, solo está en la memoria de esta página.",
  notKept: (why) => `No se puede guardar: ${why}`,
  openField: "Se envía tal cual, sin proteger.",
  chooseLanguage: "Idioma",
  reading: "Leyendo el plan de esta encuesta…",
  checking: "Su dispositivo comprueba lo que promete esta encuesta. Las encuestas grandes tardan un rato…",
  organiserSays: "En palabras de quien organiza, que nadie ha comprobado",
  organiser: "Quién pregunta",
  purpose: "Para qué",
  contact: "Contacto",
  duration: "Cuánto dura",
  minutes: (count) => `unos ${count} minuto${count === "1" ? "" : "s"}`,
  decline: "Si no quiere participar",
  mayDecline: "Puede negarse o parar en cualquier momento: cierre esta página y no se envía nada.",
  promiseTitle: "Qué promete esta encuesta, y con qué condición",
  promiseCaption:
    "Cuánto puede aumentar quien vea un informe las posibilidades de una suposición sobre las respuestas.",
  promiseHeads: ["Una suposición sobre", "Sus posibilidades suben", "Con la condición", "Si eso es falso"],
  batchRelay: (people) =>
    "La promesa principal: cuánto puede aumentar el recolector las probabilidades de acertar sobre las respuestas de " +
    `una persona. Solo ve respuestas en lotes mezclados de al menos ${people}.`,
  batchCollector: (people) =>
    `La promesa principal: cuánto puede aumentar quien vea los recuentos publicados de al menos ${people} personas las ` +
    "probabilidades de acertar sobre las respuestas de una persona.",
  batchWho: (collector, relay) =>
    `Dos organizaciones se reparten el trabajo. ${collector} recolecta: puede abrir las respuestas y no sabe quién las ` +
    `envió. ${relay} las entrega en lotes mezclados y no puede abrirlas. La promesa principal vale si las dos no ` +
    "colaboran.",
  batchTrust:
    "La promesa principal vale si el recolector no muestra a nadie respuestas sueltas y publica un solo recuento.",
  batchHolds: (honest, times) =>
    `Cuenta con ${honest} personas en cada lote, en cada grupo de lo que se envía tal cual, que responden como se pide y ` +
    "cuyas respuestas no dependen de las suyas, como las de un hogar. Puede fallar con una probabilidad de 1 entre " +
    `${times}.`,
  fallbackRelay: "Si las dos colaboran, queda lo que se promete sobre una sola respuesta:",
  fallbackCollector: "Para quien vea una sola respuesta:",
  review: "Revisar mis respuestas",
  reviewTitle: "Sus respuestas, tal como las leyó esta página",
  reviewNote: "Todavía no se ha hecho nada con ellas ni se ha enviado nada.",
  change: "Cambiar",
  show: "Mostrar lo que se enviaría",
  once: "Esto crea su respuesta difuminada, de una vez por todas: una segunda diría más sobre usted. Todavía no se envía nada.",
  noAnswer: "Sin respuesta",
  apart: ", salvo las respuestas que dependen de ella según el cuestionario",
  notAsked: "No preguntado",
  noneTicked: "Ninguna de estas",
  tickAtMost: (most) => `Elija como máximo ${most}.`,
  ownAnswer: "Puede dejarlo en blanco. Un espacio en blanco está protegido como cualquier otra respuesta.",
  countsAs: (word) => `Puede quedar vacío: cuenta como ${word}.`,
  noAnswerCounts: (word) => `Sin respuesta (cuenta como ${word})`,
  bounds: (low, high) => `De ${low} a ${high}.`,
  accepted: (low, high) => `un número de ${low} a ${high}`,
  acceptedDate: (low, high) => `una fecha entre ${low} y ${high}`,
  preferNot: "Prefiero no responder",
  enter: (accepted) => `Escriba ${accepted}.`,
  isNot: (text, accepted) => `«${text}» no es ${accepted}.`,
  readAs: (number) => `Leído como ${number}.`,
  clipped: (number, counts) => `${number}, que cuenta como ${counts}`,
  ambiguous: (text) => `«${text}» puede significar dos números. ¿Cuál quiere decir?`,
  choose: "Elija una opción.",
  search: "Buscar en esta lista",
  hidden: (count) => `${count} más: escriba una parte de la palabra para encontrarlos.`,
  lookOne: "Una respuesta necesita otra mirada: lea lo que está escrito allí.",
  lookMany: (count) => `${count} respuestas necesitan otra mirada: lea lo que está escrito allí.`,
  previewTitle: "Esto, y nada más, sale de su dispositivo",
  leftTitle: "Esto, y nada más, salió de su dispositivo",
  message: "El mensaje, palabra por palabra",
  serverSees: "Como en toda página, el servidor ve también su dirección de red y la hora.",
  relaySees: (relay) =>
    `Va sellado para el recolector y pasa por ${relay}, que ve su dirección de red pero no el mensaje; el recolector ve ` +
    "el mensaje pero no su dirección, si los dos no colaboran. Quien sirve esta página ve que usted la abrió, y cuándo.",
  drawnWith: (low, high) => `Sacada con una probabilidad del ${low} % al ${high} %, sea cual sea la verdad.`,
  guess: (label) => `¿Puede alguien adivinar su respuesta a ${label}?`,
  ofHundred: "De 100 suposiciones que sin su pista aciertan la mitad:",
  chanceBefore: (count) => `${count} aciertan sin ella`,
  chanceHeld: (count) => `como mucho ${count} más con ella, si lo supuesto es cierto`,
  chanceBroken: (count) => `como mucho ${count} más si no lo es`,
  otherAnswers: "Sus otras respuestas",
  otherAnswersNote:
    "Como mucho tantas de 100 suposiciones así aciertan con su pista; entre paréntesis, si lo supuesto no es cierto.",
  mayClose: "Ya puede cerrar esta página.",
  orMore: ["o más", "y más", "+"],
  orLess: ["o menos", "y menos"],
  planNumber:
    "El número de este plan. Todas las personas a las que se pregunta lo mismo tienen el mismo; compárelo con otras:",
  whatever: "Envíelo diga lo que diga: enviar solo lo que agrada diría más que la pista.",
  send: "Enviar",
  sendAgain: "Intentar de nuevo",
  limitsTitle: "Mis propios límites",
  limitsNote:
    "Su dispositivo responde y envía solo dentro de estos límites. Se guardan en este dispositivo y en ningún otro lugar.",
  limitAll: "Posibilidades de una suposición sobre todas las respuestas juntas: aumentadas como mucho tantas veces",
  limitOne: "Posibilidades de una suposición sobre una sola respuesta: aumentadas como mucho tantas veces",
  limitTotal: "Todas las encuestas que este navegador respondió en esta dirección: aumentadas como mucho tantas veces",
  limitCalm: "Verde solo si una suposición al 50 % pasa como mucho a tanto por ciento",
  usualAll: (factor, epsilon) => `Si queda vacío: ${factor} veces, un épsilon de ${epsilon}.`,
  usualOne: "Si queda vacío: solo el límite de arriba.",
  usualTotal: (factor) => `Si queda vacío: sin límite. Con esta encuesta serían ${factor} veces.`,
  usualCalm: (percent) => `Si queda vacío: ${percent} por ciento.`,
  notAFactor: (text) => `«${text}» no es un factor: escriba un número de al menos 1.`,
  beyond: "Esta encuesta dice más de lo que permiten sus límites.",
  refused: (becomes) =>
    "Su dispositivo no responde a esta encuesta, que supera los límites al final de esta página: sin suponer nada, una " +
    `suposición al 50 % sobre sus respuestas pasa como mucho al ${becomes} %.`,
  ready: "Su respuesta está lista y guardada en este dispositivo. Todavía no se ha enviado.",
  sending: "Enviando…",
  received: "Su respuesta ha llegado. ¡Gracias!",
  duplicate: "Esta respuesta ya había llegado: cuenta una vez.",
  usedElsewhere:
    "Esta invitación ya se había usado, en otro dispositivo o por otra persona. Cuenta lo que se envió entonces, y esta " +
    "respuesta no. Si no fue usted, dígaselo a quien organiza.",
  keptUnsent: "En este navegador se hizo una respuesta a esta encuesta y no se ha enviado.",
  keptSent:
    "Desde este navegador se envió una respuesta a esta encuesta. No se muestra otra vez, porque quizá lea otra persona.",
  showKept: "Es mía: mostrarla",
  another: "Soy otra persona: empezar de nuevo",
  anotherNote: "Solo si usted no ha respondido: una segunda respuesta diría más sobre usted.",
  panelAsks: (from, to) =>
    `Esta encuesta pregunta a cada persona en un periodo elegido al azar. El suyo va del ${from} al ${to}. Vuelva entonces, por favor.`,
  panelOver: "Su periodo de esta encuesta ha terminado. No se envió nada, y no hace falta.",
  panelPrepared:
    "Hoy no se envió nada. Su dispositivo guarda respuestas aleatorias para una pregunta posterior, y no lo que usted escribió.",
  noTicket:
    "Esta encuesta es por invitación, y esta dirección no tiene ninguna. Abra el enlace de su invitación: sin ella se " +
    "rechazaría lo que envíe.",
  otherPlan:
    "Este plan no es el que nombra su invitación. Con un plan solo para usted se le podría reconocer, así que su dispositivo " +
    "no lo responde. Avise a la organización.",
  notAnswered: (why) => `Su dispositivo no responde a esta encuesta: ${why}`,
  notSent: (why) => `No se pudo enviar: ${why} Puede intentarlo de nuevo: la misma respuesta cuenta una vez.`,
  forgetful: "este navegador no recuerda nada, y una respuesta se da una vez.",
  full: "la memoria de este navegador está llena, y una respuesta debe guardarse para darse una vez. Libere espacio.",
  sentUnkept:
    "Su respuesta ha llegado. ¡Gracias! La memoria de este navegador está llena y no puede recordarlo: no responda otra vez.",
  noReceipt: "lo que respondió no es el recolector. Quizá su red le pide antes que inicie sesión.",
  noPlan: (status) => `el servidor no tiene un plan para ella (estado ${status}). Vuelva más tarde.`,
  away: "no se llega al servidor. Compruebe si está conectado.",
  timeOut: "el servidor no respondió a tiempo.",
  tooLarge: "su plan es demasiado grande para una página.",
  tooLong: "comprobar su plan tarda demasiado en este dispositivo.",
  tooOften: (seconds) => `llegan muchas respuestas de su red. Espere ${seconds} segundos.`,
  changed: "esta encuesta ha cambiado entretanto. Recargue la página para ver la nueva.",
  serverRefused: (why) => `el servidor lo rechazó (${why}).`,
  reload: "Recargar la página",
  cannotSeal: "este navegador no puede sellarlo para el intermediario. Use uno más reciente.",
  insecure: "esta página no es segura (https), y solo una segura puede comprobar un plan.",
};
