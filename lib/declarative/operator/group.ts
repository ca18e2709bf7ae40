import type { Client } from '../../client/index.js';
import { refuseUnknownOptions, OperatorError, Turns, whenAborted } from '../../system/index.js';
import type { Logger } from '../../system/index.js';
import type { DeclarativeManager } from '../views/index.js';
import { allSettled } from './controller-set.js';
import { ErrorStream } from './error-stream.js';
import { DeclarativeOperator } from './operator.js';
import type { OperatorInput } from './operator-plan.js';
import type { OperatorChangeOptions, ViewsServer } from './operator.js';

/** Options of a {@link Group}. */
export interface GroupOptions {
  /** Runs the controllers of all operators. `start` runs it too, unless it was started before. */
  readonly manager: DeclarativeManager;
  /** The server of the operators' views. @defaultValue views are not served */
  readonly apiServer?: ViewsServer | undefined;
  /** @defaultValue the manager's */
  readonly logger?: Logger | undefined;
}

/**
 * Operators that share views, errors and a lifetime. They can be added, changed and removed at any time;
 * calls for one operator run in sequence.
 *
 * @example
 * ```ts
 * const group = new Group({ manager: await DeclarativeManager.create({ client }) });
 * await group.addOperator('shop', { controllers });
 * await group.start(signal);
 * ```
 */
export class Group {
  readonly manager: DeclarativeManager;
  /** A stream of the errors of all operators, each with the operator's name; see `ErrorStream`. */
  readonly errors: ErrorStream;
  readonly #logger: Logger;
  readonly #operators = new Map<string, DeclarativeOperator>();
  readonly #listeners = new Set<(name: string) => void>();
  readonly #turns = new Turns();
  #apiServer: ViewsServer | undefined;
  #phase: 'new' | 'running' | 'over' = 'new';

  /** @throws OperatorError `InvalidOption`: an option is unknown. */
  constructor(options: GroupOptions) {
    const { manager, apiServer, logger = manager.logger } = options;
    refuseUnknownOptions<GroupOptions>('Group', options, { manager, apiServer, logger });
    this.manager = manager;
    this.errors = new ErrorStream({ clock: manager.clock });
    this.#logger = logger;
    this.setApiServer(apiServer);
  }

  /**
   * Adds an operator, and starts it if the group runs. Problems of its specification are in its status.
   * @throws OperatorError `InvalidOption`: an operator has this name already, or the name is invalid in an
   * API group.
   * @throws OperatorError `Stopped`: the group has ended.
   */
  addOperator(name: string, spec: OperatorInput): Promise<DeclarativeOperator> {
    return this.#turns.run(name, async () => {
      if (!this.#operators.has(name)) return this.#add(name, spec);
      throw new OperatorError(
        'InvalidOption',
        `the group has an operator ${name} already; choose another name, or call upsertOperator`,
      );
    });
  }

  /**
   * Adds an operator, or updates the existing one: only changed controllers are replaced.
   * @throws as `addOperator`, except for an existing operator, and as `DeclarativeOperator.update`.
   */
  upsertOperator(
    name: string,
    spec: OperatorInput,
    options: OperatorChangeOptions = {},
  ): Promise<DeclarativeOperator> {
    return this.#turns.run(name, async () => {
      const operator = this.#operators.get(name) ?? (await this.#add(name, noControllers));
      await operator.update(spec, options);
      return operator;
    });
  }

  /**
   * Removes an operator and its views; `cleanUp` decides about its other objects. For an unknown operator
   * only the objects of `former` are cleaned up.
   * @throws the errors of clean-ups: the operator stays in the group, stopped; call again with the same
   * `cleanUp` to retry. `upsertOperator` starts it again.
   */
  deleteOperator(name: string, options: OperatorChangeOptions = {}): Promise<void> {
    return this.#turns.run(name, async () => {
      const operator = this.#operators.get(name) ?? this.#newOperator(name, noControllers);
      await operator.remove(options);
      this.#operators.delete(name);
      this.errors.forget(name);
      // Controllers of other operators may read the dropped views: they must find an empty kind, not a
      // missing one.
      await Promise.all(this.listOperators().map((other) => other.registerGvks()));
    });
  }

  /** Returns the operator of a name, or undefined. */
  getOperator(name: string): DeclarativeOperator | undefined {
    return this.#operators.get(name);
  }

  /** Returns the operators, in the order in which they were added. */
  listOperators(): readonly DeclarativeOperator[] {
    return [...this.#operators.values()];
  }

  /** Returns a client for views and objects of the cluster, without a cache. */
  getClient(): Client {
    return this.manager.liveClient;
  }

  /** Serves the views of all operators. The caller starts and stops the server. */
  setApiServer(apiServer: ViewsServer | undefined): void {
    this.#apiServer = apiServer;
    apiServer?.attach(this.manager.views);
    for (const operator of this.listOperators()) operator.setApiServer(apiServer);
  }

  /**
   * Calls `listener` with the name of an operator whose status may have changed.
   * @returns a function that ends the calls
   */
  listen(listener: (name: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Runs the operators until `signal` is aborted, and the manager, unless it was started before. Resolves
   * when all have ended; then `errors` ends.
   * @throws OperatorError `AlreadyStarted`: the group was started before.
   * @throws the errors of the manager's `run`.
   */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#phase !== 'new') {
      throw new OperatorError('AlreadyStarted', 'group: it was started before; make a new one');
    }
    this.#phase = 'running';
    try {
      await allSettled(this.listOperators().map((operator) => operator.begin()));
      const runsIt = this.manager.phase === 'new';
      await (runsIt ? this.manager.run(signal) : whenAborted(signal));
    } finally {
      this.#phase = 'over';
      await allSettled(this.listOperators().map((operator) => operator.end()));
      this.errors.end();
    }
  }

  async #add(name: string, spec: OperatorInput): Promise<DeclarativeOperator> {
    if (this.#phase === 'over') {
      throw new OperatorError('Stopped', `add operator ${name}: the group has ended`);
    }
    const operator = this.#newOperator(name, spec);
    operator.listen(() => {
      for (const listener of this.#listeners) listener(name);
    });
    this.#operators.set(name, operator);
    if (this.#phase === 'running') await operator.begin();
    return operator;
  }

  #newOperator(name: string, spec: OperatorInput): DeclarativeOperator {
    const { errors } = this;
    const [apiServer, logger] = [this.#apiServer, this.#logger];
    return DeclarativeOperator.create(name, this.manager, spec, { errors, apiServer, logger });
  }
}

const noControllers: OperatorInput = { controllers: [] };
