import { ChangeNotifier } from '../../cache/change-notifier.js';
import { ReconnectDelay } from '../../cache/reconnect-delay.js';
import type { Added } from '../../manager/manager-entries.js';
import { keyString } from '../../object/object-key.js';
import { asError } from '../../system/as-error.js';
import { sleep } from '../../system/clock.js';
import type { ResourceType } from '../../object/resource-type.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { OperatorError, isOperatorError } from '../../system/operator-error.js';
import { InvalidSpecError } from '../spec/invalid-spec-error.js';
import { formatSpecPath } from '../spec-problem.js';
import type { SpecProblem } from '../spec-problem.js';
import type { ControllerSpec } from '../spec/operator-spec.js';
import type { ViewWriter } from '../views/view-writers.js';
import { asViewWriter, cannotRun } from './as-view-writer.js';
import { checkCleanUp, cleanUpTarget } from './clean-up-target.js';
import { compileController } from '../spec/compile-controller.js';
import type { CompiledController } from '../spec/compile-controller.js';
import { ControllerHealth } from './controller-health.js';
import type { DeclarativeControllerStatus, ReportedError } from './controller-status.js';
import { resolveDeclarativeControllerOptions } from './declarative-controller-options.js';
import type {
  DeclarativeControllerOptions,
  ResolvedDeclarativeControllerOptions,
} from './declarative-controller-options.js';
import type { Braked } from './feedback-brake.js';
import { hotLoopError } from './hot-loop-report.js';
import { Redaction } from './redaction.js';
import { ReportedErrors } from './reported-errors.js';
import { resolveKinds } from './resolve-kinds.js';
import { RunningPipeline } from './running-pipeline.js';
import type { RunningPipelineListener } from './running-pipeline.js';
import type { SlowedWrite } from './target-reconciler.js';

/** Options of {@link DeclarativeController.stop}. */
export interface StopControllerOptions {
  /** `delete`: what it wrote goes; `orphan`: it stays. @defaultValue 'orphan' */
  readonly cleanUp?: 'orphan' | 'delete' | undefined;
}

/**
 * A controller of a declarative operator: it follows its sources, runs each change through its pipeline
 * and writes what comes out.
 *
 * ## Flow
 * Its kinds are found, and it is added to the manager: leader election, queue, back-off, hot-loop
 * detector, metrics and inspector are the manager's. When all sources are there, a full pass compares
 * what is wanted with what is live; from then on each change costs what it touches.
 *
 * ## Guarantees
 * - Nothing is written before all sources are there, and before all controllers that fill the views
 *   which it reads have written once. If one of them can't be run it waits, and says for whom: nothing is
 *   taken away because something is not known. What is as it should be is not written.
 * - What others change or delete in the target is undone at once. In a steady state there are no calls.
 * - A write that fails is tried again, with what is wanted by then.
 * - Data that does not fit leaves its document out, is reported, and stops nothing else.
 *
 * ## Caveats
 * - Its keys can't be shared by replicas: only the leader writes. The others keep their pipelines up
 *   to date, and begin with a full pass when they lead.
 * - To undo drift at once it watches the kind of its target as a whole: its objects are in memory.
 */
export class DeclarativeController {
  /** What its specification lacks: with any of them it does not run. */
  readonly problems: readonly SpecProblem[];
  /** What works, but not well. */
  readonly warnings: readonly SpecProblem[];
  readonly #options: ResolvedDeclarativeControllerOptions;
  readonly #compiled: CompiledController;
  readonly #errors: ReportedErrors;
  readonly #health: ControllerHealth;
  readonly #changes = new ChangeNotifier();
  readonly #ending = new AbortController();
  readonly #writer: ViewWriter;
  readonly #leaveWriters: () => void;
  #hidesValues: boolean;
  readonly #redaction = new Redaction(() => this.#mayHoldSecrets());
  #starting: Promise<unknown> | undefined;
  #running: RunningPipeline | undefined;
  #added: Added | undefined;
  /** Why its kinds are not known. */
  #problem: Error | undefined;
  #stopped: Promise<void> | undefined;

  /** Compiles; what is wrong with the specification is in `problems`, not thrown. */
  constructor(options: DeclarativeControllerOptions) {
    this.#options = resolveDeclarativeControllerOptions(options);
    const { operator, spec, specPath, clock, random, showValues } = this.#options;
    this.#compiled = compileController(spec, specPath, { clock, random, showValues });
    this.problems = this.#compiled.problems;
    this.warnings = this.#compiled.warnings;
    const onError = (error: ReportedError): void => this.#tell(() => options.onError(error));
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
    });
    // Before it starts: others may be quicker. And if it can't: they are not to take it for silence.
    const { viewWriters } = this.#options.manager;
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
   * Begins, once: it is added to the manager as soon as its kinds are known. Resolves when that is so,
   * or has to wait: a kind that is not served is looked for again and again. With `problems` it does
   * nothing.
   * @throws OperatorError `AlreadyStarted`: it was started before.
   * @throws OperatorError `InvalidOption`: the manager has a controller of its name.
   * @throws OperatorError `Stopped`: it was stopped, or the manager was.
   */
  async start(): Promise<void> {
    if (this.#starting !== undefined) {
      throw new OperatorError('AlreadyStarted', `controller ${this.name} was started before`);
    }
    if (this.#ending.signal.aborted) throw this.#stoppedError();
    if (this.#compiled.plan === undefined) return;
    const first = this.#begin();
    this.#starting = first.catch(() => undefined); // The caller hears of it.
    if (await first) return;
    this.#starting = this.#keepBeginning();
  }

  /**
   * Ends it: what is being written may end within the manager's `gracefulShutdownMs`. Resolves when
   * nothing of it goes on, and with `delete` when what it wrote is gone, in earlier processes, too. A
   * second call waits for the first.
   * @throws with `delete`: why its kind could not be looked up, or what could not be taken away; all else
   * is.
   */
  async stop(options: StopControllerOptions = {}): Promise<void> {
    const { cleanUp = 'orphan' } = options;
    refuseUnknownOptions<StopControllerOptions>(`stop ${this.#label}`, options, { cleanUp });
    checkCleanUp(cleanUp);
    this.#stopped ??= this.#stop(cleanUp);
    return this.#stopped;
  }

  /** How it is doing. */
  status(): DeclarativeControllerStatus {
    this.#refresh();
    const lastErrors = this.#errors.all().map(({ message }) => message);
    const { conditions } = this.#health;
    return { name: this.name, problems: this.problems, conditions, lastErrors };
  }

  /** The last ten errors, the newest last. */
  reportErrors(): readonly ReportedError[] {
    return this.#errors.all();
  }

  /**
   * Resolves when its first full pass is written: what existed when it started has been dealt with.
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

  /** Why nothing that it writes is to be seen, as those ask who read it. */
  get #trouble(): string | undefined {
    if (this.#progress === 'unable') return cannotRun;
    return this.#problem?.message ?? this.#running?.firstTrouble;
  }

  /** Once hidden, values stay hidden: what may be a Secret's may be here for longer than its source. */
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

  /** @returns false: a kind is not known yet */
  async #begin(): Promise<boolean> {
    const { plan, inputs } = this.#compiled;
    const { operator, spec, specPath, manager, clock, growth } = this.#options;
    if (plan === undefined) return true;
    const { client, views, targetWrites: writes } = manager;
    try {
      const kinds = await resolveKinds(inputs, spec, { operator, client, views });
      this.#problem = undefined;
      if (this.#ending.signal.aborted) return true;
      const listener = this.#listener();
      const redaction = this.#redaction;
      const targetPath = [...specPath, 'target'];
      const whenFilled = (signal: AbortSignal): Promise<void> =>
        manager.viewWriters.whenWritten(this.#writer, signal);
      const namespaces = manager.namespacesOf(kinds.target);
      this.#running = new RunningPipeline({
        ...{ namespaces, views, writes, clock, growth },
        ...{ operator, spec, targetPath, plan, inputs, kinds, redaction, listener, whenFilled },
      });
    } catch (error) {
      this.#notFound(asError(error));
      // No time will make a name of what is none.
      return isOperatorError(error, 'InvalidObject');
    }
    const { controller, requires } = this.#running;
    this.#added = manager.add(controller, { requires });
    this.#changed();
    return true;
  }

  #notFound(error: Error): void {
    const isNew = this.#problem?.message !== error.message;
    this.#problem = error;
    if (isNew) this.#errors.report({ stage: 'sources' }, error);
    this.#changed();
  }

  /** Looks for its kinds until they are there. */
  async #keepBeginning(): Promise<void> {
    const { clock, random } = this.#options;
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
        for (const failure of failures) this.#errors.report(failure, failure.error);
      },
      troubled: (source, problem) => this.#errors.report({ stage: `source ${source}` }, problem),
      changed: () => this.#changed(),
      writeFailed: (error, subject) => this.#errors.report({ stage: 'target', subject }, error),
      slowed: (slowed, type) => void this.#slowed(slowed, type),
    };
  }

  async #slowed(slowed: SlowedWrite, type: ResourceType): Promise<void> {
    const { manager, logger } = this.#options;
    const error = await hotLoopError(slowed, type, manager.liveClient);
    logger.warn(`controller ${this.#label} feeds itself: slowed down`, { error });
    this.#errors.report({ stage: 'target', subject: keyString(slowed.key) }, error);
    this.#changed();
  }

  /** As long as it waits for others, its condition says for which. */
  #othersChanged(): void {
    if (this.#running?.isFollowing === true || this.#ending.signal.aborted) return;
    if (this.#refresh()) this.#tell(this.#options.onStatus);
  }

  /** What can be asked of it may have changed. */
  #changed(): void {
    this.#changes.notify();
    this.#options.manager.viewWriters.notify();
    if (this.#refresh()) this.#tell(this.#options.onStatus);
  }

  /** Why it can never begin, beside its `problems`. */
  get #refusal(): string | undefined {
    return isOperatorError(this.#problem, 'InvalidObject') ? this.#problem.message : undefined;
  }

  /** @returns whether the condition has changed */
  #refresh(): boolean {
    // Now: who brought data of Secrets may be gone later, before what came of them.
    this.#mayHoldSecrets();
    const running = this.#running;
    const [problem] = this.problems;
    const refused =
      problem === undefined ? this.#refusal : describeProblem(problem, this.problems.length);
    const known = this.#problem?.message;
    const trouble = known === undefined ? running?.firstTrouble : `waits for its kinds: ${known}`;
    const troubleCount = known === undefined ? (running?.troubleCount ?? 0) : 1;
    const isFollowing = running?.isFollowing === true;
    const waiting = isFollowing ? undefined : 'waits until all its sources are there';
    const held = isFollowing
      ? undefined
      : this.#options.manager.viewWriters.troubleOf(this.#writer);
    const throttled = running?.braked && feedsItself(running.braked);
    return this.#health.update({ refused, trouble, troubleCount, held, waiting, throttled });
  }

  /** A listener that throws must not stop what it is told of. */
  #tell(listener: () => void): void {
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
    // Whether it ran or not: an earlier process may have.
    await cleanUpTarget(spec, { operator, manager });
  }
}

function feedsItself({ object }: Braked): string {
  return `its own writes make it write again, ${object} for example: such writes wait longer and longer`;
}

function describeProblem({ path, message }: SpecProblem, count: number): string {
  const where = path.length === 0 ? '' : `${formatSpecPath(path)}: `;
  return `${where}${message}${count > 1 ? ` (and ${count - 1} more)` : ''}`;
}
