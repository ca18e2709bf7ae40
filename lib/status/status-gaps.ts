import { LruMap } from '../events/lru-map.js';
import omit from 'lodash/omit.js';
import { isApiError } from '../object/api-error.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { Logger } from '../system/logger.js';
import type { StatusUpdate } from './status.js';

const known = ['observedGeneration', 'conditions', 'conditions[].observedGeneration'] as const;

const rememberedRefusals = 1_000;

/** A field of a status that an operator writes by itself. */
type OwnField = (typeof known)[number];

/**
 * The fields of the status that the schema of a kind lacks, as the server says when it refuses them. The
 * others are written without them.
 */
export class StatusGaps {
  readonly #missing = new Set<OwnField>();
  readonly #unsaid: OwnField[] = [];
  /** Objects whose conditions the server refuses, by uid. */
  readonly #refused = new LruMap<string, true>(rememberedRefusals);
  #isKept = true;

  /** Whether the object keeps conditions, as far as is known. */
  keeps({ metadata: { uid = '' } }: KubernetesObject): boolean {
    return this.#isKept && this.#refused.get(uid) === undefined;
  }

  /** Notes that no object of the kind keeps conditions. */
  giveUp({ kind }: KubernetesObject, why: string, logger: Logger): void {
    this.#isKept = false;
    logger.info(`${kind} keeps no conditions, ${why}: events and log tell instead`);
  }

  /** Notes that the server refuses the status of an object as invalid. */
  refused({ metadata: { uid = '' } }: KubernetesObject, error: unknown, logger: Logger): void {
    this.#refused.set(uid, true);
    logger.warn('a condition can not be written: events and log tell instead', { error });
  }

  /** `update` without what the schema lacks. */
  without({ conditions = [], fields = {} }: StatusUpdate): StatusUpdate {
    const missing = this.#missing;
    const { observedGeneration, ...others } = fields;
    const hasGeneration = observedGeneration !== undefined && !missing.has('observedGeneration');
    const shown = missing.has('conditions') ? [] : conditions;
    return {
      fields: hasGeneration ? { ...others, observedGeneration } : others,
      conditions: missing.has('conditions[].observedGeneration')
        ? shown.map((condition) => omit(condition, 'observedGeneration'))
        : shown,
    };
  }

  /** Whether `error` says that the schema lacks more than was known. */
  found(error: unknown): boolean {
    const found = undeclaredIn(error).filter((field) => !this.#missing.has(field));
    for (const field of found) this.#missing.add(field);
    this.#unsaid.push(...found);
    return found.length > 0;
  }

  /** Warns of what was found since the last call. The server names one field at a time. */
  warn({ kind }: KubernetesObject, logger: Logger): void {
    const fields = this.#unsaid.splice(0).map((field) => `status.${field}`);
    if (fields.length === 0) return;
    const problem = `the schema of ${kind} has no ${fields.sort().join(' and ')}`;
    const remedy = 'give its version the status s.status(), apply the CRD, and start again';
    logger.warn(`${problem}: the rest of the status is written; ${remedy}`);
  }
}

function undeclaredIn(error: unknown): readonly OwnField[] {
  if (!isApiError(error)) return [];
  const paths = [...error.message.matchAll(/\.status(\S*): field not declared in schema/g)];
  const fields = paths.map(([, path = '']) =>
    path.replaceAll(/\[[^\]]*\]/g, '[]').replace(/^\./, ''),
  );
  // Without a status there is none of them.
  if (fields.includes('')) return ['observedGeneration', 'conditions'];
  const own = known.filter((field) => fields.includes(field));
  const isOther = (field: string): boolean =>
    field.startsWith('conditions') && !known.some((each) => each === field);
  return fields.some(isOther) ? [...own, 'conditions'] : own;
}
