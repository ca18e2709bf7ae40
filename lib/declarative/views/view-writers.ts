import { ChangeNotifier } from '../../cache/change-notifier.js';
import { operatorOfViewGroup } from '../spec/operator-spec.js';

/**
 * Progress of a controller.
 * - `unable`: it cannot run with its specification.
 * - `beginning`: it has not listed its sources yet.
 * - `listed`: it has listed all objects of its sources.
 * - `tried`: it has written its first output, or has tried to.
 */
export type ViewWriterProgress = 'unable' | 'beginning' | 'listed' | 'tried';

/** A controller as its readers see it. Kinds are written as `group/Kind`. */
export interface ViewWriter {
  readonly operator: string;
  /** The name of the controller. */
  readonly name: string;
  readonly sources: readonly string[];
  /** The kind that it writes. `group/*` if its specification is unreadable: any kind of the group. */
  readonly target: string;
  readonly readsSecrets: boolean;
  readonly progress: ViewWriterProgress;
  /** A description of what keeps it from writing; undefined: no known problem. */
  readonly trouble: string | undefined;
}

/**
 * The controllers that write the views of a process. Views are empty at first: a controller that reads
 * them before they are filled would prune the objects that it wrote before the restart.
 */
export class ViewWriters {
  readonly #writers = new Set<ViewWriter>();
  readonly #changes = new ChangeNotifier();

  /** Adds a writer. @returns a function that removes it */
  add(writer: ViewWriter): () => void {
    this.#writers.add(writer);
    this.#changes.notify();
    return () => {
      if (this.#writers.delete(writer)) this.#changes.notify();
    };
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
   * Waits until every controller that writes a source of `reader` has progress `tried`. In a cycle, a
   * controller that depends on `reader` need only have listed its sources; the writers of its own sources
   * are awaited too.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenWritten(reader: ViewWriter, signal: AbortSignal): Promise<void> {
    await this.#changes.until(() => this.#awaited(reader).length === 0, { signal });
  }

  /**
   * Returns why a writer that `reader` waits for cannot write, directly or through other writers;
   * undefined: no known problem.
   */
  troubleOf(reader: ViewWriter): string | undefined {
    const seen = new Set([reader]);
    // The loop also visits the writers that it adds.
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
