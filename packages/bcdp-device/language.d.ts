import type { Words } from "./words.js";

export const words: Words;
