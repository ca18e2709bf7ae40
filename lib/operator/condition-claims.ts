import { LruMap } from '../events/lru-map.js';
import type { ConditionUpdate } from '../object/conditions.js';
import { describeObject } from '../object/describe-object.js';
import { fieldElement, keyElement } from '../object/field-path.js';
import { FieldSet } from '../object/field-set.js';
import type { KubernetesObject, ManagedFieldsEntry } from '../object/kubernetes-object.js';
import type { Logger } from '../system/logger.js';

const rememberedObjects = 10_000;

/** How a condition is contested by a manager that applies it, too. */
interface Claim {
  readonly rival: string;
  /** `taken`: this operator took it from the rival, once. `left`: the rival took it back, and has it. */
  readonly state: 'taken' | 'left';
}

/** The conditions of an object that its operator is to write. */
export interface OwnConditions {
  readonly conditions: readonly ConditionUpdate[];
  /** Notes what was taken from rivals, once it has been written. */
  written(): void;
}

/**
 * Knows which conditions other operators apply, too. Whoever comes later takes a condition over once:
 * the former owner may be an earlier release, of another name. When that one takes it back it is alive,
 * and the condition is left to it. An owner of whom a condition is taken, and who took it from no other,
 * takes it back; so of two operators one has it in the end.
 */
export class ConditionClaims {
  readonly #manager: string;
  /** By uid, then by the type of the condition. */
  readonly #claims = new LruMap<string, ReadonlyMap<string, Claim>>(rememberedObjects);
  readonly #told = new Set<string>();

  constructor(manager: string) {
    this.#manager = manager;
  }

  /** Leaves out what is left to rivals, and warns once of each. It reads `managedFields` only. */
  own(
    object: KubernetesObject,
    conditions: readonly ConditionUpdate[],
    logger: Pick<Logger, 'warn'>,
  ): OwnConditions {
    const appliers = (object.metadata.managedFields ?? []).filter(isOfStatus);
    const isAlone = appliers.every(({ manager }) => manager === this.#manager);
    if (isAlone) return { conditions, written: () => undefined };
    const applied = appliers.map(conditionsIn);
    const { uid = '' } = object.metadata;
    const before = this.#claims.get(uid);
    const claims = new Map<string, Claim>();
    for (const { type } of conditions) {
      const rival = rivalOf(applied, type, this.#manager);
      if (rival === undefined) continue;
      const isBack = before?.get(type)?.rival === rival;
      claims.set(type, { rival, state: isBack ? 'left' : 'taken' });
      if (isBack) this.#tell(object, type, { rival, logger });
    }
    const left = conditions.filter(({ type }) => claims.get(type)?.state === 'left');
    const all = new Map([...(before ?? []), ...claims]);
    if (left.length > 0) this.#claims.set(uid, all);
    return {
      conditions: conditions.filter((each) => !left.includes(each)),
      written: () => {
        if (claims.size > 0) this.#claims.set(uid, all);
      },
    };
  }

  #tell(
    object: KubernetesObject,
    type: string,
    { rival, logger }: { readonly rival: string; readonly logger: Pick<Logger, 'warn'> },
  ): void {
    const name = `${object.kind} ${type} ${rival}`;
    if (this.#told.has(name)) return;
    this.#told.add(name);
    const remedy = 'give for(…) the option status: false, or set a condition of another type';
    const problem = `the field manager ${rival} applies it, too, and has it now`;
    logger.warn(`condition ${type} of ${describeObject(object)}: ${problem}; ${remedy}`);
  }
}

/** The conditions that a manager applies. */
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

/** The other manager that has the state of a condition. A plain list has one owner, and no rivals. */
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
