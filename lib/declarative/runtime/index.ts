/*
 * A declarative controller: watches its sources, evaluates its pipeline, and writes its target.
 *
 *   document-sources.ts ──► pipeline-run.ts ──► pipeline-state.ts ──► target-reconciler.ts ──► target-writer.ts
 *
 * Read `declarative-controller.ts` (start, stop, status), then `running-pipeline.ts`, which joins the parts.
 * `target-writer.ts` writes a target: an Updater owns whole objects, a Patcher single fields.
 * `clean-up-target.ts` takes back what a stopped controller wrote, and `feedback-brake.ts` slows down
 * controllers that trigger themselves.
 */
export type { ReportedError } from './reported-errors.js';
export { DeclarativeController } from './declarative-controller.js';
