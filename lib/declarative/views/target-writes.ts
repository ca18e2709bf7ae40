import { compareResourceVersions } from '../../cache/resource-version.js';
import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import { keyString } from '../../object/object-key.js';
import { groupOfType } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';

/** How often each controller has written along the chain of writes that led to a write. */
export type Lineage = ReadonlyMap<string, number>;

/** The last write of an object by a controller of this process. */
interface Settled {
  readonly controller: string;
  readonly lineage: Lineage;
  /** The resourceVersion after it; undefined: it deleted the object. */
  readonly version: string | undefined;
  readonly atMs: number;
}

interface Writes {
  settled: Settled | undefined;
  /** Writes whose answers have not come yet; their watch events may be here before. */
  readonly pending: Map<string, Lineage>;
}

/** A controller that claims objects. */
export interface Claimant {
  /** As errors name it. */
  readonly controller: string;
  /** Called when the object of `key` is its own from now on: another controller has released it. */
  readonly acquired: (key: ObjectKey) => void;
}

interface Claim {
  readonly claimant: Claimant;
  readonly key: ObjectKey;
}

/** Longest list of written objects; those written longest ago are dropped first. */
const maxObjects = 10_000;

/**
 * What the controllers of a process write: which write caused which, and which controller owns which
 * object. Objects are texts of {@link targetText}.
 */
export class TargetWrites {
  /** The latest written object stands last. */
  readonly #writes = new Map<string, Writes>();
  /** The first claim of each object owns it; the others wait. */
  readonly #claims = new Map<string, Claim[]>();

  /** Notes that a controller begins to write an object. */
  begin(object: string, controller: string, lineage: Lineage): void {
    const { settled, pending = new Map<string, Lineage>() } = this.#writes.get(object) ?? {};
    pending.set(controller, lineage);
    this.#writes.delete(object);
    this.#writes.set(object, { settled, pending });
    const [oldest] = this.#writes.keys();
    if (this.#writes.size > maxObjects && oldest !== undefined) this.#writes.delete(oldest);
  }

  /** Notes the end of a write; `settled` undefined: it changed nothing. */
  end(object: string, controller: string, settled: Settled | undefined): void {
    const writes = this.#writes.get(object);
    if (writes === undefined) return;
    writes.pending.delete(controller);
    if (settled !== undefined) writes.settled = settled;
    if (writes.pending.size === 0 && writes.settled === undefined) this.#writes.delete(object);
  }

  /** The chain of writes that led to this state of an object; undefined: it is not by this process. */
  lineageOf(object: string, version: string | undefined): Lineage | undefined {
    const { settled, pending } = this.#writes.get(object) ?? {};
    if (settled !== undefined && covers(settled, version)) return settled.lineage;
    const [first] = pending?.values() ?? [];
    return first;
  }

  /** The last write of an object. */
  lastOf(object: string): Settled | undefined {
    return this.#writes.get(object)?.settled;
  }

  /** Whether a state of an object is what `controller` left, or older. */
  isBy(controller: string, object: string, version: string | undefined): boolean {
    const settled = this.lastOf(object);
    const isIts = settled?.controller === controller && settled.version !== undefined;
    return isIts && covers(settled, version);
  }

  /**
   * Claims an object, which is the first claimant's until it releases it.
   * @returns the controller that owns it instead; undefined: the claimant does
   */
  claim(object: string, claim: Claim): string | undefined {
    const claims = this.#claims.get(object) ?? [];
    this.#claims.set(object, claims);
    if (!claims.some(({ claimant }) => claimant === claim.claimant)) claims.push(claim);
    const owner = claims[0]?.claimant;
    return owner === undefined || owner === claim.claimant ? undefined : owner.controller;
  }

  /** Who owns an object; undefined: no claimant does. */
  ownerOf(object: string): Claimant | undefined {
    return this.#claims.get(object)?.[0]?.claimant;
  }

  /** Gives a claim up; the next claimant is notified. */
  release(object: string, claimant: Claimant): void {
    const claims = this.#claims.get(object) ?? [];
    const [owner] = claims;
    const left = claims.filter((claim) => claim.claimant !== claimant);
    if (left.length === 0) this.#claims.delete(object);
    else this.#claims.set(object, left);
    const [next] = left;
    if (next !== undefined && next !== owner) next.claimant.acquired(next.key);
  }

  /** Gives all claims of a claimant up. */
  releaseAll(claimant: Claimant): void {
    for (const object of [...this.#claims.keys()]) this.release(object, claimant);
  }
}

/** Names an object of any kind. */
export function targetText(type: TypeReference<KubernetesObject>, key: ObjectKey): string {
  return `${groupOfType(type)}/${type.kind} ${keyString(key)}`;
}

/** Whether `version` is no later than the write. */
function covers(settled: Settled, version: string | undefined): boolean {
  if (settled.version === undefined) return true;
  return (compareResourceVersions(version, settled.version) ?? 1) <= 0;
}
