import { deepEqual, isSameList } from '../../object/index.js';
import { asError } from '../../system/index.js';
import type { Logger } from '../../system/index.js';
import { cleanUpTarget } from '../runtime/clean-up-target.js';
import type { CleanUpContext, FormerController } from '../runtime/clean-up-target.js';
import { kindText, unableViewWriter } from '../runtime/controller-options.js';
import type { DeclarativeControllerListener } from '../runtime/reported-errors.js';
import { DeclarativeController } from '../runtime/declarative-controller.js';
import type { ControllerSpec, TargetSpec } from '../spec/operator-spec.js';
import type { DeclarativeManager } from '../views/index.js';
import type { OperatorPlan, PlannedController } from './operator-plan.js';
import type { ResolvedOperatorChange } from './operator.js';
import { isOwnView, isView, sameKind, sameTarget } from './operator-plan.js';

/** A controller of a plan. */
interface Slot {
  readonly planned: PlannedController;
  readonly controller: DeclarativeController;
  /** Targets of earlier controllers of the same name, which are neither taken over nor cleaned up yet. */
  readonly inherited: TargetSpec[];
  isStarted: boolean;
}

/**
 * The controllers of an operator. Calls must not overlap.
 *
 * A controller with an unchanged specification keeps running. A changed one stops before its successor
 * starts, so that two controllers never write the same objects.
 */
export class ControllerSet {
  readonly #parts: ControllerSetParts;
  readonly #cleanUps: CleanUps;
  #slots: readonly Slot[] = [];
  #isRunning = false;
  /** Whether a removal stopped the controllers and failed, so that the next plan starts controllers again. */
  #isResumable = false;
  #leaveUnread: () => void = () => undefined;

  constructor(parts: ControllerSetParts) {
    this.#parts = parts;
    this.#cleanUps = new CleanUps(parts);
  }

  /** The controllers, in the order of the plan. */
  get controllers(): readonly OperatorController[] {
    return this.#slots.map(({ controller }) => controller);
  }

  /** Takes the first plan without starting any controller. */
  set(plan: OperatorPlan): void {
    this.#noteUnread(plan);
    this.#slots = plan.controllers.map((planned) => this.#slotOf(planned));
  }

  /**
   * Applies a plan. The next call retries failed clean-ups that its policy allows, and starts the controllers that wait
   * for them.
   * @returns whether a controller was added or removed
   * @throws the errors of clean-ups and starts, after everything else is done.
   */
  async apply(plan: OperatorPlan, change: ResolvedOperatorChange): Promise<boolean> {
    const { operator } = this.#parts;
    const before = this.#slots;
    this.#isRunning ||= this.#isResumable;
    this.#isResumable = false;
    this.#noteUnread(plan);
    this.#slots = plan.controllers.map((planned) => this.#keep(planned) ?? this.#slotOf(planned));
    const leaving = before.filter((slot) => !this.#slots.includes(slot));
    await stopAll(leaving);
    this.#cleanUps.keepUnder(change);
    for (const one of leaving.flatMap(writtenBy)) this.#handOver(one, plan, change);
    if (change.cleanUp === 'delete') {
      // The operator's own views of an earlier process were lost with that process: there is nothing to clean
      // up.
      const others = change.former.filter(({ target }) => !isOwnView(target, operator));
      for (const one of others) this.#handOver(one, plan, change);
    }
    try {
      await this.#restartReaders();
      await allSettled([this.#cleanUps.run(), this.#startFree()]);
    } finally {
      await this.#startFree();
    }
    return !isSameList(before, this.#slots);
  }

  /** Starts all controllers that no clean-up blocks. From now on, {@link apply} also starts those of a new plan. */
  async begin(): Promise<void> {
    this.#isRunning = true;
    await this.#startFree();
  }

  /** Stops all controllers; everything that they wrote stays. */
  async end(): Promise<void> {
    this.#isRunning = false;
    this.#isResumable = false;
    this.#leaveUnread();
    await stopAll(this.#slots);
  }

  /**
   * Removes all controllers. Deletes the operator's views and the objects written into views of other
   * operators; `cleanUp` decides about all other objects.
   * @throws the errors of clean-ups. A further call with the same policy retries them; a further plan starts
   * controllers.
   */
  async remove({ cleanUp, former }: ResolvedOperatorChange): Promise<void> {
    const { operator, manager } = this.#parts;
    const isResumable = this.#isRunning || this.#isResumable;
    // Stop first: a running controller would write the removed objects again.
    await this.end();
    const written = this.#slots.flatMap(writtenBy);
    this.#slots = [];
    this.#cleanUps.keepUnder({ cleanUp });
    this.#cleanUps.add(
      [...written, ...(cleanUp === 'delete' ? former : [])].filter(
        ({ target }) => !isOwnView(target, operator) && (isView(target) || cleanUp === 'delete'),
      ),
    );
    this.#isResumable = isResumable;
    await allSettled([this.#cleanUps.run(), manager.views.drop(operator)]);
    this.#isResumable = false;
  }

  /**
   * Registers a writer of all views of the operator if the plan is unreadable: its targets are unknown, so readers
   * wait.
   */
  #noteUnread({ problems, controllers }: OperatorPlan): void {
    this.#leaveUnread();
    this.#leaveUnread = () => undefined;
    if (problems.length === 0 || controllers.length > 0) return;
    const { manager, operator } = this.#parts;
    this.#leaveUnread = manager.viewWriters.add(unableViewWriter(operator, unreadController));
  }

  /**
   * Returns the existing controller with the same specification. If the controller cannot run, its path in
   * the specification must be the same too, because its problems contain the path.
   */
  #keep({ name, spec, specPath, problems }: PlannedController): Slot | undefined {
    return this.#slots.find(
      ({ controller, planned }) =>
        planned.name === name &&
        deepEqual(planned.spec, spec) &&
        deepEqual(planned.problems, problems) &&
        (canRun(controller) || deepEqual(planned.specPath, specPath)),
    );
  }

  #slotOf(planned: PlannedController): Slot {
    const { name, specPath, problems } = planned;
    const spec = { ...planned.spec, name };
    const controller = new DeclarativeController({ ...this.#parts, spec, specPath, problems });
    return { planned, controller, inherited: [], isStarted: false };
  }

  /** Decides whether the objects of a stopped controller are cleaned up, kept or left to a successor. */
  #handOver(
    former: FormerController,
    { problems }: OperatorPlan,
    { cleanUp }: ResolvedOperatorChange,
  ): void {
    const { name, target } = former;
    const heir = this.#slots.find(({ planned }) => planned.name === name);
    // The new controller cannot run: its target is unknown until the specification is corrected.
    if (heir !== undefined && !canRun(heir.controller)) {
      // Every later change lists the same former controllers, so add each target once.
      if (!heir.inherited.some((one) => sameTarget(one, target))) heir.inherited.push(target);
    } else if (!sameTarget(heir?.planned.spec.target, target)) {
      // Always remove views that no controller writes now, as a restart would. An unreadable plan does not
      // show which objects are obsolete, so keep them all.
      const isToGo = problems.length === 0 && (isView(target) || cleanUp === 'delete');
      if (isToGo) this.#cleanUps.add([former]);
    }
  }

  /**
   * Restarts the readers of views that are removed and then filled again, for example by a controller that was
   * renamed. The readers, including those of other operators, wait until the views are filled.
   */
  async #restartReaders(): Promise<void> {
    const { operator, manager } = this.#parts;
    const refilled = this.#slots
      .filter(({ isStarted }) => !isStarted)
      .map(({ planned }) => planned.spec.target)
      .filter((target) => isView(target) && this.#cleanUps.blocks(target));
    await manager.viewWriters.restartReaders(refilled.map((one) => kindText(operator, one)));
  }

  /** Starts the controllers that no pending clean-up blocks. */
  async #startFree(): Promise<void> {
    if (!this.#isRunning) return;
    const starts = this.#slots.flatMap((slot) => {
      const { controller, isStarted, planned } = slot;
      const isBlocked = this.#cleanUps.blocks(planned.spec.target);
      if (!canRun(controller) || isStarted || isBlocked) return [];
      slot.isStarted = true;
      return [controller.start()];
    });
    await allSettled(starts);
  }
}

const unreadController: ControllerSpec = {
  ...{ name: '(specification)', sources: [], pipeline: undefined },
  target: { kind: '', type: 'Updater' },
};

function canRun({ problems }: DeclarativeController): boolean {
  return problems.length === 0;
}

/** Stops controllers; everything that they wrote stays. */
async function stopAll(slots: readonly Slot[]): Promise<void> {
  await allSettled(slots.map(({ controller }) => controller.stop()));
}

/** Returns the targets that a stopped controller and its predecessors wrote. */
function writtenBy({ planned, isStarted, inherited }: Slot): readonly FormerController[] {
  const targets = isStarted ? [planned.spec.target, ...inherited] : inherited;
  return targets.map((target) => ({ name: planned.name, target }));
}

/** Values that the controllers of an operator share. */
interface ControllerSetParts extends DeclarativeControllerListener {
  /** The name of the operator. */
  readonly operator: string;
  readonly manager: DeclarativeManager;
  readonly logger: Logger;
}

/** A controller of an operator, which starts and stops it. */
export type OperatorController = Pick<
  DeclarativeController,
  'name' | 'spec' | 'problems' | 'warnings' | 'status' | 'reportErrors' | 'whenSynced'
>;

/** Policy for the objects of a removed controller: `delete` removes them, `orphan` keeps them. */
export type CleanUpPolicy = 'orphan' | 'delete';

/** Pending clean-ups of removed controllers. The next run retries a failed one. */
class CleanUps {
  readonly #context: CleanUpContext;
  readonly #pending = new Map<string, FormerController>();

  constructor(context: CleanUpContext) {
    this.#context = context;
  }

  add(former: readonly FormerController[]): void {
    for (const one of former) this.#pending.set(idOf(one), one);
  }

  /** Drops the clean-ups that a policy no longer allows; views are always removed. */
  keepUnder({ cleanUp }: Pick<ResolvedOperatorChange, 'cleanUp'>): void {
    if (cleanUp === 'delete') return;
    for (const [id, { target }] of this.#pending) if (!isView(target)) this.#pending.delete(id);
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

/**
 * Resolves when all of `work` has settled.
 * @throws the only error, or an `AggregateError` of several
 */
export async function allSettled(work: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const errors = results.flatMap((result) =>
    result.status === 'rejected' ? [asError(result.reason)] : [],
  );
  const [first] = errors;
  if (first === undefined) return;
  if (errors.length === 1) throw first;
  throw new AggregateError(errors, errors.map(({ message }) => message).join('; '));
}
