import { readFile } from 'node:fs/promises';
import { ChangeNotifier } from '../../cache/index.js';
import type { Condition, ResourceType } from '../../object/index.js';
import { dns1123SubdomainProblem } from '../../object/index.js';
import {
  whenAborted,
  refuseUnknownOptions,
  OperatorError,
  isOperatorError,
  Turns,
} from '../../system/index.js';
import type { Logger, Resolved } from '../../system/index.js';
import type { ControllerDocument, OperatorStatus } from '../crd/operator-resource.js';
import { checkCleanUp } from '../runtime/clean-up-target.js';
import type { FormerController } from '../runtime/clean-up-target.js';
import type { DeclarativeManager, Views } from '../views/index.js';
import type { CleanUpPolicy, OperatorController } from './controller-set.js';
import { ControllerSet } from './controller-set.js';
import { ErrorStream } from './error-stream.js';
import { loadOneOperator, planOperator, withController, viewKindsOf } from './operator-plan.js';
import type { OperatorInput, OperatorPlan } from './operator-plan.js';
import { operatorStatus } from './operator-status.js';

const anyTurn = 'operator';

/**
 * A declarative operator: controllers that work together, and the views between them.
 *
 * ## Flow
 * `create` reads a specification; `start` runs its controllers, and the manager unless it runs already. A
 * running operator can be changed: only changed controllers are replaced, each after its predecessor has
 * stopped.
 *
 * ## Guarantees
 * - A controller that cannot run does not stop other controllers. Only readers of its views wait, because
 *   they would otherwise prune objects on incomplete input. The status reports the problem.
 * - Calls that change the operator run in sequence, in the order of the calls.
 *
 * @example
 * ```ts
 * const manager = await DeclarativeManager.create({ client });
 * const operator = await DeclarativeOperator.fromFile('shop', manager, 'operator.yaml');
 * await operator.start(signal);
 * ```
 */
export class DeclarativeOperator {
  /** The name of the operator, which is also the first part of the API group of its views. */
  readonly name: string;
  /** The manager that runs the operator's controllers. */
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
   * Creates an operator. Problems of the specification are reported in its status, not thrown.
   * @param spec - `{ controllers: […] }`, an `Operator` object, or one that `loadOperators` read
   * @throws OperatorError `InvalidOption`: the name is invalid in an API group.
   */
  static create(
    name: string,
    manager: DeclarativeManager,
    spec: OperatorInput,
    options: OperatorOptions = {},
  ): DeclarativeOperator {
    const operator = new DeclarativeOperator(name, manager, options);
    operator.#plan = planOperator(name, spec);
    operator.#controllers.set(operator.#plan);
    return operator;
  }

  /**
   * Creates an operator from a YAML file: the `Operator` object with this name, or the only operator.
   * @throws InvalidSpecError an operator of the file is invalid; the error has all problems and their
   * places.
   * @throws OperatorError `InvalidOption`: as `create`.
   * @throws the errors of reading the file.
   */
  static async fromFile(
    name: string,
    manager: DeclarativeManager,
    path: string,
    options: OperatorOptions = {},
  ): Promise<DeclarativeOperator> {
    checkOperatorName(name);
    const loaded = loadOneOperator(name, await readFile(path, 'utf8'), path);
    return DeclarativeOperator.create(name, manager, loaded, options);
  }

  /** A rate-limited stream of its errors; see `ErrorStream`. */
  get errors(): ErrorStream {
    return this.#options.errors;
  }

  /** Returns the controllers in the order of the specification, including those that cannot run. */
  listControllers(): readonly OperatorController[] {
    return this.#controllers.controllers;
  }

  /** Returns the controller with this name; undefined: no such controller. */
  getController(name: string): OperatorController | undefined {
    return this.listControllers().find((controller) => controller.name === name);
  }

  /**
   * Adds a controller, and starts it if the operator runs.
   * @returns the controller, with its problems, which are in the status too
   */
  addController(spec: ControllerDocument): Promise<OperatorController> {
    return this.#turns.run(anyTurn, async () => {
      // No controller is removed, so the policy only causes retries of clean-ups that failed earlier.
      await this.#apply(withController(this.#plan, spec), { cleanUp: 'delete' });
      const added = this.listControllers().at(-1);
      if (added === undefined)
        throw new OperatorError('InvalidOption', `${this.name}: no controller`);
      return added;
    });
  }

  /**
   * Applies another specification. Unchanged controllers keep running.
   * @throws the errors of failed clean-ups, after everything else is done; a further call with the same `cleanUp`
   * retries them.
   */
  update(spec: OperatorInput, options: OperatorChangeOptions = {}): Promise<void> {
    return this.#turns.run(anyTurn, () => this.#apply(planOperator(this.name, spec), options));
  }

  /**
   * Returns the status, in the form of the status of an `Operator` object.
   * @param generation - generation of the object with the specification
   * @defaultValue no object
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
   * Serves the kinds of the views that the operator reads and writes, before the first view is written. Leaves out
   * kinds with an invalid name, which the status reports.
   */
  async registerGvks(): Promise<readonly ResourceType[]> {
    const { views } = this.manager;
    const able = this.listControllers().filter(({ problems }) => problems.length === 0);
    const kinds = viewKindsOf(
      this.name,
      able.map(({ spec }) => spec),
    );
    const types = kinds.map(({ operator, kind }) =>
      views.ensure(operator, kind).catch((error: unknown) => {
        if (isOperatorError(error, 'InvalidObject')) return [];
        throw error;
      }),
    );
    return (await Promise.all(types)).flat();
  }

  /** Serves the views of the operator on `apiServer`. The caller starts and stops the server. */
  setApiServer(apiServer: ViewsServer | undefined): void {
    this.#apiServer = apiServer;
    apiServer?.attach(this.manager.views);
  }

  /**
   * Runs the controllers until `signal` is aborted, and the manager, unless it was started before.
   * Resolves when they have ended.
   * @throws OperatorError `AlreadyStarted`: the operator was started before.
   * @throws the errors of the manager's `run`.
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
   * Starts the controllers in a manager that another caller runs.
   * @throws OperatorError `AlreadyStarted`: the operator was started before.
   */
  async begin(): Promise<void> {
    this.#refuseTwice();
    this.#isStarted = true;
    if (this.#apiServer !== undefined) await this.registerGvks();
    await this.#turns.run(anyTurn, () => this.#controllers.begin());
  }

  /** Stops the controllers. Everything they wrote stays, including views. */
  async end(): Promise<void> {
    await this.#turns.run(anyTurn, () => this.#controllers.end());
    if (this.#options.ownsErrors) this.errors.end();
  }

  /**
   * Removes the operator: its controllers and its views; `cleanUp` decides about its other objects.
   * @throws the errors of clean-ups; a further call with the same `cleanUp` retries them.
   */
  async remove(options: OperatorChangeOptions = {}): Promise<void> {
    const change = resolveOperatorChange(options);
    await this.#turns.run(anyTurn, () => this.#controllers.remove(change));
    if (this.#options.ownsErrors) this.errors.end();
  }

  /**
   * Resolves when every controller that can run has written its first full output. It stays pending while
   * one of them waits for views of a controller that cannot run.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    const able = this.listControllers().filter(({ problems }) => problems.length === 0);
    await Promise.all(able.map((controller) => controller.whenSynced(signal)));
  }

  #refuseTwice(): void {
    if (!this.#isStarted) return;
    throw new OperatorError(
      'AlreadyStarted',
      `operator ${this.name}: it was started before; make a new one`,
    );
  }

  async #apply(plan: OperatorPlan, options: OperatorChangeOptions): Promise<void> {
    this.#plan = plan;
    const isChanged = await this.#controllers.apply(plan, resolveOperatorChange(options));
    if (this.#isStarted && this.#apiServer !== undefined) await this.registerGvks();
    if (isChanged) this.#changes.notify();
  }
}

/** A server of views: a `ViewApiServer`. The caller starts and stops it. */
export interface ViewsServer {
  /** Serves these views from now on; a second call does nothing. */
  attach(views: Views): unknown;
}

/** Options of an `Operator`. */
export interface OperatorOptions {
  /** Receives the errors; operators may share it. @defaultValue a stream of its own, which ends with the operator */
  readonly errors?: ErrorStream | undefined;
  /** Serves the views. @defaultValue undefined: views are readable in this process only */
  readonly apiServer?: ViewsServer | undefined;
  /** @defaultValue the manager's */
  readonly logger?: Logger | undefined;
}

/** {@link OperatorOptions} with defaults. */
interface ResolvedOperatorOptions {
  readonly errors: ErrorStream;
  readonly ownsErrors: boolean;
  readonly apiServer: ViewsServer | undefined;
  readonly logger: Logger;
}

/** Fills in the defaults. @throws OperatorError `InvalidOption`: an option is unknown. */
function resolveOperatorOptions(
  options: OperatorOptions,
  { clock, logger: managers }: DeclarativeManager,
): ResolvedOperatorOptions {
  const { errors, apiServer, logger = managers } = options;
  refuseUnknownOptions<OperatorOptions>('DeclarativeOperator', options, {
    errors,
    apiServer,
    logger,
  });
  const ownsErrors = errors === undefined;
  return { errors: errors ?? new ErrorStream({ clock }), ownsErrors, apiServer, logger };
}

/** Options for changing or removing an operator. */
export interface OperatorChangeOptions {
  /**
   * Policy for the objects of removed controllers: `delete` removes them, and the fields that a Patcher
   * wrote; `orphan` keeps them. Views are always removed.
   * @defaultValue 'orphan'
   */
  readonly cleanUp?: CleanUpPolicy | undefined;
  /**
   * Controllers of earlier processes: `delete` also removes their objects, unless a controller with the
   * same name and target exists.
   * @defaultValue none
   */
  readonly former?: readonly FormerController[] | undefined;
}

/** {@link OperatorChangeOptions} with defaults. */
export type ResolvedOperatorChange = Resolved<OperatorChangeOptions>;

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is unknown, or `cleanUp` is invalid.
 */
function resolveOperatorChange(options: OperatorChangeOptions): ResolvedOperatorChange {
  const { cleanUp = 'orphan', former = [] } = options;
  refuseUnknownOptions<OperatorChangeOptions>('operator', options, { cleanUp, former });
  checkCleanUp(cleanUp);
  return { cleanUp, former };
}

/** @throws OperatorError `InvalidOption`: the name is invalid in the API group of the operator's views. */
function checkOperatorName(name: string): void {
  const problem = dns1123SubdomainProblem(name);
  if (problem === undefined) return;
  throw new OperatorError('InvalidOption', `operator ${JSON.stringify(name)}: its name ${problem}`);
}
