import type { CachingClient } from '../client/client.js';
import { fenced } from '../client/fenced.js';
import type { Fence } from '../client/fence.js';
import { silentRecorder } from '../events/recorder.js';
import type { Recorder } from '../events/recorder.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyOf, keyString } from '../object/object-key.js';
import type { Logger } from '../system/logger.js';
import type { Span } from '../system/tracer.js';
import { tell } from './controller-event.js';
import type { ControllerParts } from './controller-parts.js';
import { shownKey } from './last-errors.js';
import { LazyContext } from './lazy-context.js';
import { reconcileClient } from './reconcile-client.js';
import type { ObservedWrite, ReconcileClient } from './reconcile-client.js';
import type { WorkKey } from './reconcile-key.js';
import type { ReconcileRun } from './reconcile-run.js';
import type { ReconcileContext } from './reconciler.js';
import type { ControllerCluster } from './running-cluster.js';
import { traced } from './traced-client.js';

/** A run that has begun, and its logger, which is created on first access. */
interface BegunRun {
  readonly run: ReconcileRun;
  readonly logger: () => Logger;
}

/** Creates the contexts of reconcilers and observes their writes. */
export class ReconcileContexts {
  readonly #parts: ControllerParts;

  constructor(parts: ControllerParts) {
    this.#parts = parts;
  }

  /** Returns the context of a run that is about to begin. */
  of(begun: BegunRun, cluster: ControllerCluster, span: Span): ReconcileContext {
    const { run, logger } = begun;
    // Take the term now: a reconcile stays in the term in which it began, since its reads belong to that
    // term.
    const fences = this.#fencesOf(run);
    const client = (): ReconcileClient => this.#clientOf(run, cluster, { fences, span });
    const { reportingController, runtime } = this.#parts;
    const recorder = (): Recorder => cluster.recorder?.(reportingController) ?? silentRecorder;
    const { clock } = runtime;
    return new LazyContext(run, { client, logger, recorder, clock, span });
  }

  /** Returns the logger of a run, with the fields that identify the run. */
  loggerOf({ work, reconcileID }: ReconcileRun): Logger {
    const { logger, kind } = this.#parts;
    const named = work.cluster === '' ? {} : { cluster: work.cluster };
    return logger.child({ kind, ...named, ...work.key, reconcileID });
  }

  #fencesOf({ work }: ReconcileRun): readonly Fence[] {
    const { owned, runtime } = this.#parts;
    const ofKey = owned.fencesOf(work);
    const all = runtime.fence === undefined ? ofKey : [runtime.fence, ...ofKey];
    return all.length === 0 ? all : all.map((fence) => fence.term?.() ?? fence);
  }

  #clientOf(
    run: ReconcileRun,
    { client, cache }: ControllerCluster,
    { fences, span }: { readonly fences: readonly Fence[]; readonly span: Span },
  ): ReconcileClient {
    const inner = traced(fences.reduce(bothFenced, client), span, this.#parts.runtime.tracer);
    return reconcileClient(inner, {
      owns: this.#parts.owns,
      get signal() {
        return run.signal;
      },
      writeSignal: run.writeSignal,
      isOver: () => run.isOver,
      track: (write) => run.track(write),
      observe: (target) => {
        const before = cache.peek(target.type)?.get(target.key);
        return (write) => this.#wrote(run.work, write, before);
      },
    });
  }

  #wrote(work: WorkKey, write: ObservedWrite, before: KubernetesObject | undefined): void {
    const { hotLoops, metrics, logger, name, runtime } = this.#parts;
    const { type, answer: after } = write;
    // The server may have generated the name.
    const target = after === undefined ? write.key : keyOf(after);
    const found = hotLoops?.wrote({ key: work.text, type, target, before, after });
    if (found === undefined) return;
    const { object, ...facts } = found;
    metrics.hotLoops.add(1, { controller: name });
    logger.warn(`keeps writing ${object.kind} ${keyString(object)}: slowed down`, facts);
    tell(runtime, { type: 'hotLoop', controller: name, ...found, ...shownKey(work) });
  }
}

function bothFenced(client: CachingClient, fence: Fence): CachingClient {
  const { live = client, looks } = client;
  return { ...fenced(client, fence), live: fenced(live, fence), looks };
}
