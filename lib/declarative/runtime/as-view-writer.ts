import { viewGroupOf } from '../spec/operator-spec.js';
import type { ControllerSpec, ResourceSpec } from '../spec/operator-spec.js';
import { anyKindOf } from '../views/view-writers.js';
import type { ViewWriter } from '../views/view-writers.js';

/** State of a controller, read by the controllers that depend on its views. */
export interface WriterState {
  readonly progress: () => ViewWriter['progress'];
  readonly trouble: () => string | undefined;
}

/** Describes a controller of an operator for the readers of what it writes. */
export function asViewWriter(
  operator: string,
  { name, sources, target }: ControllerSpec,
  { progress, trouble }: WriterState,
): ViewWriter {
  const group = viewGroupOf(operator);
  const watched = sources.filter(({ type }) => type === 'Watcher');
  const named = ({ apiGroup = group, kind }: ResourceSpec): string => `${apiGroup}/${kind}`;
  return {
    ...{ operator, name, sources: watched.map(named) },
    target: target.kind === '' ? anyKindOf(target.apiGroup ?? group) : named(target),
    readsSecrets: watched.some(isSecretSpec),
    get progress() {
      return progress();
    },
    get trouble() {
      return trouble();
    },
  };
}

/** Returns the writer of a controller that cannot run; its readers wait. */
export function unableViewWriter(operator: string, spec: ControllerSpec): ViewWriter {
  const trouble = (): string => cannotRun;
  return asViewWriter(operator, spec, { progress: () => 'unable', trouble });
}

/** The reason why a controller with problems writes nothing. */
export const cannotRun = "it can't be run as it is specified";

/** Whether a source or target is a Secret. */
export function isSecretSpec({ apiGroup, kind }: ResourceSpec): boolean {
  return apiGroup === '' && kind === 'Secret';
}
