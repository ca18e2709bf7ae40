import { controllerFor } from '../../lib/controller/controller.js';
import type { Controller } from '../../lib/controller/controller.js';
import { done } from '../../lib/controller/result.js';
import type { EmbeddedClusterOptions } from '../../lib/apiserver/cluster/embedded-cluster-options.js';
import { EmbeddedCluster } from '../../lib/apiserver/cluster/embedded-cluster.js';
import type { ConnectedClient } from '../../lib/client/http-client.js';
import type { Leadership, LeadershipCallbacks } from '../../lib/manager/leader-election.js';
import { Manager } from '../../lib/manager/manager.js';
import type { ManagerOptions } from '../../lib/manager/manager-options.js';
import type { Runnable, RunnablePhase } from '../../lib/manager/runnable.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { systemClock } from '../../lib/system/clock.js';
import type { LogFields, Logger } from '../../lib/system/logger.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

/** A logged line. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** Returns a logger that records its lines. */
export function rememberingLogger(lines: LogLine[], fixed: LogFields = {}): Logger {
  const note =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push({ level, message, fields: { ...fixed, ...fields } });
  return {
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
    child: (fields) => rememberingLogger(lines, { ...fixed, ...fields }),
  };
}

/** A cluster and managers with a virtual clock. */
export class ManagerSetup {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster;
  readonly client: ConnectedClient;
  readonly person: ConnectedClient;
  readonly stop = new AbortController();
  readonly lines: LogLine[] = [];
  running: Promise<unknown> = Promise.resolve();

  private constructor(clock: VirtualClock, cluster: EmbeddedCluster) {
    this.clock = clock;
    this.cluster = cluster;
    this.client = cluster.client({ user: 'operator' });
    this.person = cluster.client({ user: 'system:admin' });
  }

  static async start(options: EmbeddedClusterOptions = {}): Promise<ManagerSetup> {
    const clock = new VirtualClock();
    return new ManagerSetup(clock, await EmbeddedCluster.start({ ...options, clock }));
  }

  manager(options: Partial<ManagerOptions> = {}): Manager {
    const { client, clock } = this;
    const home = options.clusters === undefined ? { client } : {};
    return new Manager({ ...home, clock, logger: rememberingLogger(this.lines), ...options });
  }

  /** Starts the manager. `end` resolves with its error. */
  async run(manager: Manager): Promise<void> {
    this.running = manager.run(this.stop.signal).catch((error: unknown) => error);
    await this.clock.advance(0);
  }

  /**
   * Lets pending work run without advancing time until `condition` holds, for at most ten seconds
   * of real time.
   */
  async until(condition: () => boolean): Promise<void> {
    const endMs = systemClock.monotonicMs() + 10_000;
    while (!condition()) {
      if (systemClock.monotonicMs() > endMs) throw new Error(`in vain: ${String(condition)}`);
      await this.clock.advance(0);
    }
  }

  /** Stops the manager and the cluster. @returns the error of the manager, or undefined */
  async end(): Promise<unknown> {
    this.stop.abort();
    const over = { isOver: false };
    void this.running.then(() => (over.isOver = true));
    for (let n = 0; n < 100 && !over.isOver; n++) await this.clock.advance(1_000);
    const error = await this.running;
    await this.cluster.stop();
    return error;
  }

  /** Returns the messages logged at a level. */
  logged(level: string): string[] {
    return this.lines.filter((line) => line.level === level).map(({ message }) => message);
  }

  async create(name: string): Promise<void> {
    await this.person.create(configMap(name));
  }
}

/** Returns a ConfigMap in the namespace `default`. */
export function configMap(name: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
}

/** Returns a controller that reconciles ConfigMaps and records their names. */
export function watcher(seen: string[], name = 'watcher'): Controller {
  return controllerFor(ConfigMap)
    .withOptions({ name })
    .complete(async ({ key }) => {
      seen.push(key.name);
      return done();
    });
}

/** Returns a runnable that records its start and its end. */
export function recorder(name: string, phase: RunnablePhase, log: string[]): Runnable {
  return {
    ...{ name, phase },
    run: async (context) => {
      log.push(`${name} starts`);
      context.ready();
      await aborted(context.signal);
      log.push(`${name} ends`);
    },
  };
}

/** Resolves when `signal` is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A leadership that the spec grants and revokes. */
export class ScriptedLeadership implements Leadership {
  isLeader = false;
  /** The calls so far, in order. */
  readonly log: string[] = [];
  readonly fence = {
    check: (what: string): void => {
      if (!this.isLeader) throw new OperatorError('Fenced', `${what}: not the leader`);
    },
  };
  #callbacks: LeadershipCallbacks | undefined;
  #lost: ((error: unknown) => void) | undefined;

  async run(callbacks: LeadershipCallbacks, signal: AbortSignal): Promise<void> {
    this.#callbacks = callbacks;
    this.log.push('candidate');
    try {
      await Promise.race([
        aborted(signal),
        new Promise((_resolve, reject: (error: unknown) => void) => (this.#lost = reject)),
      ]);
    } finally {
      this.#callbacks = undefined;
    }
    this.isLeader = false;
    this.log.push('released');
  }

  lead(): void {
    this.isLeader = true;
    this.#callbacks?.onNewLeader('me');
    this.#callbacks?.onStartedLeading();
  }

  /** Ends the leadership with an error, without a call of `onStoppedLeading`. */
  fail(): void {
    this.isLeader = false;
    this.#lost?.(new OperatorError('LeadershipLost', 'the election is broken'));
  }

  lose(): void {
    this.isLeader = false;
    this.#callbacks?.onStoppedLeading();
    this.#lost?.(new OperatorError('LeadershipLost', 'the lease is gone'));
  }
}
