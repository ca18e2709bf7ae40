import {
  applyObject,
  completeObject,
  deleteOrphan,
  desiredObject,
  failed,
  isKind,
  pending,
  placeholderUid,
  podTemplateIn,
  pruneRuns,
  readObject,
  recordingContext,
  refId,
  reportFailure,
  resultsOf,
  validateObject,
  withPodTemplate,
} from '../apply/index.js';
import type {
  DesiredObject,
  KeptPart,
  ObjectResult,
  Outcome,
  Stage,
  WantedObject,
} from '../apply/index.js';
import { describeObject, NetworkPolicy, ownerReferenceTo, referenceTo } from '../object/index.js';
import type { UnstructuredObject } from '../object/index.js';
import type { InternalStore } from '../store/index.js';
import { OperatorError, isOperatorError } from '../system/index.js';
import { phasesOf, pruningRankOf, waitForDefinition } from './apply-order.js';
import type { BuilderSettings } from './builder-options.js';
import { resolveChain } from './chain.js';
import type { Chain, ChainedObject, LostObject } from './chain.js';
import type { RunContext } from './context.js';
import { containersOf, dependenciesOf, dependencyFailed } from './dependencies.js';
import { reasonToReadAgain } from './generated.js';
import { keptSelector } from './guards.js';
import type { Link } from './link.js';
import { makePlan } from './plan.js';
import type { Plan } from './plan.js';
import { decidePruning } from './prune.js';
import type { PruneDecision } from './prune.js';
import { reconcileWorkloads, withRollout } from './reconcile-workloads.js';
import { reasonToHold } from './rollout-state.js';
import type { WorkloadGate } from './rollout-state.js';
import { changedSources, stampSources, stampTemplate, stampVariables, stampsFor } from './stamp.js';
import type { Stamp } from './stamp.js';
import { reasonToStay } from './successors.js';

/**
 * State shared by the `reconcile` methods of one Builder: the checked chain and the latest outcome of each
 * object. Each call reconciles its objects again.
 */
export class Run {
  readonly #context: RunContext;
  readonly #links: readonly Link[];
  readonly #outcomes = new Map<string, Outcome>();
  readonly #dependencies = new Map<ChainedObject, readonly string[]>();
  #chain: Promise<Chain> | undefined;

  constructor(settings: BuilderSettings, links: readonly Link[]) {
    this.#context = recordingContext(settings);
    this.#links = links;
  }

  async reconcileAll(): Promise<readonly ObjectResult[]> {
    if (this.#ownerIsLeaving()) return [];
    const chain = await this.#resolve();
    const outcomes = [...this.#lost(chain), ...(await this.#apply(chain.objects))];
    const pruned = outcomes.some(isFailed) ? [] : await this.#pruneWithTheRest(chain);
    return resultsOf([...outcomes, ...pruned]);
  }

  /**
   * Returns the results that the next reconcile would have if nothing changes; undefined if it may have work
   * to do.
   */
  settledResults(results: readonly ObjectResult[]): readonly ObjectResult[] | undefined {
    const isSettled = results.every(({ ref }) => {
      const outcome = this.#outcomes.get(refId(ref));
      return outcome?.state === 'done' && outcome.isSettled;
    });
    if (!isSettled) return undefined;
    return results.map(({ ref, reason, run, rollout, requeueAfterMs }) => ({
      ...{ operation: 'unchanged', ref, changes: [] },
      ...(reason !== undefined && { reason }),
      ...(run !== undefined && { run }),
      ...(rollout !== undefined && { rollout }),
      ...(requeueAfterMs !== undefined && { requeueAfterMs }),
    }));
  }

  async reconcileStage(stage: Stage): Promise<readonly ObjectResult[]> {
    if (this.#ownerIsLeaving()) return [];
    const chain = await this.#resolve();
    const objects = chain.objects.filter((one) => one.stage === stage);
    return resultsOf([
      ...this.#lost(chain, stage),
      ...(await this.#together(this.#containersFor(chain, objects))),
      ...(await this.#apply(objects)),
    ]);
  }

  async prune(): Promise<readonly ObjectResult[]> {
    if (this.#ownerIsLeaving()) return [];
    const chain = await this.#resolve();
    this.#lost(chain);
    const failures = [...this.#outcomes.values()].filter(isFailed);
    if (failures.length > 0) {
      const names = failures.map(({ ref }) => describeObject(ref)).join(', ');
      const owner = describeObject(this.#context.settings.owner);
      const message = `${owner}: nothing was pruned, because these objects failed: ${names}; correct them first`;
      throw new OperatorError('DependencyFailed', message, { cause: failures[0]?.error });
    }
    return resultsOf(await this.#deleteOrphans(chain));
  }

  async store(): Promise<InternalStore> {
    return (await this.#resolve()).store;
  }

  async plan(): Promise<Plan> {
    const { settings } = this.#context;
    const { metadata } = settings.owner;
    const { uid = placeholderUid } = metadata;
    const planned = { ...settings, owner: { ...settings.owner, metadata: { ...metadata, uid } } };
    const context = { ...this.#context, settings: planned };
    return makePlan(context, await resolveChain(planned, this.#links));
  }

  // Resolves the chain once; resolves it again only after the look-up of a kind failed.
  #resolve(): Promise<Chain> {
    const { settings } = this.#context;
    this.#chain ??= resolveChain(settings, this.#links).then(
      (chain) => {
        if (chain.lost.length > 0) this.#chain = undefined;
        return chain;
      },
      (error: unknown) => {
        this.#chain = undefined;
        if (isOperatorError(error)) {
          reportFailure(this.#context, referenceTo(settings.owner), error);
        }
        throw error;
      },
    );
    return this.#chain;
  }

  #ownerIsLeaving(): boolean {
    const { owner } = this.#context.settings;
    // Throws if the owner was not read from the server.
    ownerReferenceTo(owner);
    return owner.metadata.deletionTimestamp !== undefined;
  }

  #lost(chain: Chain, stage?: Stage): readonly Outcome[] {
    const lost = chain.lost.filter((one) => stage === undefined || one.stage === stage);
    return lost.map(({ ref, error }) => this.#note({ state: 'failed', ref, error }));
  }

  /** Reconciles the objects phase by phase. */
  async #apply(objects: readonly ChainedObject[]): Promise<readonly Outcome[]> {
    const { early, workloads, late, last } = phasesOf(objects);
    const before = await this.#together(early);
    const changed = await this.#workloads(workloads);
    return [
      ...(await this.#moved(before, { early, workloads: changed })),
      ...changed,
      ...(await this.#together(late)),
      ...(await this.#together(last)),
    ];
  }

  /**
   * Returns the outcomes of the objects that come before workloads. After a change of a workload, reconciles those
   * NetworkPolicies again that have kept their selector: otherwise new pods would have no policy until the next
   * reconcile.
   */
  async #moved(
    outcomes: readonly Outcome[],
    phases: { readonly early: readonly ChainedObject[]; readonly workloads: readonly Outcome[] },
  ): Promise<readonly Outcome[]> {
    const isChange = (outcome: Outcome): boolean =>
      outcome.state === 'done' && outcome.result.operation !== 'unchanged';
    if (!phases.workloads.some(isChange)) return outcomes;
    return Promise.all(
      outcomes.map(async (outcome, nth) => {
        const chained = phases.early[nth];
        const waits = outcome.state === 'pending' && chained && isKind(chained.ref, NetworkPolicy);
        return waits ? this.#one(chained) : outcome;
      }),
    );
  }

  /** Reconciles the objects concurrently, each as soon as its dependencies are reconciled. */
  #together(objects: readonly ChainedObject[]): Promise<readonly Outcome[]> {
    const byId = new Map(objects.map((one) => [refId(one.ref), one] as const));
    const running = new Map<string, Promise<Outcome>>();
    const start = (chained: ChainedObject): Promise<Outcome> => {
      const id = refId(chained.ref);
      const known = running.get(id);
      if (known !== undefined) return known;
      const needed = this.#dependenciesOf(chained).flatMap((each) => byId.get(each) ?? []);
      const outcome = Promise.all(needed.map(start)).then(() => this.#one(chained));
      running.set(id, outcome);
      return outcome;
    };
    return Promise.all(objects.map(start));
  }

  /** Returns the Namespaces and CustomResourceDefinitions that `objects` need and that are not yet reconciled. */
  #containersFor(chain: Chain, objects: readonly ChainedObject[]): readonly ChainedObject[] {
    const needed = new Set(objects.flatMap(containersOf));
    return chain.objects.filter((one) => {
      const id = refId(one.ref);
      return needed.has(id) && !objects.includes(one) && !this.#outcomes.has(id);
    });
  }

  // Cached, because finding the dependencies of an object reads all of it.
  #dependenciesOf(chained: ChainedObject): readonly string[] {
    const known = this.#dependencies.get(chained) ?? dependenciesOf(chained);
    this.#dependencies.set(chained, known);
    return known;
  }

  #workloads(objects: readonly ChainedObject[]): Promise<readonly Outcome[]> {
    return reconcileWorkloads(this.#context, objects, (chained, gate) => this.#one(chained, gate));
  }

  async #one(chained: ChainedObject, gate: WorkloadGate = {}): Promise<Outcome> {
    const { ref } = chained;
    try {
      const outcome = await this.#reconcile(chained, gate);
      return this.#note(await withRollout(this.#context, chained, outcome));
    } catch (error) {
      return this.#note(failed(ref, error));
    }
  }

  async #reconcile(chained: ChainedObject, gate: WorkloadGate): Promise<Outcome> {
    const { ref } = chained;
    const { settings } = this.#context;
    const chain = await this.#resolve();
    const dependencies = this.#dependenciesOf(chained);
    const needed = dependencies.flatMap((id) => this.#outcomes.get(id) ?? []);
    // An object that can't be reconciled has no outcome yet if its stage was not reconciled.
    const isNeeded = (lost: LostObject): boolean => dependencies.includes(refId(lost.ref));
    const broken = needed.find(isFailed) ?? chain.lost.find(isNeeded);
    if (broken !== undefined) throw dependencyFailed(ref, broken);
    const awaited = needed.find((outcome) => outcome.state === 'pending' && outcome.blocks);
    if (awaited?.state === 'pending') {
      return pending(ref, `waits for ${describeObject(awaited.result.ref)}, which is pending`);
    }
    const waits = await waitForDefinition(this.#context, chained, this.#outcomes);
    if (waits !== undefined) return waits;
    const prepared = prepareObject(settings, chain, chained);
    const sources = stampSources(this.#context, { chain, outcomes: this.#outcomes, of: chained });
    const stamps = await stampsFor(prepared, sources);
    const desired = finishObject(this.#context, prepared, stamps);
    const replacement = (live: UnstructuredObject): Promise<string | undefined> =>
      reasonToHold(this.#context, { chained, live }, gate);
    const update = async (live: UnstructuredObject): Promise<string | undefined> =>
      reasonToReadAgain(chained, live) ?? reasonToStay(this.#context, chain, { chained, live });
    const part = (live: UnstructuredObject): Promise<KeptPart | undefined> =>
      keptSelector(this.#context, chain, { chained, live });
    const { creation } = gate;
    return applyObject(this.#context, desired, { creation, replacement, update, part });
  }

  async #pruneWithTheRest(chain: Chain): Promise<readonly Outcome[]> {
    try {
      return await this.#deleteOrphans(chain);
    } catch (error) {
      return [failed(referenceTo(this.#context.settings.owner), error)];
    }
  }

  async #deleteOrphans(chain: Chain): Promise<readonly Outcome[]> {
    const decisions = await decidePruning(this.#context, chain);
    const going = decisions.filter(({ action }) => action === 'prune');
    const rankOf = ({ candidate }: PruneDecision): number => pruningRankOf(candidate.object);
    const outcomes: Outcome[] = [];
    for (const rank of new Set(going.map(rankOf))) {
      // An object that stays may need those that were applied before it, as a webhook needs its backend.
      if (outcomes.some(({ state }) => state !== 'done')) break;
      const step = going.filter((each) => rankOf(each) === rank);
      outcomes.push(...(await Promise.all(step.map((each) => this.#carryOut(each)))));
    }
    const waiting = decisions.filter(({ action }) => action === 'wait');
    outcomes.push(...(await Promise.all(waiting.map((each) => this.#carryOut(each)))));
    for (const outcome of outcomes) this.#report(outcome);
    await pruneRuns(
      this.#context,
      chain.objects.map(({ ref }) => ref),
    );
    return outcomes;
  }

  async #carryOut({ candidate, ...decision }: PruneDecision): Promise<Outcome> {
    const ref = referenceTo(candidate.object);
    if (decision.action === 'wait') {
      const { reason, requeueAfterMs } = decision;
      const again = requeueAfterMs !== undefined && { requeueAfterMs };
      return pending(ref, `is not pruned yet: ${reason}`, again || {});
    }
    try {
      return await deleteOrphan(this.#context, candidate);
    } catch (error) {
      return failed(ref, error);
    }
  }

  #report(outcome: Outcome): void {
    if (!isFailed(outcome)) this.#context.settings.onResult?.(outcome.result);
  }

  #note(outcome: Outcome): Outcome {
    const ref = isFailed(outcome) ? outcome.ref : outcome.result.ref;
    if (isFailed(outcome)) reportFailure(this.#context, ref, outcome.error);
    this.#report(outcome);
    this.#outcomes.set(refId(ref), outcome);
    return outcome;
  }
}

function isFailed(outcome: Outcome): outcome is Extract<Outcome, { state: 'failed' }> {
  return outcome.state === 'failed';
}

/** A complete object without the hashes of its ConfigMaps and Secrets. */
export interface PreparedObject {
  readonly chained: ChainedObject;
  readonly complete: UnstructuredObject;
  readonly replicasExternal: boolean;
}

/**
 * Completes and checks an object of a chain.
 * @throws OperatorError `InvalidObject`, `AlreadyOwned`.
 */
export function prepareObject(
  settings: BuilderSettings,
  chain: Chain,
  chained: ChainedObject,
): PreparedObject {
  const complete = completeObject(settings, wantedOf(chained));
  validateObject(complete);
  return { chained, complete, replicasExternal: hasExternalReplicas(chained, chain) };
}

function hasExternalReplicas(chained: ChainedObject, chain: Chain): boolean {
  if (chained.link.workload?.replicasExternal === true) return true;
  return chain.scaled.has(refId(chained.ref));
}

function wantedOf({ type, ref, link }: ChainedObject): WantedObject {
  return { type, ref, object: link.object, options: link.options };
}

/** Adds the hashes of ConfigMaps and Secrets, and the hash of the object itself. */
export function finishObject(
  context: RunContext,
  { chained, complete, replicasExternal }: PreparedObject,
  stamps: readonly Stamp[],
): DesiredObject {
  const template = podTemplateIn(complete);
  const variables = template === undefined ? [] : stampVariables(template, stamps);
  const object =
    template === undefined
      ? complete
      : withPodTemplate(complete, stampTemplate(template, variables));
  const { namespace } = chained.ref;
  return desiredObject({
    ...{ ...wantedOf(chained), object, replicasExternal },
    causesOf: (live: UnstructuredObject) => changedSources(live, variables, namespace),
    check: () => checkScaleTarget(context, chained),
  });
}

/**
 * Rejects an autoscaler whose workload is neither in the chain nor in the cluster.
 * @throws OperatorError `TargetMissing`
 */
async function checkScaleTarget(
  context: RunContext,
  { link: { scaleTarget }, ref }: ChainedObject,
): Promise<void> {
  if (scaleTarget === undefined) return;
  const { hint, name, ...type } = scaleTarget;
  const target = { namespace: ref.namespace, name };
  if ((await readObject(context, type, target)) !== undefined) return;
  const message = `${describeObject(ref)}: scaleTargetRef names ${type.kind} ${name}, which is neither in the chain nor in the cluster; ${hint}; correct the name, or set workload`;
  throw new OperatorError('TargetMissing', message);
}
