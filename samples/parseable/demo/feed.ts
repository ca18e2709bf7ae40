import type { ObjectReference, OperatorEvents } from 'operator-builder';
import type { Narrator } from '../../demo/narrator.js';

/** Prints each write of an operator, and records the writes for the summary. */
export class Feed {
  readonly created: string[] = [];
  readonly pruned: string[] = [];
  /** Causes of the rollouts, by workload, in the order in which they began. */
  readonly rolls = new Map<string, string>();

  constructor(narrator: Narrator, events: OperatorEvents) {
    events.on('created', ({ ref }) => {
      this.created.push(nameOf(ref));
      narrator.line('created', nameOf(ref));
    });
    events.on('configured', ({ ref, changes, cause = '' }) => {
      narrator.line('changed', nameOf(ref), cause);
      for (const { path, from, to, manager } of changes.slice(0, 3)) {
        const by = manager === undefined ? '' : `taken by ${manager}`;
        narrator.line('noted', `  ${path}: ${shown(from)} → ${shown(to)}`, by);
      }
    });
    events.on('pruned', ({ ref }) => {
      this.pruned.push(nameOf(ref));
      narrator.line('removed', nameOf(ref), 'no longer wanted');
    });
    events.on('rollout', ({ ref, cause }) => {
      const workload = nameOf(ref);
      // The first rollout of a new workload has no cause, and replaces no pods.
      if (cause === undefined || this.rolls.get(workload) === cause) return;
      this.rolls.set(workload, cause);
      narrator.line('rolled', `${workload} rolls its pods`, `because of ${cause}`);
    });
    events.on('failed', ({ ref, verb }) => {
      narrator.line('wrong', `${verb} ${ref.kind} ${ref.name ?? ''} failed`);
    });
  }
}

/** Returns kind and name. Omits the namespace, as a story has only one. */
function nameOf({ kind, name }: ObjectReference): string {
  return `${kind} ${name}`;
}

function shown(value: unknown): string {
  if (value === undefined) return 'unset';
  const text = JSON.stringify(value);
  return text.length > 24 ? `${text.slice(0, 12)}…` : text;
}
