import type { EmbeddedApiServer } from '../../apiserver/index.js';
import type { Client } from '../../client/client.js';
import { createClient } from '../../client/http-client.js';
import type { ConnectedClient } from '../../client/http-client.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { Clock } from '../../system/clock.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError, isOperatorError } from '../../system/operator-error.js';
import type { Random } from '../../system/random.js';
import { routedClient } from './routed-client.js';
import { viewClient } from './view-client.js';
import { ViewKinds } from './view-kinds.js';

/** Options of {@link Views.start}. */
export interface ViewsOptions {
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** Source of uids. @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** Gets the warnings of the server of views. @defaultValue none */
  readonly logger?: Logger | undefined;
}

/**
 * The views of declarative operators: objects of any form, kept in memory by an API server in this
 * process. Each kind is made when it is first asked for, or first written.
 *
 * ## Guarantees
 * - A view keeps its `uid` as long as it is there, and has a new `resourceVersion` after each change.
 * - A watch begins with what there is, and ends when its kind is dropped. Its objects are shared, and
 *   frozen.
 * - A view is in a namespace or in none; its namespace need not be there. Its name may be whatever
 *   can stand in a path, as `web-TCP-80`; labels may have any values.
 *
 * ## Caveats
 * - Views end with the process. One that is made again has another `uid`: don't write the `uid` of a
 *   view into an object of a cluster, or each start changes it.
 * - kubectl shows views of no namespace in `get -A` only: it asks for a name within a namespace.
 * - Nobody collects the dependents of a view: `ownerReferences` are kept, and do nothing.
 */
export class Views {
  /** What holds the views. */
  readonly server: EmbeddedApiServer;
  /** Reads and writes views; all else is unknown to it. */
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

  /** Starts without any views. */
  static async start(options: ViewsOptions = {}): Promise<Views> {
    const { clock, random, logger } = options;
    refuseUnknownOptions<ViewsOptions>('Views', options, { clock, random, logger });
    const { EmbeddedApiServer } = await apiServerModule();
    const server = new EmbeddedApiServer({
      ...(clock && { clock }),
      ...(random && { random }),
      looseCustomResources: true,
      requestLogLength: 1_000,
      logBytes: historyBytes,
    });
    const transport = server.transport(undefined, undefined, { sharesObjects: true });
    return new Views(server, createClient({ transport, clock, random, logger }));
  }

  /** The kinds of views that there are: of one operator, or of all. */
  types(operator?: string): readonly ResourceType[] {
    return this.#kinds.types(operator);
  }

  /**
   * A client that reads and writes views here, and all else by `client`. Of views `client` is asked
   * nothing: no discovery and no access.
   */
  route(client: Client): Client {
    return routedClient(this.client, client);
  }

  /**
   * Makes a kind of views, unless it is there. It waits for a {@link Views.drop} that is under way.
   * @throws OperatorError `InvalidObject`: the operator or the kind is no name, or its name in lower
   * case is another kind's. @throws OperatorError `Stopped`: they were stopped.
   */
  async ensure(operator: string, kind: string): Promise<ResourceType> {
    if (this.#stopped !== undefined) {
      const what = `view ${kind} of operator ${operator}`;
      throw new OperatorError('Stopped', `${what}: the views were stopped`);
    }
    return this.#kinds.ensure(operator, kind);
  }

  /**
   * Drops all views of an operator, whatever finalizers they have, and their kinds; resolves when they
   * are gone. Watches of them end. Kinds can be made again. Once they were stopped there are none.
   */
  async drop(operator: string): Promise<void> {
    try {
      if (this.#stopped !== undefined) return;
      await this.#kinds.drop(operator);
      // Watches that resume from before list again.
      this.server.compact();
    } catch (error) {
      // When they were stopped meanwhile, they are gone as well.
      if (!isOperatorError(error, 'Stopped')) throw error;
    }
  }

  /** Ends the server and all watches; calls after it throw `Stopped`. Once more it does nothing. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    await this.#connected.close();
    await this.server.stop();
  }
}

/** The history of all views, from which watches resume. */
const historyBytes = 64 * 1024 ** 2;

interface ApiServerModule {
  readonly EmbeddedApiServer: typeof EmbeddedApiServer;
}

let loading: Promise<ApiServerModule> | undefined;

/**
 * Heavy, and not needed by whoever only reads operators. It is asked for once: each `import()` takes
 * time of the machine, which a spec that owns the clock can't wait for.
 */
function apiServerModule(): Promise<ApiServerModule> {
  loading ??= import('../../apiserver/index.js');
  return loading;
}
