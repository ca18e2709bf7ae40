import type { CacheEvent } from '../../cache/informer.js';
import type { SourceContext } from '../../controller/index.js';
import type { Document } from '../document.js';
import type { Lineage } from '../views/target-writes.js';

/** A document of a source. */
export interface SourceDocument {
  readonly document: Document;
  /** The object that the document was made from. Another object means that the document may have changed. */
  readonly origin: object;
  /** Stands for the document in comparisons. If absent, the whole document is compared. */
  readonly key?: string | undefined;
}

/** Callbacks of a {@link DocumentSource}. */
export interface DocumentListener {
  /** Called when the document under `key` may have changed or may be gone. */
  readonly changed: (key: string, event?: CacheEvent) => void;
  /** Called when {@link StartedDocuments.problem} has changed. */
  readonly troubled: () => void;
}

/** A source of documents for a pipeline. */
export interface DocumentSource {
  /** The name of the source in the pipeline. */
  readonly name: string;
  /** Starts to follow the source. The listener is notified of existing documents and of each change. */
  start(context: SourceContext, listener: DocumentListener): StartedDocuments;
}

/** A started {@link DocumentSource}. */
export interface StartedDocuments {
  /** Returns the current document of a key. */
  get(key: string): SourceDocument | undefined;
  /** Returns the keys of all current documents. */
  keys(): Iterable<string>;
  /** Whether all documents that existed at the start are loaded. */
  readonly synced: boolean;
  /** Whether its kind is not served. */
  readonly parked: boolean;
  /** The current problem; undefined if there is no problem. */
  readonly problem: Error | undefined;
  /**
   * An object that was never readable, so that the documents derived from it are unknown. Absent if every
   * object was readable.
   */
  readonly unreadable?: string | undefined;
  /** @throws the signal's reason, as soon as it is aborted. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /**
   * Waits until everything that the server has now is loaded. Absent if the source is always up to date.
   * @throws the signal's reason, as soon as it is aborted; the server's error.
   */
  caughtUp?(signal: AbortSignal): Promise<void>;
  /**
   * Returns the writes of this process that led to a state of an object. Absent if the source has no
   * lineages.
   */
  lineageOf?(origin: object): Lineage | undefined;
  stop(): void;
}
