import { addFinalizer } from '../../client/finalizers.js';
import { getIfExists } from '../../client/get-if-exists.js';
import { isStaleWrite } from '../../client/retry-on-conflict.js';
import { done, requeueAfter } from '../../controller/result.js';
import type { Result } from '../../controller/result.js';
import type { Explanation } from '../conditions/marks.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { OwnedKinds } from '../watches/owned-kinds.js';
import { applyObjects } from './apply-objects.js';
import { complete } from './completion.js';
import {
  beginDeployment,
  isContradictory,
  problemRetryMs,
  settleContradiction,
  waitsForOrphans,
} from './creation.js';
import { setDegraded, whyDegraded } from './degraded.js';
import { deleteSystem } from './deletion.js';
import type { LifecycleReconcilerOptions } from './lifecycle-reconciler-options.js';
import { Pass } from './pass.js';
import type { LifecycleRequest } from './pass.js';
import { prune } from './prune.js';
import { resolveSettings } from './settings.js';
import type { Settings } from './settings.js';
import { survey } from './survey.js';
import type { SurveyedObject } from './survey.js';
import { checkVersion, upgradeStarted } from './upgrade.js';
import { writeStatus } from './write-status.js';

/** What has changed is looked at again soon, should no watch tell, in milliseconds. */
const settleMs = 1_000;

/**
 * Deploys, upgrades, watches over and removes a whole system, as a configuration asks for it.
 *
 * ## Flow of a pass
 * read, (delete), survey, (begin), sanity, version, configuration, objects, perishables, rollouts,
 * prune, (complete), status. The status is written once, at the end, whatever happens.
 *
 * ## Guarantees
 * - Nothing is made before the configuration has our finalizer.
 * - What can't be carried out whole is not begun: a kind that is missing, an object of somebody else.
 * - `Deployed` is said only of what has rolled out, and only by a pass that changed nothing.
 * - A pass over a healthy system writes nothing, and with a cache reads nothing.
 */
export class LifecycleReconciler<CR extends LifecycleObject> {
  /** The kinds of all desired objects, as they become known; a controller's source. */
  readonly ownedKinds: OwnedKinds;
  readonly #settings: Settings<CR>;

  /** @throws OperatorError `InvalidOption`: a name or a time is out of its range. */
  constructor(options: LifecycleReconcilerOptions<CR>) {
    this.#settings = resolveSettings(options);
    this.ownedKinds = new OwnedKinds(this.#settings.crManager.type, options.watchRegistrator);
  }

  /**
   * Brings the system of one configuration a step further.
   * @param operatorVersion - the version of the operator that runs, at best a semantic one.
   * @throws what went wrong; several errors as an AggregateError. It is to be called again then.
   */
  async reconcile(request: LifecycleRequest, operatorVersion: string): Promise<Result> {
    const settings = this.#settings;
    const { client = settings.client, signal } = request;
    const cr = await getIfExists(client, settings.crManager.type, request.key, { signal });
    if (cr === undefined) return done();
    const pass = new Pass(settings, request, { cr, operatorVersion });
    const errors: unknown[] = [];
    let again: number | undefined;
    try {
      again = await this.#stepsOf(pass);
    } catch (error) {
      errors.push(error);
    }
    try {
      if (!pass.isOver) await writeStatus(pass);
    } catch (error) {
      errors.push(error);
    }
    if (errors.length > 0) throw joined(errors);
    return again === undefined ? done() : requeueAfter(again);
  }

  /** @returns when to look again, in milliseconds; undefined: when something changes */
  async #stepsOf(pass: Pass<CR>): Promise<number | undefined> {
    if (pass.cr.metadata.deletionTimestamp !== undefined) return deleteSystem(pass);
    const { objects, problems, orphans } = await survey(pass);
    this.ownedKinds.add(objects.map(({ type }) => type));
    if (problems.length > 0) return refuse(pass, problems);
    if (isContradictory(pass) && !(await settleContradiction(pass))) return undefined;
    const { finalizer, crManager, sanityChecker } = pass.settings;
    if (crManager.isCreating(pass.cr)) {
      if (waitsForOrphans(pass, orphans)) return problemRetryMs;
      pass.cr = await addFinalizer(pass.live, pass.cr, { finalizer, signal: pass.signal });
      await beginDeployment(pass);
    } else {
      pass.cr = await addFinalizer(pass.live, pass.cr, { finalizer, signal: pass.signal });
    }
    const sane = await sanityChecker?.(pass.cr, pass.hooks);
    if (sane !== undefined) return sane.requeueAfterMs;
    if (!checkVersion(pass)) return undefined;
    return carryOut(pass, objects);
  }
}

async function carryOut<CR extends LifecycleObject>(
  pass: Pass<CR>,
  surveyed: readonly SurveyedObject[],
): Promise<number> {
  const { controllerConfigUpdater, perishablesSynchronizer } = pass.settings;
  const { perishablesSyncIntervalMs } = pass.settings;
  await controllerConfigUpdater?.(pass.cr, pass.hooks);
  const { objects, changed, errors } = await applyObjects(pass, surveyed);
  if (errors.length > 0) {
    degradedByErrors(pass, errors);
    throw joined(errors);
  }
  await perishablesSynchronizer?.(pass.cr, pass.hooks);
  const why = whyDegraded(objects);
  const isUnderWay = pass.status.phase === 'Deploying' || pass.status.phase === 'Upgrading';
  setDegraded(pass, isUnderWay ? whyUnderWay(pass) : why);
  // What was just written has not been looked at by anybody yet.
  if (changed) return Math.min(settleMs, perishablesSyncIntervalMs);
  if (why !== undefined) return perishablesSyncIntervalMs;
  const pruned = await prune(pass, surveyed);
  if (pruned.errors.length > 0) throw joined(pruned.errors);
  if (pruned.left) return Math.min(settleMs, perishablesSyncIntervalMs);
  if (isUnderWay) complete(pass);
  return perishablesSyncIntervalMs;
}

/** An upgrade is told as degraded until it is complete; a first deployment is not. */
function whyUnderWay<CR extends LifecycleObject>({ status }: Pass<CR>): Explanation | undefined {
  if (status.phase !== 'Upgrading') return undefined;
  const { observedVersion = 'nothing', targetVersion = '' } = status;
  return upgradeStarted(observedVersion, targetVersion);
}

/** Says what is in the way, once; the phase stays, so no upgrade is half done. */
function refuse<CR extends LifecycleObject>(pass: Pass<CR>, problems: readonly string[]): number {
  const message = problems.join('; ');
  const reason = 'ConfigError';
  const known = pass.status.conditions?.some(
    (one) => one.reason === reason && one.message === message,
  );
  setDegraded(pass, { reason, message });
  if (known !== true) pass.warn({ reason, message });
  return problemRetryMs;
}

function degradedByErrors<CR extends LifecycleObject>(
  pass: Pass<CR>,
  errors: readonly unknown[],
): void {
  // A conflict is tried again at once.
  if (errors.every(isStaleWrite)) return;
  const texts = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  setDegraded(pass, { reason: 'ReconcileFailed', message: texts.join('; ') });
}

function joined(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const texts = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  return new AggregateError(errors, texts.join('; '));
}
