import type { Result } from '../../controller/result.js';
import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import type { FrameworkPass } from './framework-reconciler.js';
import type { ResolvedFrameworkOptions } from './resolve-framework-options.js';

type Parts = Pick<
  ResolvedFrameworkOptions<KubernetesObject>,
  'client' | 'logger' | 'name' | 'type'
>;

/** Passes that are made when they are asked for, without a queue. */
export class DirectPasses {
  readonly #reconcile: (pass: FrameworkPass) => Promise<Result>;
  readonly #parts: Parts;

  constructor(reconcile: (pass: FrameworkPass) => Promise<Result>, parts: Parts) {
    this.#reconcile = reconcile;
    this.#parts = parts;
  }

  /** Resolves when a pass that began after the call has ended. Never throws: what a pass does is logged. */
  async run(key: ObjectKey): Promise<void> {
    const { client, name, type } = this.#parts;
    const logger = this.#parts.logger.child({ controller: name, kind: type.kind, ...key });
    const { signal } = new AbortController();
    try {
      const pass = { key, cluster: '', client, signal, logger };
      const result = await this.#reconcile(pass);
      // The finalizer was added: this is what a queue would do next.
      if (result.type === 'requeueAfter' && result.afterMs <= 1) await this.#reconcile(pass);
    } catch (error) {
      logger.error('reconcile failed', { error });
    }
  }
}
