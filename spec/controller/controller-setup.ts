import { Cache } from '../../lib/cache/cache.js';
import { cachedClient } from '../../lib/cache/cached-client.js';
import type { Client } from '../../lib/client/client.js';
import type { Controller } from '../../lib/controller/controller.js';
import type { ControllerEvent } from '../../lib/controller/outcome.js';
import type { ControllerRuntime } from '../../lib/controller/options.js';
import type { RunningController } from '../../lib/controller/running-controller.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../lib/object/resource-type.js';
import type { LogFields, Logger } from '../../lib/system/logger.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeServer } from '../cache/fake-server.js';

/** The kind that a Thing owns. */
export interface Part extends KubernetesObject {
  data?: Record<string, string>;
}

/** The resource under which the fake server serves a Part. */
export const Part: ResourceType<Part> = {
  group: '',
  version: 'v1',
  kind: 'Part',
  plural: 'parts',
  namespaced: true,
};

/** A captured log line. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** Controllers on a cache on two fake servers, one for Things and one for Parts. */
export class ControllerSetup {
  readonly clock = new VirtualClock();
  readonly things = new FakeServer();
  readonly parts = new FakeServer(Part);
  readonly client = this.#routed();
  readonly cache = new Cache({
    client: this.client,
    clock: this.clock,
    random: seededRandom(1),
    logger: this.logger(),
  });
  readonly cached = cachedClient(this.client, this.cache, { clock: this.clock });
  readonly events: ControllerEvent[] = [];
  readonly logged: LogLine[] = [];

  /** Starts the controller and waits until it reconciles. */
  async start(
    controller: Controller,
    runtime: Partial<ControllerRuntime> = {},
  ): Promise<RunningController> {
    const running = controller.start({
      client: this.cached,
      cache: this.cache,
      clock: this.clock,
      random: seededRandom(2),
      logger: this.logger(),
      onEvent: (event) => this.events.push(event),
      ...runtime,
    });
    this.cache.start();
    await this.clock.advance(0);
    return running;
  }

  async stop(running: RunningController): Promise<void> {
    await Promise.all([running.stop(0), this.clock.advance(2_000)]);
    await this.cache.stop();
  }

  /** Returns the messages that were logged at a level. */
  lines(level: LogLine['level']): string[] {
    return this.logged.filter((line) => line.level === level).map(({ message }) => message);
  }

  logger(fixed: LogFields = {}): Logger {
    const note =
      (level: LogLine['level']) =>
      (message: string, fields: LogFields = {}): void =>
        void this.logged.push({ level, message, fields: { ...fixed, ...fields } });
    return {
      debug: note('debug'),
      info: note('info'),
      warn: note('warn'),
      error: note('error'),
      child: (fields) => this.logger({ ...fixed, ...fields }),
    };
  }

  #routed(): Client {
    const [things, parts] = [this.things.client(), this.parts.client()];
    const to = ({ kind }: { readonly kind: string }): Client => (kind === 'Part' ? parts : things);
    const client: Partial<Client> = {
      get: (type, key, options) => to(type).get(type, key, options),
      pages: (type, options) => to(type).pages(type, options),
      watch: (type, options) => to(type).watch(type, options),
      create: (object, options) => to(object).create(object, options),
      update: (object, options) => to(object).update(object, options),
      delete: (type, key, options) => to(type).delete(type, key, options),
    };
    return client as Client;
  }
}
