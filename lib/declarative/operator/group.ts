import type { Client } from '../../client/client.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError } from '../../system/operator-error.js';
import { Turns } from '../../system/turns.js';
import { whenAborted } from '../../system/when-aborted.js';
import type { DeclarativeManager } from '../views/index.js';
import { allSettled } from './all-settled.js';
import { ErrorStream } from './error-stream.js';
import { Operator } from './operator.js';
import type { OperatorInput } from './operator-plan.js';
import type { OperatorChangeOptions, ViewsServer } from './operator-options.js';

/** Options of a {@link Group}. */
export interface GroupOptions {
  /** Runs the controllers of all its operators; it stays the caller's only if that runs it. */
  readonly manager: DeclarativeManager;
  /** The server of its operators' views. @defaultValue views are not served */
  readonly apiServer?: ViewsServer | undefined;
  /** @defaultValue the manager's */
  readonly logger?: Logger | undefined;
}

/**
 * Operators that share views, errors and their life. They can be added, changed and removed at any
 * time; calls for one operator follow one another.
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
  /** A stream of the errors of all its operators, each with the operator's name; see `ErrorStream`. */
  readonly errors: ErrorStream;
  readonly #logger: Logger;
  readonly #operators = new Map<string, Operator>();
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
   * Adds an operator; it begins at once if the group runs. What is wrong with its specification is in
   * its status.
   * @throws OperatorError `InvalidOption`: there is one of the name, or the name can't be part of an
   * API group.
   * @throws OperatorError `Stopped`: the group has ended.
   */
  addOperator(name: string, spec: OperatorInput): Promise<Operator> {
    return this.#turns.run(name, async () => {
      if (!this.#operators.has(name)) return this.#add(name, spec);
      throw new OperatorError('InvalidOption', `there is an operator ${name} in the group`);
    });
  }

  /**
   * Adds an operator, or brings the one of the name to another specification: only controllers that
   * are not as before are replaced.
   * @throws as `addOperator`, but for an operator that is there, and as `Operator.update`.
   */
  upsertOperator(
    name: string,
    spec: OperatorInput,
    options: OperatorChangeOptions = {},
  ): Promise<Operator> {
    return this.#turns.run(name, async () => {
      const operator = this.#operators.get(name) ?? (await this.#add(name, noControllers));
      await operator.update(spec, options);
      return operator;
    });
  }

  /**
   * Removes an operator, with its views, and by `cleanUp` with what it wrote. One that is not there is
   * no error: only what `former` says is cleaned up then.
   * @throws what a clean-up failed with: then it is still there, and does nothing; try again.
   */
  deleteOperator(name: string, options: OperatorChangeOptions = {}): Promise<void> {
    return this.#turns.run(name, async () => {
      const operator = this.#operators.get(name) ?? this.#newOperator(name, noControllers);
      await operator.remove(options);
      this.#operators.delete(name);
      this.errors.forget(name);
      // Other controllers may read the dropped views: they must see an empty kind, not search for it.
      await Promise.all(this.listOperators().map((other) => other.registerGvks()));
    });
  }

  /** Returns the operator of a name, or undefined. */
  getOperator(name: string): Operator | undefined {
    return this.#operators.get(name);
  }

  /** Its operators, in the order in which they were added. */
  listOperators(): readonly Operator[] {
    return [...this.#operators.values()];
  }

  /** A client for views and objects of the cluster; it does not cache. */
  getClient(): Client {
    return this.manager.liveClient;
  }

  /** Has the views of all operators served; the server's life is the caller's: started before. */
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
   * Runs its operators until `signal` is aborted, and the manager, unless that was started by another.
   * Resolves when all have ended; then `errors` ends.
   * @throws OperatorError `AlreadyStarted`: it was started before.
   * @throws what the manager's `run` throws.
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

  async #add(name: string, spec: OperatorInput): Promise<Operator> {
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

  #newOperator(name: string, spec: OperatorInput): Operator {
    const { errors } = this;
    const [apiServer, logger] = [this.#apiServer, this.#logger];
    return Operator.create(name, this.manager, spec, { errors, apiServer, logger });
  }
}

const noControllers: OperatorInput = { controllers: [] };
