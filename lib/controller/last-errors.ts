import type { Clock } from '../system/clock.js';
import type { ReconcileOutcome } from './controller-event.js';
import type { WorkKey } from './reconcile-key.js';

/** The failure of a key's last reconcile. */
export interface LastError {
  /** The cluster's name; `''` for the only one. */
  readonly cluster: string;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly outcome: ReconcileOutcome;
  readonly message: string;
  /** The number of consecutive failures, excluding terminal errors. */
  readonly failures: number;
  /** The time of the failure, in milliseconds since 1970. */
  readonly atMs: number;
}

/** The maximum number of remembered keys. */
const maxKeys = 100;
/** The maximum length of a message, in characters. */
const maxLength = 1_000;

/** The last error of each key that has not succeeded since, for the latest keys only. */
export class LastErrors {
  readonly #clock: Clock;
  readonly #errors = new Map<string, LastError>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(work: WorkKey, failure: Pick<LastError, 'outcome' | 'failures'> & { error: unknown }): void {
    const { outcome, failures, error } = failure;
    // Delete and set, so that the latest key is last.
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

  /** @param isGone - receives the text of a key */
  forgetWhere(isGone: (text: string) => boolean): void {
    for (const text of this.#errors.keys()) if (isGone(text)) this.#errors.delete(text);
  }

  /** Returns the errors, the latest first. */
  all(): LastError[] {
    return [...this.#errors.values()].reverse();
  }
}

/** Returns the form of a key in status and events. */
export function shownKey({ cluster, text }: WorkKey): {
  readonly cluster: string;
  readonly key: string;
} {
  return { cluster, key: cluster === '' ? text : text.slice(cluster.length + 2) };
}

function messageOf(error: unknown): string {
  // At run time a message may be of any type.
  const said: unknown = error instanceof Error ? error.message : `threw ${shownValue(error)}`;
  const message = String(said);
  return message.length > maxLength ? `${message.slice(0, maxLength)}…` : message;
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? String(value) : `a value of type ${typeof value}`;
}
