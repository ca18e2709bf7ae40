import { recordingClient } from '../events/recording-client.js';
import type { WriteDetails } from '../events/recording-client.js';
import type { BuilderSettings } from './builder-options.js';
import type { Report, RunContext } from './context.js';
import { refId } from './dependencies.js';

/** A context whose writes are recorded as events on the owner. */
export function recordingContext(settings: BuilderSettings): RunContext {
  const { owner, recorder, emitter, logger } = settings;
  const announced = new Map<string, WriteDetails>();
  const client = recordingClient(settings.client, {
    ...{ recorder, emitter, owner, logger },
    detailsOf: (ref) => announced.get(refId(ref)),
  });
  const report = ({ related, ...event }: Report): void => {
    recorder?.record({ ...event, regarding: owner, related });
  };
  return {
    settings,
    client,
    report,
    announce: (ref, details) => announced.set(refId(ref), details),
  };
}
