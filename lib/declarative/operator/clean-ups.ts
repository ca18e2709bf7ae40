import type { TargetSpec } from '../spec/operator-spec.js';
import { allSettled } from './all-settled.js';
import { cleanUpTarget } from '../runtime/clean-up-target.js';
import type { CleanUpContext, FormerController } from '../runtime/clean-up-target.js';
import { sameKind } from './targets.js';

/** What becomes of what a removed controller wrote: `delete`: it goes; `orphan`: it stays. */
export type CleanUpPolicy = 'orphan' | 'delete';

/** What removed controllers wrote and is to go. What fails stays, and is tried by the next run. */
export class CleanUps {
  readonly #context: CleanUpContext;
  readonly #pending = new Map<string, FormerController>();

  constructor(context: CleanUpContext) {
    this.#context = context;
  }

  /** Adds controllers that have ended. */
  add(former: readonly FormerController[]): void {
    for (const one of former) this.#pending.set(idOf(one), one);
  }

  /** Whether objects of this kind are still to go: who writes some of them has to wait. */
  blocks(target: TargetSpec): boolean {
    return [...this.#pending.values()].some((one) => sameKind(one.target, target));
  }

  /** @throws what failed; the others are done. */
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
