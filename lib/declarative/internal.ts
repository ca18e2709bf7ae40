/*
 * Names of `declarative` for the other folders of `lib/`, which are not public. `index.ts` is the public entry.
 */
export { keyFilesIn, rotateTokenKey, writeViewKubeConfig } from './api-server/generate-keys.js';
export { drawingOf } from './graph/drawing.js';
export type { Drawing, DrawnArrow, DrawnNode } from './graph/drawing.js';
export { dotOfDrawing, mermaidOfDrawing, svgOfDrawing } from './graph/render.js';
export { operatorAccess } from './operator/operator-access.js';
export type { KnownKinds } from './operator/operator-access.js';
export { describeProblem } from './spec/invalid-spec-error.js';
