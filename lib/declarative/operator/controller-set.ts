import { deepEqual } from '../../object/deep-equal.js';
import { DeclarativeController } from '../runtime/declarative-controller.js';
import { unableViewWriter } from '../runtime/controller-options.js';
import type { ControllerSpec, TargetSpec } from '../spec/operator-spec.js';
import { allSettled } from './all-settled.js';
import type { FormerController } from '../runtime/clean-up-target.js';
import { CleanUps } from './clean-ups.js';
import type { ControllerSetParts } from './controller-set-parts.js';
import { InvalidController } from './operator-controller.js';
import type { OperatorController } from './operator-controller.js';
import type { ResolvedOperatorChange } from './operator-options.js';
import type { OperatorPlan, PlannedController } from './operator-plan.js';
import { isOwnView, isView, sameTarget } from './targets.js';

/** A controller of a plan. */
interface Slot {
  readonly planned: PlannedController;
  readonly controller: DeclarativeController | InvalidController;
  /** Absent: it can't run. */
  readonly runnable?: DeclarativeController | undefined;
  /** Targets that controllers of its name wrote before it, and of which it is not known what to do. */
  readonly inherited: TargetSpec[];
  isStarted: boolean;
}

/**
 * The controllers of an operator. Calls of it must not overlap.
 *
 * A controller whose specification did not change goes on; of others the old one has ended before the
 * new one begins, so no two of them write the same objects.
 */
export class ControllerSet {
  readonly #parts: ControllerSetParts;
  readonly #cleanUps: CleanUps;
  #slots: readonly Slot[] = [];
  #isRunning = false;
  #leaveUnread: () => void = () => undefined;

  constructor(parts: ControllerSetParts) {
    this.#parts = parts;
    this.#cleanUps = new CleanUps(parts);
  }

  /** In the order of the plan. */
  get controllers(): readonly OperatorController[] {
    return this.#slots.map(({ controller }) => controller);
  }

  /** Takes the first plan; nothing runs yet. */
  set(plan: OperatorPlan): void {
    this.#noteUnread(plan);
    this.#slots = plan.controllers.map((planned) => this.#slotOf(planned));
  }

  /**
   * Brings the controllers to what `plan` says. What fails is tried again by the next call: what was
   * to be cleaned up, and the start of what would write there.
   * @returns whether a controller came or went
   * @throws what a clean-up or a start failed with; all others were carried out.
   */
  async apply(plan: OperatorPlan, change: ResolvedOperatorChange): Promise<boolean> {
    const { operator } = this.#parts;
    const before = this.#slots;
    this.#noteUnread(plan);
    this.#slots = plan.controllers.map((planned) => this.#keep(planned) ?? this.#slotOf(planned));
    const leaving = before.filter((slot) => !this.#slots.includes(slot));
    await stopAll(leaving);
    for (const one of leaving.flatMap(writtenBy)) this.#handOver(one, plan, change);
    if (change.cleanUp === 'delete') {
      // Views of an earlier process ended with it.
      const others = change.former.filter(({ target }) => !isOwnView(target, operator));
      for (const one of others) this.#handOver(one, plan, change);
    }
    try {
      await allSettled([this.#cleanUps.run(), this.#startFree()]);
    } finally {
      await this.#startFree();
    }
    return !sameItems(before, this.#slots);
  }

  /** Starts all of them, and from now on those of each new plan. */
  async begin(): Promise<void> {
    this.#isRunning = true;
    await this.#startFree();
  }

  /** Ends all of them; what they wrote stays. */
  async end(): Promise<void> {
    this.#isRunning = false;
    this.#leaveUnread();
    await stopAll(this.#slots);
  }

  /**
   * Ends all of them for good: the operator's views go, what they wrote into views of others goes, and
   * by `cleanUp` what they wrote elsewhere.
   * @throws what failed; it can be tried again.
   */
  async remove({ cleanUp, former }: ResolvedOperatorChange): Promise<void> {
    const { operator, manager } = this.#parts;
    // First of all: else a controller would carry on what is only cleaned up.
    await this.end();
    const written = this.#slots.flatMap(writtenBy);
    this.#slots = [];
    this.#cleanUps.add(
      [...written, ...(cleanUp === 'delete' ? former : [])].filter(
        ({ target }) => !isOwnView(target, operator) && (isView(target) || cleanUp === 'delete'),
      ),
    );
    await allSettled([this.#cleanUps.run(), manager.views.drop(operator)]);
  }

  /** Of a plan that can't be read it is not known which views it is to fill: any of its own. */
  #noteUnread({ problems, controllers }: OperatorPlan): void {
    this.#leaveUnread();
    this.#leaveUnread = () => undefined;
    if (problems.length === 0 || controllers.length > 0) return;
    const { manager, operator } = this.#parts;
    this.#leaveUnread = manager.viewWriters.add(unableViewWriter(operator, unreadController));
  }

  /** The one of the same specification; of one that can't run also its place, which problems name. */
  #keep({ name, spec, specPath, problems }: PlannedController): Slot | undefined {
    return this.#slots.find(
      ({ runnable, planned }) =>
        planned.name === name &&
        deepEqual(planned.spec, spec) &&
        deepEqual(planned.problems, problems) &&
        (runnable !== undefined || deepEqual(planned.specPath, specPath)),
    );
  }

  #slotOf(planned: PlannedController): Slot {
    const inherited: TargetSpec[] = [];
    const parts = { planned, inherited, isStarted: false };
    if (planned.problems.length > 0) {
      return { ...parts, controller: new InvalidController(planned, this.#parts) };
    }
    const { spec, specPath } = planned;
    const controller = new DeclarativeController({ ...this.#parts, spec, specPath });
    const runnable = controller.problems.length === 0 ? controller : undefined;
    return { ...parts, controller, runnable };
  }

  /** Decides what becomes of what a controller that has ended wrote. */
  #handOver(
    former: FormerController,
    { problems }: OperatorPlan,
    { cleanUp }: ResolvedOperatorChange,
  ): void {
    const { name, target } = former;
    const heir = this.#slots.find(({ planned }) => planned.name === name);
    // Once it is repaired it is known whether this is still its target.
    if (heir !== undefined && heir.runnable === undefined) heir.inherited.push(target);
    else if (!sameTarget(heir?.planned.spec.target, target)) {
      // Views that nobody writes any more would not be there after a restart either. A plan that
      // can't be read says nothing about what is not wanted any more.
      const isToGo = problems.length === 0 && (isView(target) || cleanUp === 'delete');
      if (isToGo) this.#cleanUps.add([former]);
    }
  }

  /** Starts those that may write. */
  async #startFree(): Promise<void> {
    if (!this.#isRunning) return;
    const starts = this.#slots.flatMap((slot) => {
      const { runnable, isStarted, planned } = slot;
      const isBlocked = this.#cleanUps.blocks(planned.spec.target);
      if (runnable === undefined || isStarted || isBlocked) return [];
      slot.isStarted = true;
      return [runnable.start()];
    });
    await allSettled(starts);
  }
}

const unreadController: ControllerSpec = {
  ...{ name: '(specification)', sources: [], pipeline: undefined },
  target: { kind: '', type: 'Updater' },
};

/** What they wrote stays. */
async function stopAll(slots: readonly Slot[]): Promise<void> {
  await allSettled(slots.map(({ controller }) => controller.stop()));
}

/** What is still there of a controller that has ended, and of those before it. */
function writtenBy({ planned, isStarted, inherited }: Slot): readonly FormerController[] {
  const targets = isStarted ? [planned.spec.target, ...inherited] : inherited;
  return targets.map((target) => ({ name: planned.name, target }));
}

function sameItems(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((item, place) => item === others[place]);
}
