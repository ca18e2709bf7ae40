import type { Clock } from '../system/clock.js';
import type { ReconcileOutcome } from './controller-event.js';
import type { WorkKey } from './reconcile-key.js';

/** Why the last reconcile of a key failed. */
export interface LastError {
  /** `''`: the only one. */
  readonly cluster: string;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly outcome: ReconcileOutcome;
  readonly message: string;
  /** How often it has failed in a row, terminal errors left out. */
  readonly failures: number;
  /** When, in milliseconds since 1970. */
  readonly atMs: number;
}

/** So many keys are remembered. */
const maxKeys = 100;
/** Messages are cut to so many characters. */
const maxLength = 1_000;

/** The last error of each key that has failed since it last succeeded; the latest keys only. */
export class LastErrors {
  readonly #clock: Clock;
  readonly #errors = new Map<string, LastError>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(work: WorkKey, failure: Pick<LastError, 'outcome' | 'failures'> & { error: unknown }): void {
    const { outcome, failures, error } = failure;
    // Set anew: the latest stands last.
    this.#errors.delete(work.text);
    const [oldest] = this.#errors.keys();
    if (this.#errors.size >= maxKeys && oldest !== undefined) this.#errors.delete(oldest);
    this.#errors.set(work.text, {
      ...shownKey(work),
      ...{ outcome, failures, message: messageOf(error), atMs: this.#clock.now() },
    });
  }

  forget({ text }: WorkKey): void {
    this.#errors.delete(text);
  }

  /** @param isGone - of the text of a key */
  forgetWhere(isGone: (text: string) => boolean): void {
    for (const text of this.#errors.keys()) if (isGone(text)) this.#errors.delete(text);
  }

  /** The latest first. */
  all(): LastError[] {
    return [...this.#errors.values()].reverse();
  }
}

/** How status and events name a key. */
export function shownKey({ cluster, text }: WorkKey): {
  readonly cluster: string;
  readonly key: string;
} {
  return { cluster, key: cluster === '' ? text : text.slice(cluster.length + 2) };
}

function messageOf(error: unknown): string {
  // Nothing keeps a message from being no text.
  const said: unknown = error instanceof Error ? error.message : `threw ${shownValue(error)}`;
  const message = String(said);
  return message.length > maxLength ? `${message.slice(0, maxLength)}…` : message;
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? String(value) : `a value of type ${typeof value}`;
}
