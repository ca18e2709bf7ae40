import { ChangeNotifier, ReconnectDelay } from '../../cache/index.js';
import { failureKindOf } from '../../controller/index.js';
import type { Added } from '../../manager/index.js';
import { deepEqual, keyString } from '../../object/index.js';
import {
  asError,
  sleep,
  refuseUnknownOptions,
  OperatorError,
  isOperatorError,
} from '../../system/index.js';
import type { ResourceType } from '../../object/index.js';
import { InvalidSpecError } from '../spec/invalid-spec-error.js';
import { formatSpecPath } from '../spec-problem.js';
import type { SpecProblem } from '../spec-problem.js';
import type { ControllerSpec } from '../spec/operator-spec.js';
import type { ViewWriter } from '../views/view-writers.js';
import {
  asViewWriter,
  cannotRun,
  resolveDeclarativeControllerOptions,
  isSecretSpec,
} from './controller-options.js';
import { checkCleanUp, cleanUpTarget } from './clean-up-target.js';
import { compileController } from '../spec/load-operator.js';
import type { CompiledController } from '../spec/load-operator.js';
import { ControllerHealth, hotLoopError, Redaction, ReportedErrors } from './reported-errors.js';
import type { DeclarativeControllerStatus, ReportedError } from './reported-errors.js';
import type {
  DeclarativeControllerOptions,
  ResolvedDeclarativeControllerOptions,
} from './controller-options.js';
import type { Braked } from './feedback-brake.js';
import { resolveKinds, RunningPipeline } from './running-pipeline.js';
import type { ResolvedKinds, RunningPipelineListener } from './running-pipeline.js';
import type { SlowedWrite } from './target-reconciler.js';

/** Options of {@link DeclarativeController.stop}. */
export interface StopControllerOptions {
  /** `delete` removes what the controller wrote; `orphan` leaves it. @defaultValue 'orphan' */
  readonly cleanUp?: 'orphan' | 'delete' | undefined;
}

/**
 * A controller of a declarative operator. It follows its sources, runs each change through its pipeline and
 * writes the results.
 *
 * ## Flow
 * The controller resolves its kinds and adds itself to the manager. The manager provides leader election,
 * queue, back-off, hot-loop detector, metrics and inspector. Once all sources are synced, a full reconcile
 * compares the desired objects with the live ones. From then on the cost of a change is proportional to what
 * it affects.
 *
 * ## Guarantees
 * - The controller writes nothing before all sources are synced and all controllers that fill its source
 *   views have written once. If one of them cannot run, the controller waits and reports which. It never
 *   removes an object because of incomplete information, and does not write objects that are up to date.
 * - It reverts foreign changes and deletions in the target at once. A steady state makes no calls.
 * - A retry of a failed write uses the state that is desired by then.
 * - A data error excludes and reports its document; all other documents continue.
 *
 * ## Caveats
 * - Replicas cannot share its keys: only the leader writes. The others keep their pipelines up to date, and
 *   begin with a full reconcile when they become leader.
 * - To revert drift at once it watches the whole kind of its target: all its objects are in memory.
 */
export class DeclarativeController {
  /** Problems of the specification. A controller with problems does not run. */
  readonly problems: readonly SpecProblem[];
  /** Warnings about the specification; they do not prevent a run. */
  readonly warnings: readonly SpecProblem[];
  readonly #options: ResolvedDeclarativeControllerOptions;
  readonly #compiled: CompiledController;
  readonly #errors: ReportedErrors;
  readonly #health: ControllerHealth;
  readonly #changes = new ChangeNotifier();
  readonly #ending = new AbortController();
  readonly #writer: ViewWriter;
  readonly #leaveWriters: () => void;
  /** The state that the readers of its views were last notified of. */
  #known: Partial<Pick<ViewWriter, 'progress' | 'trouble'>> = {};
  #hidesValues: boolean;
  readonly #redaction = new Redaction(() => this.#mayHoldSecrets());
  #starting: Promise<unknown> | undefined;
  #running: RunningPipeline | undefined;
  #added: Added | undefined;
  /** Why the kinds could not be resolved. */
  #problem: Error | undefined;
  #stopped: Promise<void> | undefined;
  #isLooking = false;

  /** Compiles the specification. Its problems are in `problems`, not thrown. */
  constructor(options: DeclarativeControllerOptions) {
    this.#options = resolveDeclarativeControllerOptions(options);
    const { operator, spec, specPath, problems, manager } = this.#options;
    const { clock, random, viewWriters } = manager;
    // Where documents may include data of Secrets, errors show no values.
    const showValues = ![...spec.sources, spec.target].some(isSecretSpec);
    this.#compiled =
      problems.length > 0
        ? { plan: undefined, inputs: [], problems, warnings: [] }
        : compileController(spec, specPath, { clock, random, showValues });
    this.problems = this.#compiled.problems;
    this.warnings = this.#compiled.warnings;
    const onError = (error: ReportedError): void => this.#notify(() => options.onError(error));
    this.#hidesValues = !showValues;
    const { name: controller } = spec;
    this.#errors = new ReportedErrors({
      operator,
      controller,
      clock,
      onError,
      redaction: this.#redaction,
    });
    this.#health = new ControllerHealth(clock);
    this.#writer = asViewWriter(operator, spec, {
      progress: () => this.#progress,
      trouble: () => this.#trouble,
      restart: () => this.#restart(),
    });
    // Register before the start: readers may start first. A controller that cannot run registers too, so that
    // its readers do not mistake it for absent.
    const leave = viewWriters.add(this.#writer);
    const unlisten = viewWriters.listen(() => this.#othersChanged());
    this.#leaveWriters = () => [leave, unlisten].forEach((end) => end());
    this.#refresh();
  }

  /** Unique in its operator. */
  get name(): string {
    return this.#options.spec.name;
  }

  get spec(): ControllerSpec {
    return this.#options.spec;
  }

  /**
   * Starts the controller, once. Resolves when it is added to the manager, or when it has to wait for an
   * unserved kind; it then retries the look-up. With `problems` it does nothing.
   * @throws OperatorError `AlreadyStarted`: it was started before.
   * @throws OperatorError `InvalidOption`: the manager has a controller of its name.
   * @throws OperatorError `Stopped`: it was stopped, or the manager was.
   */
  async start(): Promise<void> {
    if (this.#starting !== undefined) {
      throw new OperatorError(
        'AlreadyStarted',
        `controller ${this.name}: it was started before; make a new one`,
      );
    }
    if (this.#ending.signal.aborted) throw this.#stoppedError();
    if (this.#compiled.plan === undefined) return;
    const first = this.#begin();
    // The caller handles the error; `stop` only waits for the end.
    this.#starting = Promise.allSettled([first]);
    if (await first) return;
    this.#starting = this.#keepBeginning();
  }

  /**
   * Stops the controller. Writes in progress may finish within the manager's `gracefulShutdownMs`. Resolves when all
   * work has stopped and, with `delete`, when everything is removed that this or an earlier process wrote. A second
   * call waits for the first.
   * @throws with `delete`: the error of a failed look-up of the target's kind; or the errors of failed removals,
   * after all other objects are removed.
   */
  async stop(options: StopControllerOptions = {}): Promise<void> {
    const { cleanUp = 'orphan' } = options;
    refuseUnknownOptions<StopControllerOptions>(`stop ${this.#label}`, options, { cleanUp });
    checkCleanUp(cleanUp);
    this.#stopped ??= this.#stop(cleanUp);
    return this.#stopped;
  }

  /** Returns the status of the controller. */
  status(): DeclarativeControllerStatus {
    this.#refresh();
    const lastErrors = this.#errors.all().map(({ message }) => message);
    const { conditions } = this.#health;
    return { name: this.name, problems: this.problems, conditions, lastErrors };
  }

  /** Returns the last ten errors, newest last. */
  reportErrors(): readonly ReportedError[] {
    return this.#errors.all();
  }

  /**
   * Resolves when the controller has written its first output: all objects that existed at the start are reconciled.
   * @throws InvalidSpecError it has `problems`.
   * @throws OperatorError `Stopped`: it was stopped before.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.problems.length > 0) throw new InvalidSpecError(this.#label, this.problems);
    const { signal: ended } = this.#ending;
    await this.#changes.until(() => this.#isSynced || ended.aborted, { signal });
    if (!this.#isSynced) throw this.#stoppedError();
  }

  get #progress(): ViewWriter['progress'] {
    if (this.#compiled.plan === undefined || this.#refusal !== undefined) return 'unable';
    if (this.#running?.isTried === true) return 'tried';
    return this.#running?.isListed === true ? 'listed' : 'beginning';
  }

  /** Why the views that the controller writes stay empty, for the controllers that read them. */
  get #trouble(): string | undefined {
    if (this.#progress === 'unable') return cannotRun;
    return this.#problem?.message ?? this.#running?.firstTrouble;
  }

  /**
   * Returns true if documents may contain data of Secrets. Once true it stays true, because derived documents
   * may outlive the Secret.
   */
  #mayHoldSecrets(): boolean {
    const { operator, manager } = this.#options;
    this.#hidesValues ||= manager.viewWriters.mayHoldSecrets(operator);
    return this.#hidesValues;
  }

  get #label(): string {
    return `${this.#options.operator}/${this.name}`;
  }

  get #isSynced(): boolean {
    return this.#running?.isSynced ?? false;
  }

  #stoppedError(): OperatorError {
    return new OperatorError('Stopped', `controller ${this.#label} was stopped`);
  }

  /** Looks up the kinds and starts the pipeline. @returns false if a look-up failed and must be retried */
  async #begin(): Promise<boolean> {
    let kinds: ResolvedKinds;
    try {
      kinds = await this.#findKinds();
    } catch (error) {
      this.#notFound(asError(error));
      // Retries cannot make an invalid name valid.
      return isOperatorError(error, 'InvalidObject');
    }
    this.#beginWith(kinds);
    return true;
  }

  #beginWith(kinds: ResolvedKinds): void {
    const { plan, inputs } = this.#compiled;
    const { operator, spec, specPath, manager, growth, logger } = this.#options;
    this.#problem = undefined;
    if (plan === undefined || this.#ending.signal.aborted) return;
    const listener = this.#listener();
    const redaction = this.#redaction;
    const targetPath = [...specPath, 'target'];
    const { viewWriters } = manager;
    const whenFilled = async (signal: AbortSignal): Promise<void> => {
      await viewWriters.whenWritten(this.#writer, signal);
      // Check only after the wait: further controllers may have been added meanwhile.
      const unfilled = viewWriters.unfilledOf(this.#writer);
      for (const note of unfilled) logger.warn(`controller ${this.#label}: ${note}`);
    };
    this.#running = new RunningPipeline({
      ...{ operator, spec, targetPath, plan, inputs, kinds, manager, growth },
      ...{ redaction, listener, whenFilled },
    });
    this.#add(this.#running);
  }

  #add({ controller, requires }: RunningPipeline): void {
    this.#added = this.#options.manager.add(controller, { requires });
    this.#changed();
  }

  #findKinds(): Promise<ResolvedKinds> {
    const { operator, spec, manager } = this.#options;
    const { client, views } = manager;
    return resolveKinds(this.#compiled.inputs, spec, { operator, client, views });
  }

  /**
   * Looks up the controller's kinds again while one of them is not served: its CRD may have been replaced by one with
   * another version, scope or plural. Restarts the controller if so.
   */
  async #lookAgain(): Promise<void> {
    if (this.#isLooking || this.#ending.signal.aborted) return;
    this.#isLooking = true;
    try {
      const kinds = await this.#findKinds();
      const isNew = !deepEqual(kinds, this.#running?.kinds);
      if (isNew) await this.#restart(() => this.#beginWith(kinds));
    } catch (error) {
      // No retry is needed here: while the kind is not served, the cache reports that repeatedly, and each report
      // causes another look-up.
      this.#options.logger.debug(`controller ${this.#label}: kinds not found`, { error });
    } finally {
      this.#isLooking = false;
    }
  }

  /**
   * Restarts a running controller. It then waits until the controllers that write its source views have written once.
   */
  #restart(again = () => this.#addAgain()): Promise<void> {
    if (this.#added === undefined) return Promise.resolve();
    const restarted = Promise.resolve(this.#starting).then(async () => {
      await this.#added?.remove();
      if (!this.#ending.signal.aborted) again();
    });
    // The caller handles the error; `stop` only waits for the end.
    this.#starting = Promise.allSettled([restarted]);
    return restarted;
  }

  #addAgain(): void {
    if (this.#running !== undefined) this.#add(this.#running);
  }

  #notFound(error: Error): void {
    const isNew = this.#problem?.message !== error.message;
    this.#problem = error;
    if (isNew) this.#report('warn', { stage: 'kinds' }, error);
    this.#changed();
  }

  /** Reports an error and logs it, if not too many errors came before it. */
  #report(level: 'warn' | 'error', ...error: Parameters<ReportedErrors['report']>): void {
    const message = this.#errors.report(...error);
    if (message !== undefined) this.#options.logger[level](`controller ${message}`);
  }

  /** Retries the look-up of its kinds until it succeeds. */
  async #keepBeginning(): Promise<void> {
    const { clock, random } = this.#options.manager;
    const delay = new ReconnectDelay(clock, random);
    try {
      do {
        await sleep(clock, delay.nextLook(), this.#ending.signal);
      } while (!(await this.#begin()));
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#notFound(asError(error));
    }
  }

  #listener(): RunningPipelineListener {
    return {
      failed: (failures) => {
        for (const failure of failures) this.#report('error', failure, failure.error);
      },
      troubled: (source, problem) => this.#report('warn', { stage: `source ${source}` }, problem),
      unserved: () => void this.#lookAgain(),
      changed: () => this.#changed(),
      writeFailed: (error, subject) => {
        // The queue logs only these two kinds of failures, so log conflicts and writes that have to wait here.
        const isLogged = ['error', 'terminal'].includes(failureKindOf(error));
        if (isLogged) this.#errors.report({ stage: 'target', subject }, error);
        else this.#report('warn', { stage: 'target', subject }, error);
      },
      writeRefused: (error, subject) => this.#report('error', { stage: 'target', subject }, error),
      slowed: (slowed, type) => void this.#slowed(slowed, type),
    };
  }

  async #slowed(slowed: SlowedWrite, type: ResourceType): Promise<void> {
    const { manager, logger } = this.#options;
    const error = await hotLoopError(slowed, type, manager.liveClient);
    logger.warn(`controller ${this.#label}: throttled, its own writes trigger it`, { error });
    this.#errors.report({ stage: 'target', subject: keyString(slowed.key) }, error);
    this.#changed();
  }

  /** While the controller waits for other controllers, its condition names them. */
  #othersChanged(): void {
    if (this.#running?.isFollowing === true || this.#ending.signal.aborted) return;
    if (this.#refresh()) this.#notify(this.#options.onStatus);
  }

  /** Notifies of a possible change of its status. */
  #changed(): void {
    this.#changes.notify();
    const { progress, trouble } = this.#writer;
    const isNews = progress !== this.#known.progress || trouble !== this.#known.trouble;
    this.#known = { progress, trouble };
    // Notify only of a change: each notification makes every waiting controller check all others.
    if (isNews) this.#options.manager.viewWriters.notify();
    if (this.#refresh()) this.#notify(this.#options.onStatus);
  }

  /** Why the controller can never start, apart from its `problems`. */
  get #refusal(): string | undefined {
    return isOperatorError(this.#problem, 'InvalidObject') ? this.#problem.message : undefined;
  }

  /** @returns whether a condition has changed */
  #refresh(): boolean {
    // Record now whether documents may hold data of Secrets: the controller that writes such data may be removed before
    // the data that other controllers derive from it.
    this.#mayHoldSecrets();
    const running = this.#running;
    const [problem] = this.problems;
    const refused =
      problem === undefined ? this.#refusal : describeProblem(problem, this.problems.length);
    const known = this.#problem?.message;
    const trouble = known === undefined ? running?.firstTrouble : `waits for its kinds: ${known}`;
    const troubleCount = known === undefined ? (running?.troubleCount ?? 0) : 1;
    const isFollowing = running?.isFollowing === true;
    const waiting = isFollowing ? undefined : 'waits for the first lists of its sources';
    const held = isFollowing
      ? running.firstWait
      : this.#options.manager.viewWriters.troubleOf(this.#writer);
    const throttled = running?.braked && feedsItself(running.braked);
    return this.#health.update({ refused, trouble, troubleCount, held, waiting, throttled });
  }

  /** A listener that throws must not stop the controller. */
  #notify(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#options.logger.error(`a listener to controller ${this.#label} threw`, { error });
    }
  }

  async #stop(cleanUp: 'orphan' | 'delete'): Promise<void> {
    this.#ending.abort(this.#stoppedError());
    this.#leaveWriters();
    this.#changes.notify();
    await this.#starting;
    await this.#added?.remove();
    if (cleanUp === 'orphan') return;
    const { operator, spec, manager } = this.#options;
    // Clean up even if this controller never ran: an earlier process may have written objects.
    await cleanUpTarget(spec, { operator, manager });
  }
}

function feedsItself({ object }: Braked): string {
  return `its own writes cause further writes, for example of ${object}; these writes are delayed`;
}

function describeProblem({ path, message }: SpecProblem, count: number): string {
  const where = path.length === 0 ? '' : `${formatSpecPath(path)}: `;
  return `${where}${message}${count > 1 ? ` (and ${count - 1} more)` : ''}`;
}
