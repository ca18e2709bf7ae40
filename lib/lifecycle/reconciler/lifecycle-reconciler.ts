import { getIfExists } from '../../client/index.js';
import { done, requeueAfter } from '../../controller/index.js';
import type { Result } from '../../controller/index.js';
import { watchVerbs } from '../../manager/index.js';
import type { AccessVerb, RequiredAccess } from '../../manager/index.js';
import { Event } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { CrManager, LifecycleObject } from '../lifecycle-status.js';
import { OwnedKinds } from '../owned-kinds.js';
import { carryOut, keepPerishables } from './apply-objects.js';
import { deleteSystem } from './deletion.js';
import { joined, partsOf, reportFailure, Pass } from './pass.js';
import { isPaused, isUnstorable, takeFinalizers, writeStatus } from './configuration.js';
import type { LifecycleReconcilerOptions, Settings } from './settings.js';
import type { LifecycleRequest } from './pass.js';
import {
  beginDeployment,
  beginUpgrade,
  isContradictory,
  refusesDowngrade,
  refusesOlderThanObjects,
  settleContradiction,
} from './phases.js';
import { resolveSettings } from './settings.js';
import { problemRetryMs, survey, whyBlocked } from './survey.js';
import { callUserCode } from './user-code.js';

/**
 * Deploys, upgrades, monitors and removes a whole system, as a configuration describes it.
 *
 * ## Flow of a reconcile
 * read, (paused), (delete), (refuse a downgrade), survey, (begin), sanity, (upgrade), configuration, objects,
 * perishables, rollouts, prune, (complete), status, events. Perishables, the objects that expire, are renewed even if
 * an earlier step fails. The status is written once, at the end, even after an error, and events are recorded after
 * that write.
 *
 * ## Guarantees
 * - Nothing is created before the configuration has our finalizer.
 * - A deployment that cannot complete is not started: for example a missing kind, or an object of another
 *   owner.
 * - `Deployed` is set only after all workloads have rolled out, by a reconcile that changed nothing.
 * - A reconcile of a healthy system writes nothing, and with a cache makes no read requests.
 *
 * ## Caveats
 * Callbacks and hooks are called at least once: if a reconcile is interrupted, the next one calls them again.
 * Those after a write (`POST_CREATE`, `POST_UPDATE`, `POST_DELETE`) are not called if the process ends right
 * after the write.
 */
export class LifecycleReconciler<CR extends LifecycleObject> {
  /** The kind of the configurations, from the CrManager. */
  readonly type: CrManager<CR>['type'];
  /** The kinds of all desired objects, added as they become known. A source for a controller. */
  readonly ownedKinds: OwnedKinds;
  readonly #settings: Settings;

  /** @throws OperatorError `InvalidOption`: a name or a time is out of its range. */
  constructor(options: LifecycleReconcilerOptions<CR>) {
    this.#settings = resolveSettings(options);
    this.type = options.crManager.type;
    this.ownedKinds = new OwnedKinds(this.type, options.watchRegistrator);
  }

  /** The interval after which a configuration is reconciled again, in milliseconds. */
  get perishablesSyncIntervalMs(): number {
    return this.#settings.perishablesSyncIntervalMs;
  }

  /**
   * Returns the access that the reconciler needs besides watching the configurations, for `Manager.add`: to the kinds
   * that the CrManager names, in any namespace. To create Roles, the operator also needs the permissions that they
   * grant.
   */
  get requires(): readonly RequiredAccess[] {
    return lifecycleAccess(this.#settings);
  }

  /**
   * Reconciles the system of one configuration.
   * @param operatorVersion - the version of the running operator, preferably a semantic one.
   * @throws the error, or an AggregateError if there are several. Call the method again after an error.
   * @throws OperatorError `InvalidOption`: `operatorVersion` is empty.
   */
  async reconcile(request: LifecycleRequest, operatorVersion: string): Promise<Result> {
    if (operatorVersion === '') {
      throw new OperatorError(
        'InvalidOption',
        'lifecycle reconciler: operatorVersion is empty; pass the version of the operator',
      );
    }
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
      reportFailure(pass, error);
      errors.push(error);
    }
    try {
      if (!pass.isOver) await writeStatus(pass);
      pass.record(true);
    } catch (error) {
      if (isUnstorable(error)) {
        // The status can't be stored, so report the problem in an Event.
        pass.addEvent({ type: 'Warning', reason: 'ReconcileFailed', message: error.message });
      }
      pass.record(false);
      errors.push(error);
    }
    if (errors.length > 0) throw joined(errors);
    return again === undefined ? done() : requeueAfter(again);
  }

  /** @returns the delay until the next reconcile, in milliseconds; undefined: wait for a change */
  async #stepsOf(pass: Pass): Promise<number | undefined> {
    if (isPaused(pass)) return undefined;
    if (pass.cr.metadata.deletionTimestamp !== undefined) {
      return deleteSystem(pass, this.ownedKinds);
    }
    if (isContradictory(pass) && !(await settleContradiction(pass))) return undefined;
    if (refusesDowngrade(pass)) return undefined;
    // Before the first deployment has begun, nothing can expire.
    pass.arePerishablesKept = pass.isCreating;
    const errors: unknown[] = [];
    const again = await this.#bringAbout(pass).catch((error: unknown) => {
      errors.push(...partsOf(error));
      return undefined;
    });
    if (!pass.arePerishablesKept && !pass.isOver && !pass.signal.aborted) {
      await keepPerishables(pass).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw joined(errors);
    return again;
  }

  /** Applies the system. Its errors must not prevent the renewal of perishables. */
  async #bringAbout(pass: Pass): Promise<number | undefined> {
    const surveyed = await survey(pass);
    this.ownedKinds.add(surveyed.objects.flatMap(({ type }) => type ?? []));
    const blocked = whyBlocked(pass, surveyed);
    if (blocked !== undefined) {
      pass.complain(blocked);
      return Math.min(problemRetryMs, pass.settings.perishablesSyncIntervalMs);
    }
    if (pass.isCreating && refusesOlderThanObjects(pass, surveyed.objects)) return undefined;
    const { sanityChecker } = pass.settings;
    if (!(await takeFinalizers(pass))) return undefined;
    if (pass.isCreating) await beginDeployment(pass);
    const answer = await callUserCode(pass, { what: 'sanityChecker' }, (signal) =>
      sanityChecker?.(pass.cr, pass.hooks(signal)),
    );
    // Plain JavaScript can return null for "no result".
    const sane = answer ?? undefined;
    if (sane !== undefined) {
      pass.arePerishablesKept = true;
      return sane.requeueAfterMs;
    }
    beginUpgrade(pass);
    return carryOut(pass, surveyed.objects);
  }
}

const keepVerbs: readonly AccessVerb[] = [...watchVerbs, 'create', 'update', 'delete'];

/** Returns the access that a reconciler needs, apart from its hooks. */
function lifecycleAccess({
  crManager,
  subresourceEnabled,
}: Pick<Settings, 'crManager' | 'subresourceEnabled'>): readonly RequiredAccess[] {
  const { type } = crManager;
  const status = subresourceEnabled ? { subresource: 'status' } : {};
  return [
    // The finalizer is added by a patch.
    { type, verbs: [...watchVerbs, 'patch'] },
    { type, verbs: ['patch'], ...status },
    ...crManager.getDependantResourceTypes().map((each) => ({ type: each, verbs: keepVerbs })),
    { type: Event, verbs: ['create', 'patch'] },
  ];
}
