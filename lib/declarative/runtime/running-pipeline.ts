import { TargetWriter } from './target-writer.js';
import type {
  Controller,
  ReconcileContext,
  Result,
  SourceContext,
  StartedSource,
} from '../../controller/index.js';
import { controllerFor, done, eventTrigger } from '../../controller/index.js';
import type { RequiredAccess } from '../../manager/index.js';
import { groupOfType, keyOf } from '../../object/index.js';
import type {
  ResourceType,
  GroupKind,
  TypeReference,
  KubernetesObject,
  ObjectKey,
} from '../../object/index.js';
import type { PipelinePlan } from '../engine/compile-pipeline.js';
import type { SpecPath } from '../spec-problem.js';
import { operatorOfViewGroup, viewGroupOf, isViewGroup } from '../spec/operator-spec.js';
import type { ControllerSpec, ResourceSpec, TargetSpec } from '../spec/operator-spec.js';
import type { PipelineInput } from '../spec/load-operator.js';
import type { DeclarativeManager } from '../views/declarative-manager.js';
import { targetFieldManager } from './clean-up-target.js';
import type { DocumentSource } from './document-sources.js';
import type { Braked, GrowthLimit } from './feedback-brake.js';
import { PipelineRun } from './pipeline-run.js';
import type { PipelineRunListener } from './pipeline-run.js';
import type { Redaction } from './reported-errors.js';
import { describe } from './reported-errors.js';
import { TargetReconciler } from './target-reconciler.js';
import type { SlowedWrite, TargetReconcilerParts } from './target-reconciler.js';
import {
  triggerDocument,
  watchedDocuments,
  followProblems,
  problemOf,
} from './document-sources.js';
import type { Client } from '../../client/index.js';
import { asError, isOperatorError, OperatorError } from '../../system/index.js';

/** Parts of a {@link RunningPipeline}. */
export interface RunningPipelineParts {
  readonly operator: string;
  readonly spec: ControllerSpec;
  /** Path of the target in the specification, for failures. */
  readonly targetPath: SpecPath;
  readonly plan: PipelinePlan;
  readonly inputs: readonly PipelineInput[];
  readonly kinds: ResolvedKinds;
  readonly redaction: Redaction;
  readonly listener: RunningPipelineListener;
  readonly manager: Pick<DeclarativeManager, 'views' | 'targetWrites' | 'clock' | 'namespacesOf'>;
  /** Limit of objects made from the controller's own results. */
  readonly growth: GrowthLimit;
  /** Waits until the source views are filled. */
  readonly whenFilled: (signal: AbortSignal) => Promise<void>;
}

/** Callbacks of a {@link RunningPipeline}. */
export interface RunningPipelineListener extends PipelineRunListener {
  /**
   * Called when a write has failed and will be retried. `subject` is the object; absent if the search for written
   * objects failed.
   */
  readonly writeFailed: (error: Error, subject: string | undefined) => void;
  /** Called once for each problem that prevents a write of `subject` until a user changes an object. */
  readonly writeRefused: (error: Error, subject: string) => void;
  /** Called when the controller is throttled because its own writes trigger it. */
  readonly slowed: (slowed: SlowedWrite, type: ResourceType) => void;
}

/** Number of objects written concurrently. */
const maxConcurrentReconciles = 4;

/** A pipeline as a controller of a manager: it writes the pipeline's results, key by key. */
export class RunningPipeline {
  /** The controller to add to a manager. */
  readonly controller: Controller;
  readonly writer: TargetWriter;
  readonly #parts: RunningPipelineParts;
  /**
   * The sources and the target watch of the current start. A manager that regains its lease starts the pipeline
   * again.
   */
  #started: Started | undefined;

  constructor(parts: RunningPipelineParts) {
    const { operator, spec, kinds, manager } = parts;
    const { views } = manager;
    const { name, target } = spec;
    const fieldManager = targetFieldManager(operator, name);
    this.#parts = parts;
    this.writer = new TargetWriter({ type: kinds.target, fieldManager, how: target.type, views });
    const source = { name: 'pipeline', start: (context: SourceContext) => this.#start(context) };
    // Disable the controller's hot-loop check: the target reconciler's own brake distinguishes feedback from bursts of
    // the sources.
    this.controller = controllerFor(kinds.target, { source })
      .withOptions({ name: this.#name, maxConcurrentReconciles, hotLoop: false })
      .complete((context) => this.#reconcile(context));
  }

  /** The access that the pipeline needs besides watching, for the preflight of a manager. */
  get requires(): readonly RequiredAccess[] {
    return targetAccess(this.#parts.kinds.target, this.#parts.spec.target);
  }

  get kinds(): ResolvedKinds {
    return this.#parts.kinds;
  }

  /** Whether all sources are listed. The controllers that fill source views may not have run yet. */
  get isListed(): boolean {
    return this.#started?.run.isListed ?? false;
  }

  /** Whether all sources are synced. */
  get isFollowing(): boolean {
    return this.#started?.run.isSynced ?? false;
  }

  /** Whether each object of the first full reconcile has been written or has failed. */
  get isTried(): boolean {
    return this.#started?.reconciler.isTried ?? false;
  }

  /** Whether each object of the first full reconcile has been written without an error. */
  get isSynced(): boolean {
    return this.#started?.reconciler.isSynced ?? false;
  }

  /** Number of current problems: sources, documents and writes. */
  get troubleCount(): number {
    const { run, watch, reconciler } = this.#started ?? {};
    const problems = (run?.problems().length ?? 0) + (watch?.problem === undefined ? 0 : 1);
    return problems + (run?.failing ?? 0) + (reconciler?.failing ?? 0);
  }

  /** Text of the first current problem. */
  get firstTrouble(): string | undefined {
    const { run, watch, reconciler } = this.#started ?? {};
    const [problem = watch?.problem] = run?.problems() ?? [];
    return problem ?? reconciler?.firstTrouble ?? this.#firstFailure;
  }

  /** Why the first write waits for the deletion of an object; undefined if no write waits for one. */
  get firstWait(): string | undefined {
    return this.#started?.reconciler.firstWait;
  }

  /** State of the brake while it slows the controller; undefined if it does not. */
  get braked(): Braked | undefined {
    return this.#started?.reconciler.braked;
  }

  get #name(): string {
    return `${this.#parts.operator}/${this.#parts.spec.name}`;
  }

  get #firstFailure(): string | undefined {
    // Read only the first failure, because this getter runs after every write.
    const [first] = this.#started?.run.failures() ?? [];
    if (first === undefined) return undefined;
    return describe(first, first.error, this.#parts.redaction);
  }

  async #reconcile(context: ReconcileContext): Promise<Result> {
    return this.#started?.reconciler.reconcile(context) ?? done();
  }

  #start(context: SourceContext): StartedSource {
    const { plan, spec, targetPath, listener, kinds } = this.#parts;
    const readsViews = kinds.inputs.some(
      (type) => type !== undefined && isViewGroup(groupOfType(type)),
    );
    const whenFilled = readsViews ? this.#parts.whenFilled : undefined;
    const periodic = spec.sources.filter(({ type }) => type === 'Periodic');
    const run = new PipelineRun(
      {
        ...{ plan, targetPath, listener, whenFilled },
        controller: this.#name,
        enqueue: (key, cause) => reconciler.want(key, cause),
        sources: this.#documentSources(),
        periodsMs: periodic.map(({ periodMs }) => periodMs),
      },
      context,
    );
    // Each start has a reconciler of its own: the state of an earlier one is out of date once another process has led.
    const reconciler: TargetReconciler = this.#newReconciler({
      desired: () => run.desired,
      unreadable: () => run.unreadable,
      watched: (key) => watch.get(key),
      enqueue: (key, request) => context.enqueue(key, request),
    });
    const troubled = (): void => {
      if (watch.isParked) listener.unserved();
      listener.changed();
    };
    const { drifted } = reconciler;
    const watch: TargetWatch = new TargetWatch(kinds.target, context, drifted, troubled);
    this.#started = { run, watch, reconciler };
    return {
      whenSynced: (signal) => run.whenSynced(signal),
      replay: () => run.replay(),
      status: () => run.status(),
      stop: async () => {
        watch.stop();
        await run.stop();
        reconciler.stop();
      },
    };
  }

  #newReconciler(
    started: Pick<TargetReconcilerParts, 'desired' | 'unreadable' | 'watched' | 'enqueue'>,
  ): TargetReconciler {
    const { spec, kinds, redaction, manager, listener, growth } = this.#parts;
    const { targetWrites: writes, clock } = manager;
    const namespaces = manager.namespacesOf(kinds.target);
    return new TargetReconciler({
      ...{ controller: this.#name, type: kinds.target, writer: this.writer, writes, clock },
      ...{ namespaces, growth, redaction, ...started },
      isOwner: spec.target.type === 'Updater',
      failed: listener.writeFailed,
      refused: listener.writeRefused,
      slowed: (slowed) => listener.slowed(slowed, kinds.target),
      changed: listener.changed,
    });
  }

  #documentSources(): DocumentSource[] {
    const { inputs, kinds, manager } = this.#parts;
    const { targetWrites: writes } = manager;
    return inputs.map(({ name, spec }, place) => {
      const type = kinds.inputs[place];
      return type === undefined
        ? triggerDocument(name, spec)
        : watchedDocuments(name, { type, spec, writes });
    });
  }
}

/** The state between a start and a stop of the pipeline. */
interface Started {
  readonly run: PipelineRun;
  readonly watch: TargetWatch;
  readonly reconciler: TargetReconciler;
}

/** Returns the access that a controller needs to the objects of its target; views need none. */
export function targetAccess(
  type: ResourceType,
  { type: how }: Pick<TargetSpec, 'type'>,
): readonly RequiredAccess[] {
  if (isViewGroup(type.group)) return [];
  const verbs = ['get', 'list', 'watch', 'patch'] as const;
  const more = how === 'Updater' ? (['create', 'update', 'delete'] as const) : [];
  return [
    { type, verbs: [...verbs, ...more] },
    // By default, a role gets `update` of finalizers, for owner references that block a deletion. None are set here.
    { type, subresource: 'finalizers', verbs: [] },
  ];
}

/** Context of a look-up of kinds. */
export interface KindSearch {
  /** The operator whose views a kind without a group refers to. */
  readonly operator: string;
  readonly client: Pick<Client, 'resourceType'>;
  readonly views: { ensure(operator: string, kind: string): Promise<ResourceType> };
}

export interface ResolvedKinds {
  /** The kind of each input; undefined if the input follows no objects. */
  readonly inputs: readonly (TypeReference<KubernetesObject> | undefined)[];
  readonly target: ResourceType;
}

/**
 * Resolves the kinds of a controller, and creates its views. A source of the cluster whose version is given
 * need not be served yet: the cache waits for it. All other kinds must be served.
 * @throws OperatorError `UnknownKind`: kinds are not served; the message names all of them.
 * @throws the error of discovery.
 */
export async function resolveKinds(
  inputs: readonly PipelineInput[],
  { target }: ControllerSpec,
  search: KindSearch,
): Promise<ResolvedKinds> {
  const types = inputs.map(async ({ spec }) =>
    spec.type === 'Watcher' ? resolveSource(spec, search) : undefined,
  );
  const found = resolveTarget(target, search);
  const settled = await Promise.allSettled([...types, found]);
  const errors = settled.flatMap((one) => (one.status === 'rejected' ? [asError(one.reason)] : []));
  const other = errors.find((error) => !isOperatorError(error, 'UnknownKind'));
  if (other !== undefined) throw other;
  const texts = new Set(errors.map(({ message }) => message));
  // One error for all unknown kinds, so that they can be corrected together.
  if (texts.size > 1) throw new OperatorError('UnknownKind', [...texts].join('; '));
  return { inputs: await Promise.all(types), target: await found };
}

async function resolveSource(
  spec: ResourceSpec,
  search: KindSearch,
): Promise<TypeReference<KubernetesObject>> {
  const reference = referenceTo(spec);
  if (reference !== undefined && 'apiVersion' in reference) return reference;
  return resolveTarget(spec, search);
}

async function resolveTarget(spec: ResourceSpec, search: KindSearch): Promise<ResourceType> {
  const reference = referenceTo(spec);
  if (reference !== undefined) return search.client.resourceType(reference);
  const { apiGroup = viewGroupOf(search.operator), kind } = spec;
  return search.views.ensure(operatorOfViewGroup(apiGroup) ?? search.operator, kind);
}

/** Returns the type to look up at the server; undefined for a view. */
function referenceTo({
  apiGroup: group,
  version,
  kind,
}: ResourceSpec): { readonly apiVersion: string; readonly kind: string } | GroupKind | undefined {
  if (group === undefined || isViewGroup(group)) return undefined;
  if (version === undefined) return { group, kind };
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}

/**
 * Watches the objects of a target, so that foreign changes and deletions are reverted immediately. The cache follows
 * the whole kind, once for all controllers.
 */
class TargetWatch {
  readonly #informer;
  readonly #endProblems: () => void;

  /**
   * @param drifted - called when an object may have drifted: it appeared, changed or was deleted
   * @param troubled - called when {@link TargetWatch.problem} has changed
   */
  constructor(
    type: ResourceType,
    context: SourceContext,
    drifted: TargetReconciler['drifted'],
    troubled: () => void,
  ) {
    this.#informer = context.cache.informer(type, { keepManagedFields: true });
    this.#informer.addHandler((event) => {
      drifted(keyOf(event.object), event, eventTrigger(event, context.cluster));
    });
    this.#endProblems = followProblems(type, context, troubled);
  }

  /** Returns the cached object; undefined if it does not exist or the cache can't store it. */
  get(key: ObjectKey): KubernetesObject | undefined {
    try {
      return this.#informer.get(key);
    } catch (error) {
      if (isOperatorError(error, 'Quarantined')) return undefined;
      throw error;
    }
  }

  /** Whether the kind is not served. */
  get isParked(): boolean {
    return this.#informer.status().parked;
  }

  /** Text of the problem because of which drift is not noticed; undefined if there is no problem. */
  get problem(): string | undefined {
    const problem = problemOf(this.#informer);
    return problem && `target: drift is not reverted: ${problem.message}`;
  }

  stop(): void {
    this.#endProblems();
    this.#informer.release();
  }
}
