import type { EmbeddedApiServer } from '../../apiserver/index.js';
import type { Client, ConnectedClient } from '../../client/index.js';
import { createClient } from '../../client/index.js';
import type { ResourceType } from '../../object/index.js';
import type { Clock, Logger, Random } from '../../system/index.js';
import {
  refuseUnknownOptions,
  OperatorError,
  isOperatorError,
  systemClock,
} from '../../system/index.js';
import { routedClient, viewClient } from './view-client.js';
import { ViewKinds } from './view-kinds.js';

/** Options of {@link Views.start}. */
export interface ViewsOptions {
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Source of uids. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** Logs the warnings of the server of views. @defaultValue no logger */
  readonly logger?: Logger | undefined;
}

/**
 * The views of declarative operators: objects with any fields, which an API server in this process keeps
 * in memory. A kind is added when it is first requested or first written.
 *
 * ## Guarantees
 * - A view keeps its `uid` until it is deleted, and gets a new `resourceVersion` with each change.
 * - A watch begins with the existing objects, and ends when its kind is dropped. Its objects are shared
 *   and frozen.
 * - A view has a namespace or none; the namespace need not exist. Its name may be any string that is valid
 *   in a path, for example `web-TCP-80`; labels may have any values.
 *
 * ## Caveats
 * - Views end with the process, and a view that is created again has another `uid`. Do not write the `uid` of
 *   a view into an object of a cluster: each start would change that object.
 * - kubectl shows views without a namespace in `get -A` only: it requests a name within a namespace.
 * - Views have no garbage collection: `ownerReferences` are stored and have no effect.
 */
export class Views {
  /** The server that holds the views. */
  readonly server: EmbeddedApiServer;
  /** Reads and writes views; other kinds are unknown to it. */
  readonly client: Client;
  readonly #connected: ConnectedClient;
  readonly #kinds: ViewKinds;
  #stopped: Promise<void> | undefined;

  private constructor(server: EmbeddedApiServer, connected: ConnectedClient) {
    this.server = server;
    this.#connected = connected;
    this.#kinds = new ViewKinds(connected);
    this.client = viewClient(connected, this.#kinds);
  }

  /** Starts a server without views. */
  static async start(options: ViewsOptions = {}): Promise<Views> {
    const { clock, random, logger } = options;
    refuseUnknownOptions<ViewsOptions>('Views', options, { clock, random, logger });
    const EmbeddedApiServer = await apiServerClass();
    const server = new EmbeddedApiServer({
      ...(clock && { clock }),
      ...(random && { random }),
      looseCustomResources: true,
      requestLogLength: 1_000,
      logBytes: historyBytes,
      // Higher than every version of an earlier process, because clients may still send such a version.
      firstResourceVersion: Math.max(1, (clock ?? systemClock).now() * versionsPerMs),
    });
    const transport = server.transport(undefined, undefined, { sharesObjects: true });
    return new Views(server, createClient({ transport, clock, random, logger }));
  }

  /** Returns the served kinds of one operator, or of all. */
  types(operator?: string): readonly ResourceType[] {
    return this.#kinds.types(operator);
  }

  /**
   * Returns a client that reads and writes views here and everything else through `client`. It sends
   * nothing about views to `client`: neither discovery nor access reviews.
   */
  route(client: Client): Client {
    return routedClient(this.client, client);
  }

  /**
   * Serves a kind of views, if it is not served yet. Waits for a pending {@link Views.drop}.
   * @throws OperatorError `InvalidObject`: the operator or the kind is an invalid name, or another kind
   * has the same name in lower case.
   * @throws OperatorError `Stopped`: the views were stopped.
   */
  async ensure(operator: string, kind: string): Promise<ResourceType> {
    if (this.#stopped !== undefined) {
      const what = `view ${kind} of operator ${operator}`;
      throw new OperatorError('Stopped', `${what}: the views were stopped`);
    }
    return this.#kinds.ensure(operator, kind);
  }

  /**
   * Drops all views of an operator, despite finalizers, and their kinds; resolves when they are gone.
   * Their watches end. The kinds can be added again. Does nothing after `stop`.
   */
  async drop(operator: string): Promise<void> {
    try {
      if (this.#stopped !== undefined) return;
      await this.#kinds.drop(operator);
      // Forces watches that resume from an earlier version to list again.
      this.server.compact();
    } catch (error) {
      // Views that were stopped meanwhile are gone as well.
      if (!isOperatorError(error, 'Stopped')) throw error;
    }
  }

  /** Stops the server and all watches; later calls throw `Stopped`. A second call does nothing. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    await this.#connected.close();
    await this.server.stop();
  }
}

/** Resource versions per millisecond of the clock: more than a process can write. A version stays below 2 ** 53. */
const versionsPerMs = 1_000;

/** Maximum size of the history of all views, from which watches resume. */
const historyBytes = 64 * 1024 ** 2;

let loading: Promise<typeof EmbeddedApiServer> | undefined;

/**
 * Loads the API server on demand, since programs that only read operators do not need it. The import runs
 * once: each `import()` takes real time, for which a spec with a virtual clock cannot wait.
 */
function apiServerClass(): Promise<typeof EmbeddedApiServer> {
  loading ??= importApiServer();
  return loading;
}

async function importApiServer(): Promise<typeof EmbeddedApiServer> {
  const { EmbeddedApiServer } = await import('../../apiserver/index.js');
  return EmbeddedApiServer;
}
