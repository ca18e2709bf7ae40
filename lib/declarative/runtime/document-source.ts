import type { CacheEvent } from '../../cache/informer.js';
import type { SourceContext } from '../../controller/source.js';
import type { Document } from '../document.js';
import type { Lineage } from '../views/target-writes.js';

/** A document as a source has it. */
export interface SourceDocument {
  readonly document: Document;
  /** What it was made of: another one means that it may have changed. */
  readonly origin: object;
  /** Stands for the document where it is compared; absent: all of it is. */
  readonly key?: string | undefined;
}

/** What a {@link DocumentSource} tells. */
export interface DocumentListener {
  /** What is under `key` may be another document now, or none. */
  readonly changed: (key: string, event?: CacheEvent) => void;
  /** What is wrong with it is something else now; see {@link StartedDocuments.problem}. */
  readonly troubled: () => void;
}

/** Where the documents of a pipeline come from. */
export interface DocumentSource {
  /** As the pipeline calls it. */
  readonly name: string;
  /** Begins to follow it; the listener is told of what is there and of each change. */
  start(context: SourceContext, listener: DocumentListener): StartedDocuments;
}

/** A {@link DocumentSource} that is followed. */
export interface StartedDocuments {
  /** What there is under a key now. */
  get(key: string): SourceDocument | undefined;
  /** The keys of all that is there now. */
  keys(): Iterable<string>;
  /** Whether all that existed at the start is there. */
  readonly synced: boolean;
  /** Whether its kind is not served. */
  readonly parked: boolean;
  /** What is wrong right now; undefined: nothing. */
  readonly problem: Error | undefined;
  /** An object of it that was never good, so that what is made of it is not known. Absent: none ever is. */
  readonly unreadable?: string | undefined;
  /** @throws the signal's reason, as soon as it is aborted. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /**
   * Waits until all that the server has by now is there. Absent: it always is.
   * @throws the signal's reason, as soon as it is aborted; what the server answers.
   */
  caughtUp?(signal: AbortSignal): Promise<void>;
  /** The writes of this process that led to a state of an object. Absent: it has none. */
  lineageOf?(origin: object): Lineage | undefined;
  stop(): void;
}
