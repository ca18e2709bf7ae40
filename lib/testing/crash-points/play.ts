import uniqWith from 'lodash/uniqWith.js';
import { deepEqual, describeObject } from '../../object/index.js';
import type { TypeMeta, ObjectReference, UnstructuredObject } from '../../object/index.js';
import {
  errorMessage,
  seededRandom,
  systemClock,
  OperatorError,
  VirtualClock,
} from '../../system/index.js';
import { deleteOwner, findLeftOvers, findObject, recordCreations } from '../left-overs.js';
import { observe } from './cluster-state.js';
import type { ClusterState } from './cluster-state.js';
import { describeRequest, startStep } from './crash-point.js';
import type { CrashProblem, CrashRequest, Interruption } from './crash-point.js';
import type { CrashCluster, CrashStage, CrashStep, ResolvedScenario } from './crash-scenario.js';
import { OperatorLife, RequestTrace, isFailure } from './operator-life.js';
import { letTimePass, letWorkHappen } from './handlers.js';

export interface PlayedStep {
  readonly name: string;
  readonly requests: readonly CrashRequest[];
  /** The state after the step. */
  readonly state: ClusterState;
}

/** The result of a run. */
export interface Played {
  /** The setup, without a name, and the steps that were completed. */
  readonly steps: readonly PlayedStep[];
  readonly requests: readonly CrashRequest[];
  readonly interruptedAt: CrashRequest | undefined;
  /** The kinds of the objects that the operator has written. */
  readonly writtenKinds: readonly TypeMeta[];
  /** Problems found without a comparison; the run ends at the first step with a problem. */
  readonly problems: readonly CrashProblem[];
}

// Time for reactions to the last write to begin, in milliseconds.
const calmMs = 1_000;
const shutdownMs = 60_000;
/** If the scenario's clock is virtual: the real time, by the system clock, that a request gets for its I/O. */
const longestIoMs = 500;
/**
 * The minimum number of turns of the event loop for the I/O. A process that was suspended needs them, although time
 * has passed.
 */
const fewestTurns = 20;

/** Ends a run with a problem. */
class PlayEnded extends Error {
  readonly problem: CrashProblem;

  constructor(problem: CrashProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** One run of a scenario on its own cluster, interrupted at `point`, or uninterrupted without it. */
export class Play<C extends CrashCluster> {
  readonly #scenario: ResolvedScenario<C>;
  readonly #point: Interruption | undefined;
  readonly #stage: CrashStage<C>;
  readonly #trace: RequestTrace;
  readonly #played: PlayedStep[] = [];
  readonly #endings: Promise<void>[] = [];
  readonly #created: ObjectReference[] = [];
  #life: OperatorLife;
  #lives = 0;
  /** The owner of `leftOvers`, as read after the last step in which it existed. */
  #owner: UnstructuredObject | undefined;
  /** The progress of the requests, when it was first seen, and the number of checks since then. */
  #seen = { progress: -1, sinceMs: 0, turns: 0 };
  #isFailureChecked = false;
  #failure: { readonly error: unknown } | undefined;

  private constructor(scenario: ResolvedScenario<C>, point: Interruption | undefined, cluster: C) {
    this.#scenario = scenario;
    this.#point = point;
    this.#stage = { cluster, client: cluster.client() };
    this.#trace = new RequestTrace(point, scenario.ignoredKinds);
    this.#life = this.#newLife();
  }

  static async run<C extends CrashCluster>(
    scenario: ResolvedScenario<C>,
    point?: Interruption,
  ): Promise<Played> {
    const cluster = await scenario.cluster();
    try {
      const play = new Play(scenario, point, cluster);
      return await play.#run().finally(() => scenario.teardown?.(play.#stage));
    } finally {
      await cluster.stop();
    }
  }

  async #run(): Promise<Played> {
    const problems: CrashProblem[] = [];
    try {
      await this.#steps();
      await this.#restart();
      await this.#deleteOwner();
      await this.#end();
    } catch (error) {
      if (!(error instanceof PlayEnded)) throw error;
      problems.push(error.problem);
    } finally {
      await this.#die();
    }
    const { requests, interruptedAt } = this.#trace;
    const writtenKinds = this.#writtenKinds();
    return { steps: this.#played, requests, interruptedAt, writtenKinds, problems };
  }

  async #steps(): Promise<void> {
    const { setup, steps } = this.#scenario;
    await setup?.(this.#stage);
    this.#played.push({ name: '', requests: [], state: await this.#observe() });
    const start = { name: startStep, change: async () => this.#live(), until: async () => true };
    for (const step of [start, ...steps]) {
      await this.#step(step);
      // End here: the state after this step is compared, and from an equal state the remaining steps would be
      // the same as in the uninterrupted run.
      if (this.#trace.interruptedAt !== undefined) return;
    }
    this.#checkReached();
  }

  #checkReached(): void {
    // With a real clock, the requests of two runs may differ.
    if (this.#point === undefined || !(this.#stage.cluster.clock instanceof VirtualClock)) return;
    const { step, request } = this.#point;
    const problem = `the uninterrupted run sends request ${request} in ${step}, this one does not`;
    const remedy = 'use only the clock and random of the stage, and keep nothing between runs';
    throw ended('notReached', `${problem}: ${remedy}`);
  }

  async #step(step: CrashStep<C>): Promise<void> {
    const { name } = step;
    const { requests: before } = this.#trace;
    const count = before.length;
    this.#trace.begin(name);
    await step.change(this.#stage);
    await this.#converge(step);
    await this.#stayCalm(
      this.#scenario.steadyMs,
      (names, count) =>
        `${name}: ${count} writes after the step was complete: ${names} (or does its «until» hold before all work is done?)`,
    );
    await this.#checkInvariant(name);
    const requests = this.#trace.requests.slice(count);
    this.#played.push({ name, requests, state: await this.#observe() });
    const { leftOvers } = this.#scenario;
    if (leftOvers === undefined) return;
    this.#owner = (await findObject(this.#stage.client, leftOvers.owner)) ?? this.#owner;
  }

  /** Waits until the step is complete, the cluster has settled and the operator writes no more. */
  async #converge({ name, until }: CrashStep<C>): Promise<void> {
    const { cluster } = this.#stage;
    const deadlineMs = cluster.clock.monotonicMs() + this.#scenario.timeoutMs;
    for (;;) {
      // Checks again after the deadline, because the last move of the clock may span the whole timeout.
      const isLast = cluster.clock.monotonicMs() >= deadlineMs;
      const why = await this.#whyNot(until);
      if (why === undefined) {
        await cluster.settled?.();
        const { length } = this.#trace.writes;
        await this.#pass(calmMs);
        const isCalm = this.#trace.writes.length === length;
        if (isCalm && (await this.#whyNot(until)) === undefined) return;
      } else if (!isLast) {
        await this.#moment(deadlineMs - cluster.clock.monotonicMs());
      }
      if (!isLast) continue;
      const reason = why ?? this.#goesOn().message;
      const waited = `after ${this.#scenario.timeoutMs / 1_000} s`;
      throw ended(
        'notConverged',
        `${name} was not carried out ${waited}: ${reason}${this.#stuck()}`,
      );
    }
  }

  async #whyNot(until: CrashStep<C>['until']): Promise<string | undefined> {
    await this.#work();
    try {
      const holds = await until(this.#stage);
      return holds === false ? '«until» is false' : undefined;
    } catch (error) {
      return errorMessage(error);
    }
  }

  /** Waits for `ms`. @throws PlayEnded: the operator wrote something. */
  async #stayCalm(ms: number, messageOf: (names: string, count: number) => string): Promise<void> {
    const { length } = this.#trace.writes;
    await this.#pass(ms);
    const writes = this.#trace.writes.slice(length);
    if (writes.length === 0) return;
    const names = writes.slice(0, 5).map(describeRequest).join(', ');
    throw ended('writesWhenConverged', messageOf(names, writes.length));
  }

  async #checkInvariant(step: string): Promise<void> {
    try {
      await this.#scenario.invariant?.(this.#stage);
    } catch (error) {
      const message = errorMessage(error);
      throw ended('invariant', `${step}: ${message}`);
    }
  }

  /** Starts the operator again, and checks that it writes nothing, since all work is done. */
  async #restart(): Promise<void> {
    await this.#die();
    this.#trace.begin('restart');
    this.#life = this.#newLife();
    this.#live();
    await this.#stayCalm(
      calmMs,
      (names) => `restarted after all work was done, the operator writes: ${names}`,
    );
  }

  /** Deletes the owner, and checks that no object created for it is left. */
  async #deleteOwner(): Promise<void> {
    const { leftOvers, ignoredKinds, timeoutMs, steadyMs } = this.#scenario;
    if (leftOvers === undefined) return;
    const { owner: reference, keep } = leftOvers;
    const { client, cluster } = this.#stage;
    const { clock } = cluster;
    if (this.#owner === undefined) {
      // The run ended before the step that creates the owner.
      if (this.#trace.interruptedAt !== undefined) return;
      const message = `leftOvers.owner: ${describeObject(reference)} does not exist after any step; correct it`;
      throw new OperatorError('InvalidOption', `${this.#scenario.name}: ${message}`);
    }
    this.#trace.begin('deletion');
    await deleteOwner(client, reference);
    const deleted = { reference, live: this.#owner };
    const startMs = clock.monotonicMs();
    let writes = 0;
    for (let calmSinceMs = startMs; ;) {
      await this.#pass(calmMs);
      await cluster.settled?.();
      const created = this.#created.filter(({ kind }) => !ignoredKinds.includes(kind));
      const left = await findLeftOvers(client, { deleted, created, keep });
      if (left.length === 0) return;
      const nowMs = clock.monotonicMs();
      if (this.#trace.writes.length !== writes) calmSinceMs = nowMs;
      writes = this.#trace.writes.length;
      if (nowMs - calmSinceMs < steadyMs && nowMs - startMs < timeoutMs) continue;
      const message = `${(nowMs - startMs) / 1_000} s after the owner was deleted: ${left.join('; ')}`;
      throw ended('leftOver', message);
    }
  }

  /** Waits until all runs of the operator have ended. */
  async #end(): Promise<void> {
    await this.#die();
    const { clock } = this.#stage.cluster;
    let left = this.#endings.length;
    for (const ending of this.#endings) void ending.then(() => (left -= 1));
    const deadlineMs = clock.monotonicMs() + shutdownMs;
    while (left > 0) {
      if (clock.monotonicMs() >= deadlineMs) {
        throw ended(
          'notConverged',
          `the operator did not end ${shutdownMs / 1_000} s after its signal was aborted`,
        );
      }
      await letTimePass(clock, deadlineMs - clock.monotonicMs());
    }
  }

  async #pass(ms: number): Promise<void> {
    const { clock } = this.#stage.cluster;
    const endMs = clock.monotonicMs() + ms;
    await this.#work();
    while (clock.monotonicMs() < endMs) await this.#moment(endMs - clock.monotonicMs());
  }

  async #moment(maxMs: number): Promise<void> {
    this.#trace.timePasses();
    await letTimePass(this.#stage.cluster.clock, Math.max(maxMs, 1));
    await this.#work();
  }

  /** Lets the operator do the work that is due now; restarts it after a crash. */
  async #work(): Promise<void> {
    const { clock } = this.#stage.cluster;
    let isNew: boolean;
    do {
      await letWorkHappen(clock);
      if (this.#trace.isHot) throw this.#goesOn();
      isNew = this.#life.isDead;
      if (isNew) await this.#rise();
      else await this.#checkAfterFailure();
      // An answer can take real time (zlib has its own threads), and so can the start of a new operator.
    } while (clock instanceof VirtualClock && (isNew || (await this.#needsRealTime())));
    if (this.#failure === undefined) return;
    const { error } = this.#failure;
    const why = (error instanceof Error && error.stack) || errorMessage(error);
    throw ended('notConverged', `the operator ended by itself: ${why}`);
  }

  async #needsRealTime(): Promise<boolean> {
    if (this.#life.isDead || this.#isBusy()) return true;
    // A call to another process takes real time, and virtual time must not overtake it.
    return this.#life.handlers.letRealTimePass();
  }

  /** Returns true while requests are under way, unless they need time of the scenario's clock, such as latency. */
  #isBusy(): boolean {
    const { isIdle, progress } = this.#trace;
    const nowMs = systemClock.monotonicMs();
    if (progress !== this.#seen.progress) this.#seen = { progress, sinceMs: nowMs, turns: 0 };
    this.#seen.turns++;
    const { sinceMs, turns } = this.#seen;
    return !isIdle && (turns < fewestTurns || nowMs - sinceMs < longestIoMs);
  }

  /** Checks the invariant right after a failed request, before the operator retries. */
  async #checkAfterFailure(): Promise<void> {
    const { interruptedAt } = this.#trace;
    if (interruptedAt === undefined || this.#isFailureChecked) return;
    if (this.#point === undefined || !isFailure(this.#point.mode)) return;
    this.#isFailureChecked = true;
    await this.#checkInvariant(`${interruptedAt.step}, at the failure`);
  }

  /** Names the handlers that have not ended. */
  #stuck(): string {
    const { keys } = this.#life.handlers;
    if (keys.length === 0) return '';
    const remedy = 'let each call outside of the cluster end within 5 s of real time';
    return `; the reconcile of ${keys.join(', ')} has not ended: ${remedy}`;
  }

  #goesOn(): PlayEnded {
    const last = this.#trace.requests.slice(-3).map(describeRequest).join(', ');
    return ended('notConverged', `the operator does not settle; its last requests: ${last}`);
  }

  async #rise(): Promise<void> {
    const { clock } = this.#stage.cluster;
    this.#life.kill();
    // The requests of the stopped operator must arrive before the next operator starts.
    do await letWorkHappen(clock);
    while (clock instanceof VirtualClock && this.#isBusy());
    while (clock instanceof VirtualClock && !this.#trace.isIdle) await letTimePass(clock, calmMs);
    await this.#die();
    await this.#checkInvariant(`${this.#trace.interruptedAt?.step ?? ''}, at the crash`);
    // Starting a process takes time, so the count of requests at one moment begins again.
    this.#trace.timePasses();
    this.#life = this.#newLife();
    this.#live();
  }

  /** Kills the operator, and waits until its handlers have ended, so that none runs when the next operator starts. */
  async #die(): Promise<void> {
    this.#life.kill();
    do await letWorkHappen(this.#stage.cluster.clock);
    while (await this.#life.handlers.letRealTimePass());
  }

  #newLife(): OperatorLife {
    const { mode = 'answered' } = this.#point ?? {};
    const own = this.#stage.cluster.client({ user: 'operator' });
    const client = recordCreations(own, this.#created);
    return new OperatorLife({ client, trace: this.#trace, mode });
  }

  #live(): void {
    const life = this.#life;
    const { cluster } = this.#stage;
    const random = seededRandom(++this.#lives);
    const { client, signal } = life;
    const stage = { cluster, client, signal, clock: cluster.clock, random };
    const ended = (error: unknown): void => {
      if (!life.signal.aborted && !life.isDead) this.#failure ??= { error };
    };
    const running = life.run(() => this.#scenario.operator(stage));
    this.#endings.push(running.then(() => ended('its promise resolved'), ended));
  }

  #observe(): Promise<ClusterState> {
    const { client, cluster } = this.#stage;
    const { kinds, comparable } = this.#scenario;
    const all = [...kinds, ...this.#writtenKinds()];
    return observe({ client, comparable, namespace: cluster.namespace, kinds: all });
  }

  #writtenKinds(): readonly TypeMeta[] {
    const types = this.#trace.writes.map(({ apiVersion, kind }) => ({ apiVersion, kind }));
    return uniqWith(types, deepEqual);
  }
}

function ended(type: CrashProblem['type'], message: string): PlayEnded {
  return new PlayEnded({ type, message });
}
