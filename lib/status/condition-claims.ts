import { LruMap } from '../system/index.js';
import {
  findCondition,
  describeObject,
  fieldElement,
  keyElement,
  FieldSet,
} from '../object/index.js';
import type {
  Condition,
  ConditionUpdate,
  KubernetesObject,
  ManagedFieldsEntry,
} from '../object/index.js';
import type { Logger } from '../system/index.js';
import { statusConditions } from './status.js';

const rememberedObjects = 10_000;
const contestMs = 60_000;
const mostReplaced = 2;

/** Options of a writer of conditions. */
export interface ClaimsOptions {
  readonly fieldManager: string;
  readonly strategy: 'apply' | 'merge';
  /** The remedy that warnings name. */
  readonly remedy: string;
}

/** The circumstances of a write of conditions. */
export interface ClaimsMoment {
  readonly nowMs: number;
  /** True if the conditions report a reconcile. */
  readonly isObserved: boolean;
  readonly logger: Pick<Logger, 'warn'>;
}

/** A condition that a merge patch has written. */
interface WrittenCondition {
  /** The condition as the server stored it, without the fields that the schema lacks. */
  readonly stored: Condition | undefined;
  readonly atMs: number;
  /** How many times in a row this operator has replaced the value of another writer by writing the condition. */
  readonly replaced: number;
}

type LastWrite = ReadonlyMap<string, WrittenCondition>;

/** The conditions of an object that this operator may write. */
export interface OwnConditions {
  readonly conditions: readonly ConditionUpdate[];
  /**
   * Call it after the write, with the server's answer: it records the conditions that were taken from other operators,
   * or the values that the server stored.
   */
  written(answer: KubernetesObject): void;
}

/**
 * Tracks the conditions that other operators apply too. A new operator takes a condition over once, because
 * the former owner may be an earlier release with another name. If the former owner takes the condition back,
 * it still runs, and keeps the condition. An operator takes a lost condition back unless it took the
 * condition from another one. So exactly one of two operators keeps it.
 *
 * Merge patches name no owner. With them, an operator stops writing a condition that another writer has
 * replaced several times in a row.
 */
export class ConditionClaims {
  readonly #options: ClaimsOptions;
  /** The field managers from which this operator took conditions, by the object's uid, then by condition type. */
  readonly #taken = new LruMap<string, ReadonlyMap<string, string>>(rememberedObjects);
  /** The last written conditions by uid; only for merge patches. */
  readonly #last = new LruMap<string, LastWrite>(rememberedObjects);
  readonly #warned = new Set<string>();
  /**
   * The condition types that this operator no longer writes, because another writer keeps replacing them. Only for
   * merge patches.
   */
  readonly #lost = new Set<string>();

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /** Leaves out the conditions that other operators keep, and warns once about each. */
  own(
    object: KubernetesObject,
    conditions: readonly ConditionUpdate[],
    now: ClaimsMoment,
  ): OwnConditions {
    if (this.#options.strategy === 'apply') {
      return this.#besideAppliers(object, conditions, now.logger);
    }
    // Do not count writes that report no reconcile: several controllers may alternately write a pause and its end.
    if (!now.isObserved) return { conditions, written: () => undefined };
    return this.#besideReplacers(object, conditions, now);
  }

  /** Finds the other operators that apply a condition in `managedFields`. */
  #besideAppliers(
    object: KubernetesObject,
    conditions: readonly ConditionUpdate[],
    logger: Pick<Logger, 'warn'>,
  ): OwnConditions {
    const manager = this.#options.fieldManager;
    const appliers = (object.metadata.managedFields ?? []).filter(isOfStatus);
    const isAlone = appliers.every((each) => each.manager === manager);
    if (isAlone) return { conditions, written: () => undefined };
    const applied = appliers.map(conditionsIn);
    const { uid = '' } = object.metadata;
    const before = this.#taken.get(uid);
    const taken = new Map<string, string>();
    const left = new Set<string>();
    for (const { type } of conditions) {
      const rival = rivalOf(applied, type, manager);
      if (rival === undefined) continue;
      if (before?.get(type) !== rival) {
        taken.set(type, rival);
        continue;
      }
      left.add(type);
      const who = `the field manager ${rival} also applies it, and owns it now`;
      this.#warn(object, { type, who, rival }, logger);
    }
    return {
      conditions: conditions.filter(({ type }) => !left.has(type)),
      written: () => {
        if (taken.size > 0) this.#taken.set(uid, new Map([...(before ?? []), ...taken]));
      },
    };
  }

  /** Finds other writers by comparing with the last write, because a merge patch names no owner. */
  #besideReplacers(
    object: KubernetesObject,
    conditions: readonly ConditionUpdate[],
    { logger, nowMs }: ClaimsMoment,
  ): OwnConditions {
    const { uid = '' } = object.metadata;
    const last = this.#last.get(uid);
    const live = statusConditions(object);
    const counts = new Map(
      conditions.map((update) => [
        update.type,
        replacedCount(last?.get(update.type), findCondition(live, update.type), nowMs),
      ]),
    );
    for (const [type, count] of counts) {
      if (count <= mostReplaced) continue;
      this.#lost.add(type);
      const who = 'another writer sets it, so it is not written';
      this.#warn(object, { type, who, rival: '' }, logger);
    }
    const own = conditions.filter(({ type }) => !this.#lost.has(type));
    const written = (answer: KubernetesObject): void => {
      const now = statusConditions(answer);
      const noted = own.map(({ type }): [string, WrittenCondition] => [
        type,
        { stored: findCondition(now, type), atMs: nowMs, replaced: counts.get(type) ?? 0 },
      ]);
      this.#last.set(uid, new Map([...(last ?? []), ...noted]));
    };
    return { conditions: own, written };
  }

  #warn(
    object: KubernetesObject,
    { type, who, rival }: { readonly type: string; readonly who: string; readonly rival: string },
    logger: Pick<Logger, 'warn'>,
  ): void {
    const name = `${object.kind} ${type} ${rival}`;
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    const { remedy } = this.#options;
    logger.warn(`condition ${type} of ${describeObject(object)}: ${who}; ${remedy}`);
  }
}

/** Returns how often in a row another writer has replaced a condition, each time within a minute. */
function replacedCount(
  last: WrittenCondition | undefined,
  current: Condition | undefined,
  nowMs: number,
): number {
  if (last === undefined || current === undefined || nowMs - last.atMs >= contestMs) return 0;
  const { stored } = last;
  const isOurs =
    current.status === stored?.status &&
    current.reason === stored.reason &&
    current.message === stored.message;
  return isOurs ? 0 : last.replaced + 1;
}

/** The conditions that one manager applies. */
interface AppliedConditions {
  readonly manager: string;
  readonly set: FieldSet;
}

function isOfStatus({ operation, subresource }: ManagedFieldsEntry): boolean {
  return operation === 'Apply' && subresource === 'status';
}

function conditionsIn({ manager = '', fieldsV1 = {} }: ManagedFieldsEntry): AppliedConditions {
  const status = FieldSet.fromFieldsV1(fieldsV1).below(fieldElement('status'));
  return { manager, set: status.below(fieldElement('conditions')) };
}

/**
 * Returns the other manager that owns the state of a condition. If the conditions are a plain list, one manager owns
 * the whole list, so the result is undefined.
 */
function rivalOf(
  applied: readonly AppliedConditions[],
  type: string,
  own: string,
): string | undefined {
  const fields = ['status', 'reason', 'message'].map(fieldElement);
  const has = (set: FieldSet | undefined, field: (typeof fields)[number]): boolean =>
    set?.below(keyElement({ type })).has([field]) ?? false;
  const ours = applied.find(({ manager }) => manager === own)?.set;
  const missing = fields.filter((field) => !has(ours, field));
  return applied.find(
    ({ manager, set }) => manager !== own && missing.some((field) => has(set, field)),
  )?.manager;
}
