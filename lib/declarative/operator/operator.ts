import { readFile } from 'node:fs/promises';
import { ChangeNotifier } from '../../cache/change-notifier.js';
import type { Condition } from '../../object/conditions.js';
import type { ResourceType } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import { Turns } from '../../system/turns.js';
import { whenAborted } from '../../system/when-aborted.js';
import type { ControllerDocument, OperatorStatus } from '../crd/operator-resource.js';
import type { DeclarativeManager } from '../views/index.js';
import { ControllerSet } from './controller-set.js';
import type { ErrorStream } from './error-stream.js';
import { loadOneOperator } from './load-one-operator.js';
import {
  checkOperatorName,
  resolveOperatorChange,
  resolveOperatorOptions,
} from './operator-options.js';
import type {
  OperatorChangeOptions,
  OperatorOptions,
  ResolvedOperatorOptions,
  ViewsServer,
} from './operator-options.js';
import type { OperatorController } from './operator-controller.js';
import { planOperator, withController } from './operator-plan.js';
import type { OperatorInput, OperatorPlan } from './operator-plan.js';
import { operatorStatus } from './operator-status.js';
import { viewKindsOf } from './view-kinds.js';

const anyTurn = 'operator';

/**
 * A declarative operator: controllers that work together, and the views between them.
 *
 * ## Flow
 * It is made of a specification; `start` runs its controllers, and the manager unless that runs. While
 * it runs it can be changed: only the controllers that are not as before are replaced, each when the
 * old one has ended.
 *
 * ## Guarantees
 * - A controller that can't be run never keeps others from running, but for those that read views which
 *   it fills: they wait, for nothing is taken away because it is not known. The status says what is wrong.
 * - Calls that change it follow one another, in the order in which they were made.
 *
 * @example
 * ```ts
 * const manager = await DeclarativeManager.create({ client });
 * const operator = await Operator.fromFile('shop', manager, 'operator.yaml');
 * await operator.start(signal);
 * ```
 */
export class Operator {
  /** The first part of the group of its views. */
  readonly name: string;
  /** Runs its controllers. */
  readonly manager: DeclarativeManager;
  readonly #options: ResolvedOperatorOptions;
  readonly #controllers: ControllerSet;
  readonly #changes = new ChangeNotifier();
  readonly #turns = new Turns();
  #apiServer: ViewsServer | undefined;
  #plan: OperatorPlan;
  #conditions: readonly Condition[] = [];
  #isStarted = false;

  private constructor(name: string, manager: DeclarativeManager, options: OperatorOptions) {
    checkOperatorName(name);
    this.name = name;
    this.manager = manager;
    this.#options = resolveOperatorOptions(options, manager);
    this.#plan = planOperator(name, { controllers: [] });
    const logger = this.#options.logger.child({ operator: name });
    const notify = (): void => this.#changes.notify();
    this.#controllers = new ControllerSet({
      ...{ operator: name, manager, logger, onStatus: notify },
      onError: (error) => {
        this.errors.push(error);
        notify();
      },
    });
    this.setApiServer(this.#options.apiServer);
  }

  /**
   * Creates an operator. Problems of its specification are not thrown but reported in its status.
   * @param spec - `{ controllers: […] }`, an `Operator` object, or one that `loadOperators` read
   * @throws OperatorError `InvalidOption`: the name cannot be part of an API group.
   */
  static create(
    name: string,
    manager: DeclarativeManager,
    spec: OperatorInput,
    options: OperatorOptions = {},
  ): Operator {
    const operator = new Operator(name, manager, options);
    operator.#plan = planOperator(name, spec);
    operator.#controllers.set(operator.#plan);
    return operator;
  }

  /**
   * Makes an operator of a YAML file: the `Operator` object of this name in it, or its only operator.
   * @throws InvalidSpecError the file's operators are wrong; it has everything that is, with the place.
   * @throws OperatorError `InvalidOption`: as `create`. @throws what reading the file throws.
   */
  static async fromFile(
    name: string,
    manager: DeclarativeManager,
    path: string,
    options: OperatorOptions = {},
  ): Promise<Operator> {
    checkOperatorName(name);
    const loaded = loadOneOperator(name, await readFile(path, 'utf8'), path);
    return Operator.create(name, manager, loaded, options);
  }

  /** A stream of its errors; limited, see `ErrorStream`. */
  get errors(): ErrorStream {
    return this.#options.errors;
  }

  /** Its controllers, in the order of the specification; also those that can't be run. */
  listControllers(): readonly OperatorController[] {
    return this.#controllers.controllers;
  }

  /** Returns the controller of a name, or undefined. */
  getController(name: string): OperatorController | undefined {
    return this.listControllers().find((controller) => controller.name === name);
  }

  /**
   * Adds a controller, and starts it if the operator runs.
   * @returns the controller; its problems are in `problems` and in the status
   */
  addController(spec: ControllerDocument): Promise<OperatorController> {
    return this.#turns.run(anyTurn, async () => {
      await this.#apply(withController(this.#plan, spec), {});
      const added = this.listControllers().at(-1);
      if (added === undefined)
        throw new OperatorError('InvalidOption', `${this.name}: no controller`);
      return added;
    });
  }

  /**
   * Applies another specification. Unchanged controllers keep running.
   * @throws the errors of failed clean-ups, after everything else is done; a further call retries them.
   */
  update(spec: OperatorInput, options: OperatorChangeOptions = {}): Promise<void> {
    return this.#turns.run(anyTurn, () => this.#apply(planOperator(this.name, spec), options));
  }

  /**
   * How its controllers are doing, as the status of an `Operator` object.
   * @param generation - of the object that the specification is from @defaultValue it is from none
   */
  getStatus(generation?: number): OperatorStatus {
    const { clock } = this.manager;
    const [plan, controllers] = [this.#plan, this.listControllers()];
    const conditions = this.#conditions;
    const status = operatorStatus({ plan, controllers, generation, conditions, clock });
    this.#conditions = status.conditions;
    return status;
  }

  /** Calls `listener` when the status may have changed. @returns a function that ends the calls */
  listen(listener: () => void): () => void {
    return this.#changes.listen(listener);
  }

  /**
   * Makes the kinds of views that it reads and writes, so that they are served before the first one is
   * written.
   */
  registerGvks(): Promise<readonly ResourceType[]> {
    const { views } = this.manager;
    const able = this.listControllers().filter(({ problems }) => problems.length === 0);
    const kinds = viewKindsOf(
      this.name,
      able.map(({ spec }) => spec),
    );
    return Promise.all(kinds.map(({ operator, kind }) => views.ensure(operator, kind)));
  }

  /** Has its views served; the server's life is the caller's: started before. */
  setApiServer(apiServer: ViewsServer | undefined): void {
    this.#apiServer = apiServer;
    apiServer?.attach(this.manager.views);
  }

  /**
   * Runs its controllers until `signal` is aborted, and the manager, unless that was started by
   * another. Resolves when they have ended.
   * @throws OperatorError `AlreadyStarted`: it was started before.
   * @throws what the manager's `run` throws.
   */
  async start(signal: AbortSignal): Promise<void> {
    this.#refuseTwice();
    try {
      await this.begin();
      const runsIt = this.manager.phase === 'new';
      await (runsIt ? this.manager.run(signal) : whenAborted(signal));
    } finally {
      await this.end();
    }
  }

  /**
   * Begins to run its controllers, in a manager that another one runs.
   * @throws OperatorError `AlreadyStarted`: it was started before.
   */
  async begin(): Promise<void> {
    this.#refuseTwice();
    this.#isStarted = true;
    if (this.#apiServer !== undefined) await this.registerGvks();
    await this.#turns.run(anyTurn, () => this.#controllers.begin());
  }

  /** Stops its controllers. Everything they wrote stays, views included. */
  async end(): Promise<void> {
    await this.#turns.run(anyTurn, () => this.#controllers.end());
    if (this.#options.ownsErrors) this.errors.end();
  }

  /**
   * Ends it for good: its controllers, its views, and by `cleanUp` what it wrote.
   * @throws what failed; it can be tried again.
   */
  async remove(options: OperatorChangeOptions = {}): Promise<void> {
    const change = resolveOperatorChange(options);
    await this.#turns.run(anyTurn, () => this.#controllers.remove(change));
    if (this.#options.ownsErrors) this.errors.end();
  }

  /**
   * Resolves when the first full pass of all controllers that can be run is written; not while one of
   * them waits for views that a controller fills which can't be run.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    const able = this.listControllers().filter(({ problems }) => problems.length === 0);
    await Promise.all(able.map((controller) => controller.whenSynced(signal)));
  }

  #refuseTwice(): void {
    if (!this.#isStarted) return;
    throw new OperatorError('AlreadyStarted', `operator ${this.name}: it was started before`);
  }

  async #apply(plan: OperatorPlan, options: OperatorChangeOptions): Promise<void> {
    this.#plan = plan;
    const isChanged = await this.#controllers.apply(plan, resolveOperatorChange(options));
    if (this.#isStarted && this.#apiServer !== undefined) await this.registerGvks();
    if (isChanged) this.#changes.notify();
  }
}
