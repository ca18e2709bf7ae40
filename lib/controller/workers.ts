import type { Span } from '../system/tracer.js';
import type { ActiveRuns } from './active-runs.js';
import type { ControllerParts } from './controller-parts.js';
import { Outcomes } from './outcomes.js';
import type { Heeded } from './outcomes.js';
import { ReconcileContexts } from './reconcile-contexts.js';
import { parseWorkKey } from './reconcile-key.js';
import type { WorkKey } from './reconcile-key.js';
import { ReconcileRun } from './reconcile-run.js';
import type { ControllerDefinition } from './controller-definition.js';
import type { RunningCluster } from './running-cluster.js';
import type { WorkItem } from './work-queue.js';

/** Where {@link Workers} work. */
export interface Workplace {
  readonly runs: ActiveRuns;
  readonly clusterOf: (work: WorkKey) => RunningCluster | undefined;
}

/** Take keys from the queue and reconcile them, some at once. */
export class Workers {
  readonly #definition: ControllerDefinition;
  readonly #parts: ControllerParts;
  readonly #place: Workplace;
  readonly #contexts: ReconcileContexts;
  readonly #outcomes: Outcomes;
  readonly #labels: { readonly controller: string };

  constructor(definition: ControllerDefinition, parts: ControllerParts, place: Workplace) {
    this.#definition = definition;
    this.#parts = parts;
    this.#place = place;
    this.#labels = { controller: parts.name };
    this.#contexts = new ReconcileContexts(parts);
    this.#outcomes = new Outcomes(parts);
  }

  /** Starts so many; they end when the queue is shut down. */
  start(count: number): void {
    for (let n = 0; n < count; n++) void this.#work();
  }

  async #work(): Promise<void> {
    const { queue, metrics } = this.#parts;
    for (let item = await queue.get(); item; item = await queue.get()) {
      metrics.activeWorkers.add(1, this.#labels);
      await this.#reconcile(item);
      metrics.activeWorkers.add(-1, this.#labels);
    }
  }

  /** Resolves when the worker is free: at the end, or the time-out, of the reconcile. */
  async #reconcile(item: WorkItem): Promise<void> {
    const { triggers, runtime, queue, mayQueue } = this.#parts;
    const work = parseWorkKey(item.key);
    const cluster = this.#place.clusterOf(work);
    const known = triggers.take(item.key);
    // It was handed out a moment ago: since then the controller may have been stopped, its cluster
    // have left, or the key be no longer owned (`released` may be called after `owns` has changed).
    if (cluster === undefined || !mayQueue(work)) {
      queue.forget(item.key);
      queue.done(item.key);
      return;
    }
    const reconcileID = runtime.random.uuid();
    const run = new ReconcileRun({ work, reconcileID, triggers: known }, runtime.clock);
    this.#place.runs.add(run);
    const name = `reconcile ${this.#parts.kind}`;
    await runtime.tracer.span(name, this.#attributesOf(run), async (span) => {
      const heeded = await this.#run({ item, run, cluster }, span);
      span.set({ result: heeded.outcome });
      if (heeded.outcome === 'error' || heeded.outcome === 'terminal') span.failed(heeded.error);
      else if (heeded.outcome === 'timeout') span.failed(run.signal.reason);
    });
  }

  async #run(
    { item, run, cluster }: { item: WorkItem; run: ReconcileRun; cluster: RunningCluster },
    span: Span,
  ): Promise<Heeded> {
    const { reconciler, options } = this.#definition;
    const context = this.#contexts.of(run, cluster, span);
    const ended = await run.run(() => reconciler(context), options.reconcileTimeoutMs);
    const heeded = this.#outcomes.heed({ item, run, logger: context.logger }, ended);
    if (ended.type !== 'timedOut') {
      this.#free(run);
      return heeded;
    }
    const { heldKeys } = this.#parts.metrics;
    heldKeys.add(1, this.#labels);
    void ended.settled.then(() => {
      context.logger.warn('reconcile ended after its time-out', { lastedMs: run.lastedMs });
      heldKeys.add(-1, this.#labels);
      this.#free(run);
    });
    return heeded;
  }

  #attributesOf({ work, reconcileID }: ReconcileRun): Record<string, string> {
    const { name, kind } = this.#parts;
    const { cluster, key } = work;
    return {
      'k8s.controller': name,
      'k8s.kind': kind,
      'k8s.cluster.name': cluster,
      'k8s.namespace.name': key.namespace ?? '',
      'k8s.object.name': key.name,
      'reconcile.id': reconcileID,
    };
  }

  #free(run: ReconcileRun): void {
    this.#place.runs.delete(run);
    this.#parts.queue.done(run.work.text);
  }
}
