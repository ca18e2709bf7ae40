import { Pod, isGone } from 'operator-builder';
import type { Client } from 'operator-builder';

/** Follows the pods of a namespace and counts those that were replaced. */
export class PodRolls {
  readonly #replaced = new Map<string, number>();
  readonly #onReplaced: (workload: string, pod: string) => void;
  #listening = false;

  /** @param onReplaced - called for each pod that went while {@link PodRolls.listen} was on. */
  constructor(onReplaced: (workload: string, pod: string) => void) {
    this.#onReplaced = onReplaced;
  }

  /** Pods replaced so far, by the workload's `node` label. */
  get replaced(): ReadonlyMap<string, number> {
    return this.#replaced;
  }

  /** Whether a pod that goes from now on counts as replaced. */
  listen(on: boolean): void {
    this.#listening = on;
  }

  /** Follows until `signal` is aborted. */
  async follow(client: Client, namespace: string, signal: AbortSignal): Promise<void> {
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      try {
        await this.#watch(client, namespace, signal);
      } catch (error) {
        if (isOver()) return;
        if (!isGone(error)) throw error;
      }
    }
  }

  async #watch(client: Client, namespace: string, signal: AbortSignal): Promise<void> {
    for await (const event of client.watch(Pod, { namespace, signal })) {
      if (event.type !== 'DELETED' || !this.#listening) continue;
      const { labels, name = '' } = event.object.metadata;
      const workload = labels?.['node'] ?? 'unknown';
      this.#replaced.set(workload, (this.#replaced.get(workload) ?? 0) + 1);
      this.#onReplaced(workload, name);
    }
  }
}
