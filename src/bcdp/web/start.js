/*
 * Tells in words that the survey could not start: an old browser, a script that did not come, a page that hangs. It is
 * written for browsers of any age, and is no module: it has to run where modules do not.
 */
(function () {
  var words = {
    en: [
      "This browser is too old for this survey. Please use a newer one.",
      "A part of this page did not arrive. Please look whether you are connected, and reload it.",
      "Reload the page",
    ],
    de: [
      "Dieser Browser ist zu alt für diese Umfrage. Bitte nehmen Sie einen neueren.",
      "Ein Teil dieser Seite ist nicht angekommen. Bitte sehen Sie nach, ob Sie verbunden sind, und laden " +
        "Sie sie neu.",
      "Seite neu laden",
    ],
    fr: [
      "Ce navigateur est trop ancien pour cette enquête. Veuillez en utiliser un plus récent.",
      "Une partie de cette page n’est pas arrivée. Veuillez vérifier votre connexion et la recharger.",
      "Recharger la page",
    ],
    es: [
      "Este navegador es demasiado antiguo para esta encuesta. Use uno más reciente.",
      "Una parte de esta página no llegó. Compruebe si está conectado y recárguela.",
      "Recargar la página",
    ],
    ar: [
      "هذا المتصفح أقدم من أن يعرض هذا الاستبيان. يُرجى استخدام متصفح أحدث.",
      "لم يصل جزء من هذه الصفحة. يُرجى التحقق من اتصالك وإعادة تحميلها.",
      "إعادة تحميل الصفحة",
    ],
  };
  var SECONDS = 20;
  var code = (navigator.language || "en").slice(0, 2);
  var said = words[code] || words.en;

  function tell(which) {
    var status = document.getElementById("status");
    if (window.bcdpStarted || !status) return;
    if (words[code]) document.documentElement.lang = code;
    if (code === "ar") document.documentElement.dir = "rtl";
    status.className = "note bad";
    status.textContent = said[which];
    document.getElementById("reload").textContent = said[2];
    document.getElementById("reload").onclick = function () {
      location.reload();
    };
    document.getElementById("way").hidden = false;
  }

  var old = !("noModule" in document.createElement("script")) || typeof BigInt === "undefined" || !window.Worker;
  old = old || !Array.prototype.at || !Object.hasOwn;
  window.addEventListener(
    "error",
    function (event) {
      tell(event.target && event.target.src ? 1 : 0); // a script that did not come, or one that was not understood
    },
    true
  );
  window.addEventListener("DOMContentLoaded", function () {
    if (old) tell(0);
  });
  setTimeout(function () {
    tell(1);
  }, SECONDS * 1000);
})();
