/** What some plans state besides what is asked; loaded with those that do. */

export { readRelay } from "./relay.js";
export { readSurvey } from "./survey.js";
