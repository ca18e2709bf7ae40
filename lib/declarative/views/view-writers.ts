import { ChangeNotifier } from '../../cache/change-notifier.js';

/** A controller, as far as others wait for what it writes. Kinds are texts: `group/Kind`. */
export interface ViewWriter {
  readonly sources: readonly string[];
  readonly target: string;
  /** Whether it has written what there was to write when it started, or has tried to. */
  readonly isTried: boolean;
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
    return () => {
      if (this.#writers.delete(writer)) this.#changes.notify();
    };
  }

  /** Call when `isTried` of a writer may have changed. */
  notify(): void {
    this.#changes.notify();
  }

  /**
   * Waits until all who write what `reader` reads have done so once; not for those that wait for
   * `reader` themselves, which write in a circle.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenWritten(reader: ViewWriter, signal: AbortSignal): Promise<void> {
    const isWritten = (): boolean => this.#before(reader).every(({ isTried }) => isTried);
    await this.#changes.until(isWritten, { signal });
  }

  #before(reader: ViewWriter): readonly ViewWriter[] {
    const after = this.#after(reader);
    return [...this.#writers].filter(
      (writer) => reader.sources.includes(writer.target) && !after.has(writer),
    );
  }

  /** Itself, and all who read what it writes, or what these write. */
  #after(writer: ViewWriter): ReadonlySet<ViewWriter> {
    const found = new Set([writer]);
    // It grows while it is gone through.
    for (const { target } of found) {
      for (const other of this.#writers) if (other.sources.includes(target)) found.add(other);
    }
    return found;
  }
}
