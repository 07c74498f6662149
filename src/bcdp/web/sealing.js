/** Seals and sends reports through a relay; loaded only where a plan names one. */

export { sealReports, sendSealed } from "./device/sealing.js";
