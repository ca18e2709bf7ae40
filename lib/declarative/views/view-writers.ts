import { ChangeNotifier, compareResourceVersions } from '../../cache/index.js';
import type { KubernetesObject, ObjectKey, TypeReference } from '../../object/index.js';
import { keyString, groupOfType } from '../../object/index.js';
import { nearestName } from '../../system/index.js';
import { operatorOfViewGroup } from '../spec/operator-spec.js';

/**
 * Progress of a controller.
 * - `unable`: it cannot run with its specification.
 * - `beginning`: it has not listed its sources yet.
 * - `listed`: it has listed all objects of its sources.
 * - `tried`: it has written its first output, or has tried to.
 */
type ViewWriterProgress = 'unable' | 'beginning' | 'listed' | 'tried';

/** The facts about a controller that the readers of its views need. Kinds are written as `group/Kind`. */
export interface ViewWriter {
  readonly operator: string;
  /** The name of the controller. */
  readonly name: string;
  /** The views that it reads. */
  readonly sources: readonly string[];
  /**
   * The kind that the controller writes. If the specification is unreadable: `<group>/*`, for any kind of the group.
   */
  readonly target: string;
  readonly readsSecrets: boolean;
  readonly progress: ViewWriterProgress;
  /** A description of what keeps the controller from writing; undefined: no known problem. */
  readonly trouble: string | undefined;
  /** Restarts the controller, so that it waits for its sources again. Absent: it does not run. */
  readonly restart?: (() => Promise<void>) | undefined;
}

/**
 * The controllers that write the views of a process. Views are empty at first: a controller that reads
 * them before they are filled would prune the objects that it wrote before the restart.
 */
export class ViewWriters {
  readonly #writers = new Set<ViewWriter>();
  #isComing: (operator: string) => boolean = () => false;
  readonly #changes = new ChangeNotifier();

  /** Adds a writer. @returns a function that removes it */
  add(writer: ViewWriter): () => void {
    this.#writers.add(writer);
    this.#changes.notify();
    return () => {
      if (this.#writers.delete(writer)) this.#changes.notify();
    };
  }

  /**
   * Lets readers wait for the views of operators that are about to be added. Call `notify` when the answer of
   * `isComing` may have changed.
   */
  awaitOperators(isComing: (operator: string) => boolean): void {
    this.#isComing = isComing;
  }

  /** Notifies listeners that the progress or the trouble of a writer may have changed. */
  notify(): void {
    this.#changes.notify();
  }

  /** Calls `listener` when a writer may have changed. @returns a function that ends the calls */
  listen(listener: () => void): () => void {
    return this.#changes.listen(listener);
  }

  /**
   * Waits until every controller that writes a source of `reader` has progress `tried`, and no operator of a source is
   * about to be added. In a cycle of views, a writer that reads what `reader` writes need only have listed its
   * sources. The writers of those sources are awaited as well.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenWritten(reader: ViewWriter, signal: AbortSignal): Promise<void> {
    const isWritten = (): boolean =>
      this.#awaited(reader).length === 0 && !reader.sources.some((kind) => this.#isToCome(kind));
    await this.#changes.until(isWritten, { signal });
  }

  /**
   * Describes the source views of `reader` that no controller writes. Each text suggests the most similar name of a
   * written view.
   */
  unfilledOf(reader: ViewWriter): readonly string[] {
    const targets = [...this.#writers].map(({ target }) => target);
    const unfilled = reader.sources.filter(
      (source) =>
        ownerOf(source) !== undefined && !targets.some((target) => isOfKind(source, target)),
    );
    return unfilled.map((source) => {
      const views = targets.filter((target) => ownerOf(target) === ownerOf(source));
      const nearest = nearestName(source, views);
      const hint = nearest === undefined ? '' : `; did you mean ${kindOf(nearest)}?`;
      return `no controller fills the view ${kindOf(source)} of ${ownerOf(source) ?? ''}, so it counts as empty${hint}`;
    });
  }

  /** Restarts the controllers that read these kinds of views. The views are about to be removed and filled again. */
  async restartReaders(kinds: readonly string[]): Promise<void> {
    const readers = [...this.#writers].filter(({ sources }) =>
      sources.some((source) => kinds.includes(source)),
    );
    await Promise.all(readers.map(async (reader) => reader.restart?.()));
  }

  /**
   * Returns why `reader` has to wait: an operator is about to be added, or a writer cannot write. Includes writers
   * that the awaited writers wait for. undefined: no known problem.
   */
  troubleOf(reader: ViewWriter): string | undefined {
    const toCome = reader.sources.find((kind) => this.#isToCome(kind));
    if (toCome !== undefined) return `waits for operator ${ownerOf(toCome)}, whose views it reads`;
    if (this.#awaited(reader).length === 0) return undefined;
    // Usually no controller has trouble. Check that first: during a start, every waiting controller calls this often.
    if (![...this.#writers].some(({ trouble }) => trouble !== undefined)) return undefined;
    const seen = new Set([reader]);
    // The loop adds writers to `seen`, and visits them too.
    for (const each of seen) {
      for (const writer of this.#awaited(each)) {
        const { operator, name, target, trouble } = writer;
        if (trouble !== undefined) {
          return `waits for ${operator}/${name}, which fills ${target}: ${trouble}`;
        }
        seen.add(writer);
      }
    }
    return undefined;
  }

  /**
   * Whether an operator may hold data of Secrets: a controller of it reads Secrets or views of other
   * operators, or another operator writes its views.
   */
  mayHoldSecrets(operator: string): boolean {
    const isForeign = (kind: string): boolean => {
      const owner = ownerOf(kind);
      return owner !== undefined && owner !== operator;
    };
    return [...this.#writers].some((writer) =>
      writer.operator === operator
        ? writer.readsSecrets || writer.sources.some(isForeign)
        : ownerOf(writer.target) === operator,
    );
  }

  #isToCome(kind: string): boolean {
    const owner = ownerOf(kind);
    return owner !== undefined && this.#isComing(owner);
  }

  #awaited(reader: ViewWriter): readonly ViewWriter[] {
    const after = this.#after(reader);
    const awaited = new Set<ViewWriter>();
    const circle = new Set([reader]);
    // The loop also visits the controllers that it adds.
    for (const { sources } of circle) {
      for (const writer of this.#writers) {
        if (!sources.some((source) => isOfKind(source, writer.target)) || writer === reader)
          continue;
        const { progress } = writer;
        const isInCircle = after.has(writer);
        if (isInCircle) circle.add(writer);
        const isReady = progress === 'tried' || (isInCircle && progress === 'listed');
        if (!isReady) awaited.add(writer);
      }
    }
    return [...awaited];
  }

  /** Returns `writer` and every controller that reads its views, directly or through other controllers. */
  #after(writer: ViewWriter): ReadonlySet<ViewWriter> {
    const found = new Set([writer]);
    // The loop also visits the controllers that it adds.
    for (const { target } of found) {
      for (const other of this.#writers) {
        if (other.sources.some((source) => isOfKind(source, target))) found.add(other);
      }
    }
    return found;
  }
}

/** Returns the target of a controller with an unreadable specification: any view of its operator. */
export function anyKindOf(group: string): string {
  return `${group}/*`;
}

function isOfKind(kind: string, target: string): boolean {
  return kind === target || (target.endsWith('/*') && kind.startsWith(target.slice(0, -1)));
}

/** Returns the operator that owns views of this kind; undefined: not views. */
function ownerOf(kind: string): string | undefined {
  return operatorOfViewGroup(kind.slice(0, kind.indexOf('/')));
}

function kindOf(text: string): string {
  return text.slice(text.indexOf('/') + 1);
}

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
 * which object. Objects are identified by kind, namespace and name.
 */
export class TargetWrites {
  /** The most recently written object is last. */
  readonly #writes = new Map<string, Writes>();
  /** The claims by object. The first controller in a list owns the object; the others wait. */
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

  /** Whether `controller` was the last writer of an object, and `version` is not newer than that write. */
  isBy(controller: string, object: string, version: string | undefined): boolean {
    const settled = this.lastOf(object);
    const isIts = settled?.controller === controller && settled.version !== undefined;
    return isIts && covers(settled, version);
  }

  /**
   * Claims an object for a controller. The first controller with a claim owns the object until it releases the claim.
   * @returns the name of another controller that owns the object; undefined if the claimant owns it
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
