import { describeObject } from '../object/describe-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { Pair } from './desired-object.js';
import { podTemplateIn } from './pod-references.js';

/** The ConfigMaps and Secrets whose hashes in the live pod template are not the desired ones. */
export function rolloutCauses({ desired, live }: Pair): readonly ObjectReference[] {
  const [container] = podTemplateIn(live)?.spec?.containers ?? [];
  const values = new Map((container?.env ?? []).map(({ name, value }) => [name, value] as const));
  const { namespace } = desired.ref;
  return desired.variables
    .filter(({ name, stamp }) => values.get(name) !== stamp.hash)
    .map(({ stamp: { kind, name } }) => ({
      ...{ apiVersion: 'v1', kind, name },
      ...(namespace !== undefined && { namespace }),
    }));
}

/** `causes` in words; undefined for none. */
export function causeOfRollout(causes: readonly ObjectReference[]): string | undefined {
  if (causes.length === 0) return undefined;
  return `${causes.map((ref) => describeObject(ref)).join(', ')} changed`;
}
