import omit from 'lodash/omit.js';
import { LruMap } from '../system/lru-map.js';
import { isApiError } from '../object/api-error.js';
import { isJsonObject } from '../object/json.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { Logger } from '../system/logger.js';
import type { StatusUpdate } from './status.js';

/** The status fields that an operator writes by itself. */
const ownFields = ['observedGeneration', 'conditions', 'conditions[].observedGeneration'];

const rememberedRefusals = 1_000;

/**
 * Status fields that the schema of a kind lacks, learned from the server's refusals. The other fields are
 * written without them.
 */
export class StatusGaps {
  readonly #optional: readonly string[];
  readonly #missing = new Set<string>();
  readonly #unsaid: string[] = [];
  /** Uids of objects whose conditions the server refuses. */
  readonly #refused = new LruMap<string, true>(rememberedRefusals);
  #isKept = true;

  /** @param optional - further fields that a schema may lack, as `list[].field`. */
  constructor(optional: readonly string[] = []) {
    this.#optional = [...ownFields, ...optional];
  }

  /** Returns true if the object keeps conditions, as far as is known. */
  keeps({ metadata: { uid = '' } }: KubernetesObject): boolean {
    return this.#isKept && this.#refused.get(uid) === undefined;
  }

  /** Records that objects of the kind keep no conditions. */
  giveUp({ kind }: KubernetesObject, why: string, logger: Logger): void {
    this.#isKept = false;
    logger.info(`${kind} keeps no conditions, ${why}: events and log tell instead`);
  }

  /** Records that the server refuses the status of an object as invalid. */
  refused({ metadata: { uid = '' } }: KubernetesObject, error: unknown, logger: Logger): void {
    this.#refused.set(uid, true);
    logger.warn('a condition can not be written: events and log tell instead', { error });
  }

  /** Returns `update` without the fields that the schema lacks. */
  without(update: StatusUpdate): StatusUpdate {
    if (this.#missing.size === 0) return update;
    const paths = [...this.#missing].map((field) => field.replaceAll('[]', '').split('.'));
    const status = { ...update.fields, conditions: update.conditions ?? [] };
    const { conditions, ...fields } = paths.reduce<StatusFields>(withoutPath, status);
    return { conditions: conditions ?? [], fields };
  }

  /** Records the missing fields that `error` names. Returns true if there are new ones. */
  found(error: unknown): boolean {
    const found = undeclaredIn(error, this.#optional).filter((field) => !this.#missing.has(field));
    for (const field of found) this.#missing.add(field);
    this.#unsaid.push(...found);
    return found.length > 0;
  }

  /** Warns about the fields found since the last call. The server names one field at a time. */
  warn({ kind }: KubernetesObject, logger: Logger): void {
    const fields = this.#unsaid.splice(0).map((field) => `status.${field}`);
    if (fields.length === 0) return;
    const problem = `the schema of ${kind} has no ${fields.sort().join(' and ')}`;
    const remedy = 'give its version the status s.status(), apply the CRD, and start again';
    logger.warn(`${problem}: the rest of the status is written; ${remedy}`);
  }
}

function undeclaredIn(error: unknown, optional: readonly string[]): readonly string[] {
  if (!isApiError(error)) return [];
  const paths = [...error.message.matchAll(/\.status(\S*): field not declared in schema/g)];
  const fields = paths.map(([, path = '']) =>
    path.replaceAll(/\[[^\]]*\]/g, '[]').replace(/^\./, ''),
  );
  // A schema without status has none of these fields.
  if (fields.includes('')) return ['observedGeneration', 'conditions'];
  const own = optional.filter((field) => fields.includes(field));
  const isOther = (field: string): boolean =>
    field.startsWith('conditions') && !optional.includes(field);
  return fields.some(isOther) ? [...own, 'conditions'] : own;
}

type StatusFields = Readonly<Record<string, unknown>> & Pick<StatusUpdate, 'conditions'>;

/** Returns `value` without the field at `path`, in each element of the lists on the way. */
function withoutPath<T>(value: T, path: readonly string[]): T {
  const [name = '', ...rest] = path;
  if (Array.isArray(value)) return value.map((each: unknown) => withoutPath(each, path)) as T;
  if (!isJsonObject(value) || !(name in value)) return value;
  if (rest.length === 0) return omit(value, name) as T;
  return { ...value, [name]: withoutPath(value[name], rest) };
}
