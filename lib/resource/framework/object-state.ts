import type { Recorder } from '../../events/recorder.js';
import type { ConditionUpdate } from '../../object/conditions.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { ResourceSet } from '../resource-set.js';
import { ObjectConditions, conditionsOf } from './object-conditions.js';
import type { ConditionWriting } from './object-conditions.js';
import type { OnceTold } from './once-told.js';
import { overlapEndToTell, overlapError, overlapToTell } from './overlap.js';
import {
  pauseToTell,
  pausedBy,
  pausedCondition,
  resumptionToTell,
} from '../../controller/pause.js';
import { ReadyCondition } from './ready-condition.js';
import type { Readiness } from './ready-condition.js';
import type { ResolvedFrameworkOptions } from './resolve-framework-options.js';

/** An object, what names it among all others, and what writes to it. */
export interface StatedObject<T extends KubernetesObject> {
  readonly object: T;
  readonly id: string;
  readonly pass: ConditionWriting;
}

type Options<T extends KubernetesObject> = Pick<
  ResolvedFrameworkOptions<T>,
  'name' | 'type' | 'clock' | 'pauseAnnotations' | 'resourceRouter' | 'readyCondition'
>;

/** What keeps an object from being reconciled, and how that is shown: conditions and events. */
export class ObjectState<T extends KubernetesObject> {
  readonly #options: Options<T>;
  readonly #recorder: Recorder;
  readonly #told: OnceTold;
  readonly #conditions: ObjectConditions<T>;
  readonly #ready: ReadyCondition<T>;

  constructor(options: Options<T>, recorder: Recorder, told: OnceTold) {
    this.#options = options;
    this.#recorder = recorder;
    this.#told = told;
    this.#conditions = new ObjectConditions(options.type, options.clock);
    this.#ready = new ReadyCondition(options, this.#conditions);
  }

  /**
   * Shows the result of a reconcile in the condition `Ready`.
   * @returns milliseconds after which a changed message may be written; undefined: nothing is left
   */
  setReady(stated: StatedObject<T>, readiness: Readiness): Promise<number | undefined> {
    return this.#ready.set(stated, readiness);
  }

  /** Says that a pause or an overlap is over, where it is. @returns the object as it is now */
  async settle(stated: StatedObject<T>, sets: readonly ResourceSet<T>[]): Promise<T> {
    const object = await this.#resumed(stated);
    if (sets.length > 1) return object;
    const end = overlapEndToTell(this.#options.name, conditionsOf(object));
    return end === undefined ? object : this.#conditions.set(object, end, stated.pass);
  }

  /** Whether the object is paused; then it says so, and one event does. */
  async isPaused(stated: StatedObject<T>): Promise<boolean> {
    const { object, id, pass } = stated;
    const by = pausedBy(object, this.#options.pauseAnnotations);
    if (by === undefined) return false;
    const conditions = conditionsOf(object);
    const wasTold = saysPaused(conditions);
    const update = pauseToTell(object, conditions, by);
    if (update !== undefined) await this.#conditions.set(object, update, pass);
    // Where no condition remembers it, this process has to.
    const isNew = this.#conditions.keeps(object) ? !wasTold : this.#told.isNew(id, 'paused', by);
    if (isNew) this.#tell(stated, 'Paused', `${by} pauses it: nothing is reconciled`);
    return true;
  }

  /**
   * Tells that several sets handle the object.
   * @throws TerminalError always: it can't be reconciled.
   */
  async refuseOverlap(
    { object, pass }: StatedObject<T>,
    sets: readonly ResourceSet<T>[],
  ): Promise<never> {
    const update = overlapToTell(this.#options.name, conditionsOf(object), sets);
    if (update !== undefined) await this.#conditions.set(object, update, pass);
    try {
      this.#options.resourceRouter.resourceSet(object);
    } catch (error) {
      throw overlapError(error);
    }
    throw overlapError(
      `several resource sets handle it: ${sets.map(({ name }) => name).join(', ')}`,
    );
  }

  async #resumed(stated: StatedObject<T>): Promise<T> {
    const { object, id, pass } = stated;
    if (pausedBy(object, this.#options.pauseAnnotations) !== undefined) return object;
    const wasTold = this.#told.isOver(id, 'paused');
    const update: ConditionUpdate | undefined = resumptionToTell(object, conditionsOf(object));
    const current =
      update === undefined ? object : await this.#conditions.set(object, update, pass);
    if (update !== undefined || wasTold) {
      this.#tell(stated, 'Resumed', 'it is not paused any more: it is reconciled again');
    }
    return current;
  }

  #tell({ object, pass }: StatedObject<T>, reason: 'Paused' | 'Resumed', note: string): void {
    pass.logger.info(note);
    const facts = { type: 'Normal', reason, action: 'Reconcile', note } as const;
    this.#recorder.record({ regarding: object, ...facts });
  }
}

function saysPaused(conditions: ReturnType<typeof conditionsOf>): boolean {
  return conditions.some(({ type, status }) => type === pausedCondition && status === 'True');
}
