import { compareResourceVersions } from '../../cache/resource-version.js';
import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import { keyString } from '../../object/object-key.js';
import { groupOfType } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';

/** Number of writes by each controller in the chain of writes that led to a write. */
export type Lineage = ReadonlyMap<string, number>;

/** The last write of an object by a controller of this process. */
interface Settled {
  readonly controller: string;
  readonly lineage: Lineage;
  /** Resource version after the write; undefined: the write deleted the object. */
  readonly version: string | undefined;
  readonly atMs: number;
}

interface Writes {
  settled: Settled | undefined;
  /** Writes without a response so far, by controller. Their watch events may arrive before the response. */
  readonly pending: Map<string, Lineage>;
}

/** A controller that claims objects. */
export interface Claimant {
  /** Name of the controller in errors. */
  readonly controller: string;
  /** Called when another controller released the object of `key`, which the claimant owns from now on. */
  readonly acquired: (key: ObjectKey) => void;
}

interface Claim {
  readonly claimant: Claimant;
  readonly key: ObjectKey;
}

/** Maximum number of recorded objects; the least recently written ones are dropped first. */
const maxObjects = 10_000;

/**
 * Records the writes of the controllers of a process: which write caused which, and which controller owns
 * which object. Objects are identified by {@link targetText}.
 */
export class TargetWrites {
  /** The most recently written object is last. */
  readonly #writes = new Map<string, Writes>();
  /** The first claim of an object owns it; the others wait. */
  readonly #claims = new Map<string, Claim[]>();

  /** Records that a controller begins to write an object. */
  begin(object: string, controller: string, lineage: Lineage): void {
    const { settled, pending = new Map<string, Lineage>() } = this.#writes.get(object) ?? {};
    pending.set(controller, lineage);
    this.#writes.delete(object);
    this.#writes.set(object, { settled, pending });
    const [oldest] = this.#writes.keys();
    if (this.#writes.size > maxObjects && oldest !== undefined) this.#writes.delete(oldest);
  }

  /** Records the end of a write. `settled` is undefined if the write changed nothing. */
  end(object: string, controller: string, settled: Settled | undefined): void {
    const writes = this.#writes.get(object);
    if (writes === undefined) return;
    writes.pending.delete(controller);
    if (settled !== undefined) writes.settled = settled;
    if (writes.pending.size === 0 && writes.settled === undefined) this.#writes.delete(object);
  }

  /** Returns the chain of writes that led to this version of an object; undefined: none by this process. */
  lineageOf(object: string, version: string | undefined): Lineage | undefined {
    const { settled, pending } = this.#writes.get(object) ?? {};
    if (settled !== undefined && covers(settled, version)) return settled.lineage;
    const [first] = pending?.values() ?? [];
    return first;
  }

  /** Returns the last write of an object; undefined: none is recorded. */
  lastOf(object: string): Settled | undefined {
    return this.#writes.get(object)?.settled;
  }

  /** Whether a version of an object is the result of the last write by `controller`, or older. */
  isBy(controller: string, object: string, version: string | undefined): boolean {
    const settled = this.lastOf(object);
    const isIts = settled?.controller === controller && settled.version !== undefined;
    return isIts && covers(settled, version);
  }

  /**
   * Claims an object. The first claimant owns it until it releases it.
   * @returns the controller that owns it instead; undefined: the claimant owns it
   */
  claim(object: string, claim: Claim): string | undefined {
    const claims = this.#claims.get(object) ?? [];
    this.#claims.set(object, claims);
    if (!claims.some(({ claimant }) => claimant === claim.claimant)) claims.push(claim);
    const owner = claims[0]?.claimant;
    return owner === undefined || owner === claim.claimant ? undefined : owner.controller;
  }

  /** Returns the owner of an object; undefined: unclaimed. */
  ownerOf(object: string): Claimant | undefined {
    return this.#claims.get(object)?.[0]?.claimant;
  }

  /** Releases a claim and notifies the next claimant. */
  release(object: string, claimant: Claimant): void {
    const claims = this.#claims.get(object) ?? [];
    const [owner] = claims;
    const left = claims.filter((claim) => claim.claimant !== claimant);
    if (left.length === 0) this.#claims.delete(object);
    else this.#claims.set(object, left);
    const [next] = left;
    if (next !== undefined && next !== owner) next.claimant.acquired(next.key);
  }

  /** Releases all claims of a claimant. */
  releaseAll(claimant: Claimant): void {
    for (const object of [...this.#claims.keys()]) this.release(object, claimant);
  }
}

/** Returns an id for an object of any kind. */
export function targetText(type: TypeReference<KubernetesObject>, key: ObjectKey): string {
  return `${groupOfType(type)}/${type.kind} ${keyString(key)}`;
}

/** Whether `version` is not newer than the write. */
function covers(settled: Settled, version: string | undefined): boolean {
  if (settled.version === undefined) return true;
  return (compareResourceVersions(version, settled.version) ?? 1) <= 0;
}
