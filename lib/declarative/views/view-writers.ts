import { ChangeNotifier } from '../../cache/change-notifier.js';
import { operatorOfViewGroup } from '../spec/operator-spec.js';

/**
 * How far a controller is: `unable`: it can't run before its specification is another one; `beginning`;
 * `listed`: it knows all objects of its sources; `tried`: it has written what there was to write when it
 * started, or has tried to.
 */
export type ViewWriterProgress = 'unable' | 'beginning' | 'listed' | 'tried';

/** A controller, as far as others care that read what it writes. Kinds are texts: `group/Kind`. */
export interface ViewWriter {
  readonly operator: string;
  /** Of the controller. */
  readonly name: string;
  readonly sources: readonly string[];
  /** Of one that nobody can read `group/*`: any kind of the group. */
  readonly target: string;
  readonly readsSecrets: boolean;
  readonly progress: ViewWriterProgress;
  /** What keeps it from writing, in words; undefined: nothing that it knows of. */
  readonly trouble: string | undefined;
}

/**
 * Who writes the views of a process. They begin empty: whoever reads them before they are filled would
 * think that nothing is wanted any more, and take away what it wrote before the restart.
 */
export class ViewWriters {
  readonly #writers = new Set<ViewWriter>();
  readonly #changes = new ChangeNotifier();

  /** @returns what takes it out */
  add(writer: ViewWriter): () => void {
    this.#writers.add(writer);
    this.#changes.notify();
    return () => {
      if (this.#writers.delete(writer)) this.#changes.notify();
    };
  }

  /** Call when the progress of a writer, or its trouble, may have changed. */
  notify(): void {
    this.#changes.notify();
  }

  /** Calls `listener` when what others wait for may have changed. @returns what ends it */
  listen(listener: () => void): () => void {
    return this.#changes.listen(listener);
  }

  /**
   * Waits until all who write what `reader` reads have done so once. Of those that wait for `reader`
   * themselves, which write in a circle with it, until they know their sources, and until who feeds the
   * circle has written.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenWritten(reader: ViewWriter, signal: AbortSignal): Promise<void> {
    await this.#changes.until(() => this.#awaited(reader).length === 0, { signal });
  }

  /** What `reader` waits for that will not come by itself, and why; undefined: there is nothing such. */
  troubleOf(reader: ViewWriter): string | undefined {
    const seen = new Set([reader]);
    // It grows while it is gone through.
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
   * Whether data of Secrets may come to an operator: it reads some, or views of other operators, or
   * others write its views.
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
    // It grows while it is gone through.
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

  /** Itself, and all who read what it writes, or what these write. */
  #after(writer: ViewWriter): ReadonlySet<ViewWriter> {
    const found = new Set([writer]);
    // It grows while it is gone through.
    for (const { target } of found) {
      for (const other of this.#writers) {
        if (other.sources.some((source) => isOfKind(source, target))) found.add(other);
      }
    }
    return found;
  }
}

/** The target of a controller whose own can't be read: any view of its operator. */
export function anyKindOf(group: string): string {
  return `${group}/*`;
}

function isOfKind(kind: string, target: string): boolean {
  return kind === target || (target.endsWith('/*') && kind.startsWith(target.slice(0, -1)));
}

/** The operator whose views are of this kind; undefined: they are no views. */
function ownerOf(kind: string): string | undefined {
  return operatorOfViewGroup(kind.slice(0, kind.indexOf('/')));
}
