import type { BuilderSettings } from './builder-options.js';
import type { Report, RunContext } from './context.js';

/** A context whose writes are recorded as events on the owner. */
export function recordingContext(settings: BuilderSettings): RunContext {
  const { client, owner, recorder } = settings;
  const report = ({ related, ...event }: Report): void => {
    recorder?.record({ ...event, regarding: owner, related });
  };
  return { settings, client, report };
}
