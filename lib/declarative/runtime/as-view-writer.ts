import { viewGroupOf } from '../spec/operator-spec.js';
import type { ControllerSpec, ResourceSpec } from '../spec/operator-spec.js';
import { anyKindOf } from '../views/view-writers.js';
import type { ViewWriter } from '../views/view-writers.js';

/** How a controller is doing, as those ask who read what it writes. */
export interface WriterState {
  readonly progress: () => ViewWriter['progress'];
  readonly trouble: () => string | undefined;
}

/** A controller of an operator, as others that read what it writes know it. */
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

/** One that is to write the views of an operator, and can't: who reads them waits. */
export function unableViewWriter(operator: string, spec: ControllerSpec): ViewWriter {
  const trouble = (): string => cannotRun;
  return asViewWriter(operator, spec, { progress: () => 'unable', trouble });
}

/** Why a controller with problems writes nothing. */
export const cannotRun = "it can't be run as it is specified";

/** Whether a source or a target are Secrets. */
export function isSecretSpec({ apiGroup, kind }: ResourceSpec): boolean {
  return apiGroup === '' && kind === 'Secret';
}
