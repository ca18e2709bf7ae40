import type {
  ObjectReference,
  ObjectWritten,
  OperatorEvents,
  RolloutChanged,
  WriteFailed,
} from 'operator-builder';
import type { Narrator } from './narrator.js';

/** A rollout and what caused it. */
export interface Roll {
  readonly workload: string;
  readonly cause: string;
}

/** Counts what the operator does, and tells each of it. */
export class Tally {
  readonly created: string[] = [];
  readonly configured: string[] = [];
  readonly pruned: string[] = [];
  readonly failed: string[] = [];
  /** In the order in which the rollouts began. */
  readonly rolls: Roll[] = [];
  readonly #narrator: Narrator;

  constructor(narrator: Narrator, emitter: OperatorEvents) {
    this.#narrator = narrator;
    emitter.on('created', (event) => this.#created(event));
    emitter.on('configured', (event) => this.#configured(event));
    emitter.on('pruned', (event) => this.#pruned(event));
    emitter.on('rollout', (event) => this.#rolled(event));
    emitter.on('failed', (event) => this.#failed(event));
  }

  #created({ ref }: ObjectWritten): void {
    this.created.push(nameOf(ref));
    this.#narrator.line('created', nameOf(ref));
  }

  #configured({ ref, changes, cause }: ObjectWritten): void {
    this.configured.push(nameOf(ref));
    this.#narrator.line('changed', nameOf(ref), cause ?? '');
    for (const { path, from, to, manager } of changes.slice(0, 3)) {
      const by = manager === undefined ? '' : `taken by ${manager}`;
      this.#narrator.line('noted', `  ${path}: ${shown(from)} → ${shown(to)}`, by);
    }
  }

  #pruned({ ref }: ObjectWritten): void {
    this.pruned.push(nameOf(ref));
    this.#narrator.line('removed', nameOf(ref), 'no longer wanted');
  }

  /** A rollout without a cause is the first of a new workload: nothing is replaced. */
  #rolled({ ref, cause }: RolloutChanged): void {
    if (cause === undefined) return;
    const workload = nameOf(ref);
    if (this.rolls.some((roll) => roll.workload === workload && roll.cause === cause)) return;
    this.rolls.push({ workload, cause });
    this.#narrator.line('rolled', `${workload} rolls its pods`, `because of ${cause}`);
  }

  #failed({ ref, verb }: WriteFailed): void {
    const what = `${verb} ${ref.kind} ${ref.name ?? ''}`;
    this.failed.push(what);
    this.#narrator.line('wrong', `${what} failed`);
  }
}

/** Without the namespace: the story has only one. */
function nameOf({ kind, name }: ObjectReference): string {
  return `${kind} ${name}`;
}

function shown(value: unknown): string {
  if (value === undefined) return 'unset';
  const text = JSON.stringify(value);
  return text.length > 24 ? `${text.slice(0, 12)}…` : text;
}
