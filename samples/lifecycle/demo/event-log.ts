import type { ObjectEvent } from 'operator-builder';
import type { Mark, Narrator } from '../../demo/narrator.js';

const marks: Readonly<Record<string, Mark>> = {
  CreateResourceSuccess: 'created',
  UpdateResourceSuccess: 'changed',
  DeleteResourceSuccess: 'removed',
  DeployCompleted: 'well',
};

/** Prints each event of the operator, and counts the events by reason. */
export class EventLog {
  readonly counts = new Map<string, number>();
  readonly #narrator: Narrator;
  readonly #awaited = new Map<string, () => void>();

  constructor(narrator: Narrator) {
    this.#narrator = narrator;
  }

  readonly tell = ({ type, reason, note }: ObjectEvent): void => {
    this.counts.set(reason, this.count(reason) + 1);
    const mark = type === 'Warning' ? 'wrong' : (marks[reason] ?? 'noted');
    this.#narrator.line(mark, note, reason);
    this.#awaited.get(reason)?.();
  };

  /** Resolves at the next event of this reason; call it before the action that causes the event. */
  next(reason: string): Promise<void> {
    return new Promise((resolve) => this.#awaited.set(reason, resolve));
  }

  count(reason: string): number {
    return this.counts.get(reason) ?? 0;
  }
}
