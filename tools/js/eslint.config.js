/** What every script is held to; the limits are those of the modules in Python. */

import js from "@eslint/js";
import globals from "globals";

const LIMITS = { complexity: ["error", 15], "max-params": ["error", 5], "max-lines": ["error", 400] };
const MODERN = { eqeqeq: "error", "no-var": "error", "object-shorthand": "error", "prefer-const": "error" };
const ALLOWED = {
  "no-irregular-whitespace": ["error", { skipStrings: true, skipTemplates: true }], // words of other languages
  "no-unused-vars": ["error", { varsIgnorePattern: "^_$", argsIgnorePattern: "^_" }],
};

export default [
  { ignores: ["**/node_modules/", "**/vendor/"] },
  js.configs.recommended,
  { languageOptions: { globals: { ...globals.browser } }, rules: { ...LIMITS, ...MODERN, ...ALLOWED } },
  { files: ["tests/js/**"], languageOptions: { globals: { ...globals.node } } },
  {
    files: ["src/bcdp/web/start.js"], // for browsers of any age
    languageOptions: { sourceType: "script", ecmaVersion: 5 },
    rules: { "no-var": "off", "object-shorthand": "off" },
  },
];
