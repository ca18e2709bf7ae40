import type { TargetSpec } from '../spec/operator-spec.js';
import { allSettled } from './all-settled.js';
import { cleanUpTarget } from '../runtime/clean-up-target.js';
import type { CleanUpContext, FormerController } from '../runtime/clean-up-target.js';
import { sameKind } from './targets.js';

/** Policy for the objects of a removed controller: `delete` removes them, `orphan` keeps them. */
export type CleanUpPolicy = 'orphan' | 'delete';

/** Pending clean-ups of removed controllers. The next run retries a failed one. */
export class CleanUps {
  readonly #context: CleanUpContext;
  readonly #pending = new Map<string, FormerController>();

  constructor(context: CleanUpContext) {
    this.#context = context;
  }

  /** Adds controllers that have stopped. */
  add(former: readonly FormerController[]): void {
    for (const one of former) this.#pending.set(idOf(one), one);
  }

  /** Whether objects of this kind still await removal; a new writer of the kind has to wait. */
  blocks(target: TargetSpec): boolean {
    return [...this.#pending.values()].some((one) => sameKind(one.target, target));
  }

  /** Runs all pending clean-ups. @throws the errors of failed ones, after all others are done. */
  async run(): Promise<void> {
    await allSettled(
      [...this.#pending].map(async ([id, former]) => {
        await cleanUpTarget(former, this.#context);
        this.#pending.delete(id);
      }),
    );
  }
}

function idOf({ name, target: { apiGroup, kind, type } }: FormerController): string {
  return JSON.stringify([name, apiGroup ?? null, kind, type]);
}
