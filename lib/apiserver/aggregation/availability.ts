import type { V1EndpointSlice, V1Service } from '@kubernetes/client-node';
import { deepEqual, formatTime, isJsonObject } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { errorMessage } from '../../system/index.js';
import type { Timer } from '../../system/index.js';
import type { Connections } from '../outside/connections.js';
import { DeadlineExceeded, isBundle } from '../outside/connections.js';
import type { OngoingRequest } from '../outside/ongoing-request.js';
import { localCondition } from '../rules/api-service.js';
import type { ServerCore } from '../server-core.js';
import type { LogEntry } from '../storage/mvcc-log.js';
import { ownKind, storeStatus } from '../writes/own-writes.js';
import { apiServiceCollection, registrationGroup } from './api-services.js';
import type { ApiService, ApiServices } from './api-services.js';
import { extensionServerOf, failureText, sendTo } from './extension-servers.js';
import type { ExtensionServer } from './extension-servers.js';

/** The discovery documents of an extension server for a version. */
export interface Discovered {
  /** The `APIResourceList` of the version; undefined if the server did not answer with one. */
  readonly resources: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** The address of the version's OpenAPI document, which `/openapi/v3` of the server names; undefined if none. */
  readonly openApi: string | undefined;
}

type Condition = Readonly<Record<'status' | 'reason' | 'message', string>>;

const passed = { status: 'True', reason: 'Passed', message: 'all checks passed' } as const;
const checkEveryMs = 30_000;
const firstRetryMs = 5;
const timeLimitMs = 5_000;
const answerLimitBytes = 16 * 1024 * 1024;

/** The last check of an extension server. */
interface Checked {
  /** The uid of the checked APIService. A change of `uid`, `spec` or `host` causes another check. */
  readonly uid: string | undefined;
  readonly spec: unknown;
  /** The host and port of its extension server. */
  readonly host: string;
  failures: number;
  /** The resulting condition; undefined during the first check. */
  condition?: Condition;
  discovered?: Discovered;
  timer?: Timer | undefined;
  /** The current request to the extension server. */
  ongoing?: OngoingRequest | undefined;
}

/** The outcome of a check. */
type Result = readonly [Condition, Discovered?];

/**
 * Keeps the condition Available of APIServices, as the real server's controllers do. If no extension server needs to be
 * queried, the condition changes within the commit that causes the change. An extension server is queried when its
 * APIService or its host changes, and every 30 seconds. After a failure it is queried again with back-off.
 */
export class Availability {
  readonly #core: ServerCore;
  readonly #services: ApiServices;
  readonly #connections: Connections;
  readonly #checked = new Map<string, Checked>();
  #generation = 0;
  #stopped = false;

  constructor(core: ServerCore, services: ApiServices) {
    this.#core = core;
    this.#services = services;
    this.#connections = core.connections;
    core.log.subscribe((entry) => this.#follow(entry));
  }

  /** Increases with each answer of an extension server. */
  get generation(): number {
    return this.#generation;
  }

  /** Returns the discovery documents of the APIService `name`, from the last successful check. */
  discovered(name: string): Discovered | undefined {
    return this.#checked.get(name)?.discovered;
  }

  /** Ends all checks. */
  stop(): void {
    this.#stopped = true;
    for (const name of [...this.#checked.keys()]) this.#forget(name);
  }

  #follow({ collection, key, object }: LogEntry): void {
    if (collection === apiServiceCollection) {
      this.#check(key);
      return;
    }
    const isEndpoints = collection === 'discovery.k8s.io/endpointslices';
    if (collection !== 'services' && !isEndpoints) return;
    const { namespace = '', labels = {}, name = '' } = object.metadata;
    const service = isEndpoints ? labels['kubernetes.io/service-name'] : name;
    for (const { metadata, spec } of this.#services.remotes()) {
      const { name: wanted, namespace: at } = spec?.service ?? {};
      if (wanted === service && at === namespace) this.#check(metadata.name ?? '');
    }
  }

  #check(name: string): void {
    if (this.#stopped) return;
    const live = this.#live(name);
    if (live?.spec?.service === undefined) {
      this.#forget(name);
      if (live !== undefined) this.#store(live, localCondition);
      return;
    }
    const server = extensionServerOf(live, this.#core);
    const problem = this.#problemOf(server);
    if (problem !== undefined) {
      this.#forget(name);
      this.#store(live, problem);
      return;
    }
    // With an invalid `caBundle`, the real server fails to connect, and never reports that in the condition.
    if (!isBundle(live.spec.caBundle)) return;
    const checked = this.#checked.get(name);
    const { uid } = live.metadata;
    const { host } = server;
    const isSame = checked?.uid === uid && checked?.host === host;
    if (checked === undefined || !isSame || !deepEqual(checked.spec, live.spec)) {
      this.#forget(name);
      const next: Checked = { uid, spec: live.spec, host, failures: 0 };
      this.#checked.set(name, next);
      this.#ask(name, next);
    } else if (checked.condition !== undefined) this.#store(live, checked.condition);
  }

  #live(name: string): ApiService | undefined {
    return this.#core.log.collection(apiServiceCollection).get(name);
  }

  #forget(name: string): void {
    const checked = this.#checked.get(name);
    if (checked === undefined) return;
    this.#checked.delete(name);
    this.#generation++;
    checked.timer?.cancel();
    checked.ongoing?.abort(new Error('the check is obsolete'));
  }

  /** Returns why an extension server cannot be queried: its Service or its endpoints are missing. */
  #problemOf({ service, isGiven }: ExtensionServer): Condition | undefined {
    const { name = '', namespace = '', port = 443 } = service.spec?.service ?? {};
    // A target of the option `services` needs no Service.
    if (isGiven) return undefined;
    const { view } = this.#core;
    const stored = view.find('services', `${namespace}/${name}`) as Wire<V1Service> | undefined;
    const subject = `service/${name} in ${JSON.stringify(namespace)}`;
    if (stored === undefined) return failed('ServiceNotFound', `${subject} is not present`);
    if ((stored.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined;
    const listening = stored.spec?.ports?.find((one) => one.port === port);
    if (listening === undefined) {
      return failed('ServicePortError', `${subject} is not listening on port ${port}`);
    }
    const slices = [...this.#slicesOf(namespace, name)];
    if (slices.length === 0) {
      return failed('EndpointsNotFound', `cannot find endpointslices for ${subject}`);
    }
    const { name: portName = '' } = listening;
    if (slices.some((slice) => hasEndpoint(slice, portName))) return undefined;
    const missing = `have no addresses with port name ${JSON.stringify(portName)}`;
    return failed('MissingEndpoints', `endpointslices for ${subject} ${missing}`);
  }

  *#slicesOf(namespace: string, name: string): Generator<Wire<V1EndpointSlice>> {
    for (const slice of this.#core.view.all('discovery.k8s.io/endpointslices')) {
      const { namespace: at, labels = {} } = slice.metadata;
      if (at === namespace && labels['kubernetes.io/service-name'] === name) {
        yield slice as Wire<V1EndpointSlice>;
      }
    }
  }

  /** Asks the extension server for its discovery, stores the result, and plans the next check. */
  #ask(name: string, checked: Checked): void {
    const live = this.#live(name);
    if (live === undefined) return;
    const server = extensionServerOf(live, this.#core);
    const isCurrent = (): boolean => this.#checked.get(name) === checked;
    void this.#resultOf(server, checked, isCurrent)
      // A handler of the option `services` may fail in any way.
      .catch((error: unknown): Result => [failed(checkFailed, errorMessage(error))])
      .then((result) => {
        if (isCurrent()) this.#record(name, checked, result);
      });
  }

  #record(name: string, checked: Checked, [condition, discovered]: Result): void {
    const current = this.#live(name);
    if (current === undefined) return;
    checked.condition = condition;
    checked.failures = condition === passed ? 0 : checked.failures + 1;
    if (discovered !== undefined) checked.discovered = discovered;
    this.#generation++;
    const retryMs = Math.min(firstRetryMs * 2 ** (checked.failures - 1), checkEveryMs);
    const delayMs = condition === passed ? checkEveryMs : retryMs;
    checked.timer = this.#core.clock.setTimer(() => this.#ask(name, checked), delayMs);
    this.#store(current, condition);
  }

  async #resultOf(
    server: ExtensionServer,
    checked: Checked,
    isCurrent: () => boolean,
  ): Promise<Result> {
    const path = versionPath(server.service);
    const url = `https://${server.host}${path}`;
    let text: string;
    try {
      const answer = await this.#get(server, checked, path);
      const { status } = answer;
      if (status < 200 || status >= 300) {
        return [failed(checkFailed, missing(url, `bad status from ${url}: ${status}`))];
      }
      ({ text } = answer);
    } catch (error) {
      const why = `Get ${JSON.stringify(url)}: ${failureText(error, server)}`;
      return [failed(checkFailed, missing(url, why))];
    }
    const openApi = isCurrent() ? await this.#openApi(server, checked) : undefined;
    return [passed, { resources: resourcesOf(text), openApi }];
  }

  /** Returns the address of the version's OpenAPI document, which `/openapi/v3` of the server names. */
  async #openApi(server: ExtensionServer, checked: Checked): Promise<string | undefined> {
    try {
      const { status, text } = await this.#get(server, checked, '/openapi/v3');
      const index: unknown = status === 200 ? JSON.parse(text) : undefined;
      const paths = isJsonObject(index) ? index['paths'] : undefined;
      const entry = isJsonObject(paths) ? paths[versionPath(server.service).slice(1)] : undefined;
      const url = isJsonObject(entry) ? entry['serverRelativeURL'] : undefined;
      return typeof url === 'string' ? url : undefined;
    } catch {
      // A server may have no OpenAPI document: its discovery works without one.
      return undefined;
    }
  }

  async #get(
    server: ExtensionServer,
    checked: Checked,
    path: string,
  ): Promise<{ status: number; text: string }> {
    const connections = this.#connections;
    const ongoing = connections.start();
    checked.ongoing = ongoing;
    const late = (): void => ongoing.abort(new DeadlineExceeded());
    const timer = this.#core.clock.setTimer(late, timeLimitMs);
    try {
      const { status, body } = await sendTo(
        server,
        { connections, ongoing },
        { method: 'GET', path, headers: { accept: 'application/json' }, user: aggregator },
      );
      const decoder = new TextDecoder();
      let text = '';
      let length = 0;
      for await (const chunk of ongoing.read(body)) {
        length += chunk.length;
        if (length > answerLimitBytes)
          throw new Error(`response exceeds ${answerLimitBytes} bytes`);
        text += decoder.decode(chunk, { stream: true });
      }
      return { status, text };
    } catch (error) {
      throw ongoing.reason ?? error;
    } finally {
      timer.cancel();
      ongoing.end();
      checked.ongoing = undefined;
    }
  }

  #store(live: ApiService, { status, reason, message }: Condition): void {
    const conditions = live.status?.conditions ?? [];
    const before = conditions.find(({ type }) => type === 'Available');
    const now = formatTime(this.#core.clock.now());
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    const next = { type: 'Available', status, lastTransitionTime, reason, message };
    if (deepEqual(next, before)) return;
    const others = conditions.filter(({ type }) => type !== 'Available');
    const kind = ownKind(this.#core, { group: registrationGroup, plural: 'apiservices' });
    storeStatus(this.#core, kind, {
      old: live,
      next: { ...live, status: { ...live.status, conditions: [...others, next] } },
    });
  }
}

const checkFailed = 'FailedDiscoveryCheck';

const aggregator = { username: 'system:kube-aggregator', groups: ['system:masters'] };

/** Returns true if the condition Available of an APIService is true. */
export function isAvailable({ status }: ApiService): boolean {
  const { conditions = [] } = status ?? {};
  return conditions.some(({ type, status: value }) => type === 'Available' && value === 'True');
}

function failed(reason: string, message: string): Condition {
  return { status: 'False', reason, message };
}

function missing(url: string, why: string): string {
  return `failing or missing response from ${url}: ${why}`;
}

function versionPath({ spec }: ApiService): string {
  const { group = '', version = '' } = spec ?? {};
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

function resourcesOf(text: string): Discovered['resources'] {
  try {
    const list: unknown = JSON.parse(text);
    const resources = isJsonObject(list) ? list['resources'] : undefined;
    return Array.isArray(resources) ? resources.filter(isJsonObject) : undefined;
  } catch {
    // The response is not JSON, so it lists no resources.
    return undefined;
  }
}

function hasEndpoint({ endpoints, ports }: Wire<V1EndpointSlice>, portName: string): boolean {
  // The decoder sets a missing list to null, as Go does.
  const all = (endpoints as typeof endpoints | null) ?? [];
  const isReady = all.some(({ conditions }) => conditions?.ready !== false);
  return isReady && (ports ?? []).some(({ name, port }) => name === portName && port !== undefined);
}
