import type { Client } from '../../client/client.js';
import { forwarding } from '../../client/forwarding.js';
import { isStaleWrite } from '../../client/retry-on-conflict.js';
import type { HotLoopEvent } from '../../controller/controller-event.js';
import { initialListPriority } from '../../controller/kind-source.js';
import type { ReconcileContext, Reconciler } from '../../controller/reconciler.js';
import { done } from '../../controller/result.js';
import type { Result } from '../../controller/result.js';
import type { SourceContext } from '../../controller/source.js';
import type { Trigger } from '../../controller/trigger.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { keyString, sameKey } from '../../object/object-key.js';
import { asError } from '../../system/as-error.js';
import { nextTurn } from '../../system/event-loop.js';
import { OperatorError } from '../../system/operator-error.js';
import type { Document } from '../document.js';
import { hideWords } from './hide-words.js';
import { fullPassKey } from './pipeline-run.js';
import type { DesiredObject } from './pipeline-state.js';
import type { TargetWriter } from './target-writer.js';

/** What a {@link TargetReconciler} works with. */
export interface TargetReconcilerParts {
  readonly writer: TargetWriter;
  /** Where to look for what is written; undefined: everywhere. */
  readonly namespaces: readonly string[] | undefined;
  /** What objects are to be; undefined: it is not known (yet). */
  readonly desired: () => ReadonlyMap<string, DesiredObject> | undefined;
  /** Asks for reconciles. */
  readonly enqueue: SourceContext['enqueue'];
  /** Whether errors may show what the server says of an object. */
  readonly showValues: () => boolean;
  /** Told of each write that failed; `subject`: the object, absent: it was the search for them. */
  readonly failed: (error: Error, subject: string | undefined) => void;
  /** Told when its properties may have changed. */
  readonly changed: () => void;
}

/** What a reconcile was caused by, and what it has found. */
export interface WriteCause {
  readonly trigger: Trigger;
  /** The object as it was read last, live. */
  live: KubernetesObject | undefined;
}

/** So many objects are written before whatever else waits in the process has its turn. */
const writesInTurn = 8;

/**
 * Brings the objects of a target to what a pipeline wants. What is wanted is read when it is written:
 * a write that failed is tried again with what is wanted then.
 */
export class TargetReconciler {
  readonly #parts: TargetReconcilerParts;
  /** The last error of each object that could not be written. */
  readonly #failing = new Map<string, string>();
  /** Of the reconciles that go on. */
  readonly #causes = new Map<string, WriteCause>();
  #reconciles = 0;
  /** What the first full pass has to write yet; undefined: it has not begun. */
  #firstPass: Set<string> | undefined;
  #untried: Set<string> | undefined;

  constructor(parts: TargetReconcilerParts) {
    this.#parts = parts;
  }

  /** Whether each object of the first full pass was written, or could not be. */
  get isTried(): boolean {
    return this.#untried?.size === 0;
  }

  /** Whether the first full pass is written. */
  get isSynced(): boolean {
    return this.#firstPass?.size === 0;
  }

  /** How many objects could not be written. */
  get failing(): number {
    return this.#failing.size;
  }

  /** Why one of them could not, in words. */
  get firstTrouble(): string | undefined {
    const [first] = this.#failing.values();
    return first;
  }

  /** What has caused the reconcile in which `event` happened. */
  causeOf({ key }: HotLoopEvent): WriteCause | undefined {
    return this.#causes.get(key);
  }

  readonly reconcile: Reconciler = async (context): Promise<Result> => {
    const { key, trigger } = context;
    const desired = this.#parts.desired();
    if (desired === undefined) {
      throw new OperatorError(
        'Stopped',
        'what is desired is not known: the controller starts anew',
      );
    }
    const text = keyString(key);
    const isPass = sameKey(key, fullPassKey);
    const cause: WriteCause = { trigger, live: undefined };
    this.#causes.set(text, cause);
    // Views are in this process: thousands of writes would have nobody else's turn come in between.
    if (++this.#reconciles % writesInTurn === 0) await nextTurn();
    try {
      if (isPass) await this.#pass(desired, context);
      else await this.#write(desired.get(text)?.document, context, cause);
    } catch (thrown) {
      throw context.signal.aborted ? thrown : this.#failed(isPass ? undefined : text, thrown);
    } finally {
      this.#causes.delete(text);
    }
    this.#succeeded(text);
    return done();
  };

  /** Enqueues whatever is to be there, and whatever is there of ours. */
  async #pass(
    desired: ReadonlyMap<string, DesiredObject>,
    { client, signal }: ReconcileContext,
  ): Promise<void> {
    const { writer, namespaces } = this.#parts;
    const written = await writer.written({ client: client.live, signal, namespaces });
    const keys = new Map(written.map((key) => [keyString(key), key]));
    for (const [text, { key }] of desired) keys.set(text, key);
    this.#firstPass ??= new Set(keys.keys());
    this.#untried ??= new Set(keys.keys());
    const trigger: Trigger = { type: 'source', source: 'full pass' };
    for (const key of keys.values()) {
      this.#parts.enqueue(key, { trigger, priority: initialListPriority });
    }
  }

  async #write(
    document: Document | undefined,
    { key, client, signal }: ReconcileContext,
    cause: WriteCause,
  ): Promise<void> {
    const noting = notingReads(client.live, (object) => (cause.live = object));
    await this.#parts.writer.write(key, document, { client: noting, signal });
  }

  #succeeded(text: string): void {
    const wasAwaited = this.#firstPass?.delete(text) ?? false;
    this.#untried?.delete(text);
    const wasFailing = this.#failing.delete(text);
    if (wasAwaited || wasFailing || text === fullPassKey.name) this.#parts.changed();
  }

  /** @returns what to throw */
  #failed(subject: string | undefined, thrown: unknown): unknown {
    const { showValues, failed, changed } = this.#parts;
    const error = showValues() ? thrown : hideWords(thrown);
    // Somebody else was quicker; it is tried again at once.
    if (isStaleWrite(error)) return error;
    const said = asError(error);
    const where = subject === undefined ? '' : ` of ${subject}`;
    if (subject !== undefined) this.#untried?.delete(subject);
    this.#failing.set(subject ?? fullPassKey.name, `target${where}: ${said.message}`);
    failed(said, subject);
    changed();
    return error;
  }
}

/** Who wrote an object before us is known only until we write: it is not in the cache. */
function notingReads(client: Client, note: (object: KubernetesObject) => void): Client {
  return {
    ...forwarding(client),
    get: async (type, key, options) => {
      const object = await client.get(type, key, options);
      note(object);
      return object;
    },
  };
}
