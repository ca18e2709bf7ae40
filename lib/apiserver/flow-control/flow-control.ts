import type {
  FlowcontrolV1Subject,
  V1FlowSchema,
  V1NonResourcePolicyRule,
  V1ResourcePolicyRule,
} from '@kubernetes/client-node';
import { formatTime } from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import type { UserInfo } from '../auth/authenticator.js';
import type { RequestInfo, ResourceRequest } from '../requests/request-info.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import type { LogEntry } from '../storage/mvcc-log.js';
import { applyFields } from '../writes/managed-fields.js';
import { createAtStart, ownKind, ownRequest } from '../writes/own-writes.js';
import { updateObject } from '../writes/update-object.js';
import { decodeApplied } from '../writes/write-request.js';
import { bootstrapFlows, bootstrapLevels } from './bootstrap.js';

type FlowSchema = UnstructuredObject & Wire<V1FlowSchema>;

const group = 'flowcontrol.apiserver.k8s.io';
const flowCollection = `${group}/flowschemas`;
const levelCollection = `${group}/prioritylevelconfigurations`;
const producer = 'api-priority-and-fairness-config-producer-v1';
const consumer = 'api-priority-and-fairness-config-consumer-v1';

/** The subresources with long-running requests. Unlike watches, these requests have no FlowSchema. */
const longRunning: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/**
 * The FlowSchemas and PriorityLevelConfigurations of the server. It creates those of a new cluster, keeps the condition
 * Dangling, and names the FlowSchema of each request in the response. Requests are not queued or limited.
 */
export class FlowControl {
  readonly #core: ServerCore;
  readonly #kind: ServedKind;
  readonly #flows = new Map<string, FlowSchema>();
  readonly #levels = new Map<string, UnstructuredObject>();
  #sorted: readonly UsableFlow[] | undefined;

  constructor(core: ServerCore) {
    this.#core = core;
    this.#kind = ownKind(core, { group, plural: 'flowschemas' });
    core.log.subscribe((entry) => this.#follow(entry));
    const manager = producer;
    const plural = 'prioritylevelconfigurations';
    createAtStart(core, { group, plural, items: bootstrapLevels, manager });
    createAtStart(core, { group, plural: 'flowschemas', items: bootstrapFlows, manager });
  }

  /** Returns the headers of a response that name the request's FlowSchema and its priority level. */
  headersOf(info: RequestInfo, user: UserInfo): Readonly<Record<string, string>> {
    if (info.type === 'resource' && longRunning.has(firstPart(info.subresource))) return {};
    for (const { flow, headers } of this.#ordered()) {
      if (matches(flow, info, user)) return headers;
    }
    return {};
  }

  /** Returns the FlowSchemas whose priority level exists, by precedence, then by name. */
  #ordered(): readonly UsableFlow[] {
    const precedence = ({ spec }: FlowSchema): number => spec?.matchingPrecedence ?? 0;
    this.#sorted ??= [...this.#flows.values()]
      .sort(
        (one, other) =>
          precedence(one) - precedence(other) ||
          ((one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1),
      )
      .flatMap((flow) => {
        const level = this.#levels.get(levelOf(flow) ?? '');
        return level === undefined ? [] : [{ flow, headers: headersFor(flow, level) }];
      });
    return this.#sorted;
  }

  // Read the stored object, not the object of the log entry: another listener may have changed the object since.
  #follow({ collection, key }: LogEntry): void {
    if (collection !== flowCollection && collection !== levelCollection) return;
    this.#sorted = undefined;
    const stored = this.#core.log.collection(collection).get(key);
    if (collection === flowCollection) {
      if (stored === undefined) this.#flows.delete(key);
      else {
        this.#flows.set(key, stored);
        this.#keepDangling(stored);
      }
      return;
    }
    if (stored === undefined) this.#levels.delete(key);
    else this.#levels.set(key, stored);
    for (const flow of [...this.#flows.values()]) {
      if (levelOf(flow) === key) this.#keepDangling(flow);
    }
  }

  /** Keeps the condition Dangling: whether the FlowSchema's priority level is missing. */
  #keepDangling(flow: FlowSchema): void {
    const level = levelOf(flow) ?? '';
    const subject = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
    const [status, reason, message] = this.#levels.has(level)
      ? ['False', 'Found', `${subject} and it exists`]
      : ['True', 'NotFound', `${subject} but there is no such object`];
    const before = flow.status?.conditions?.find(({ type }) => type === 'Dangling');
    if (before?.status === status && before.reason === reason && before.message === message) {
      return;
    }
    const lastTransitionTime = formatTime(this.#core.clock.now());
    const condition = { type: 'Dangling', status, lastTransitionTime, reason, message };
    const { name = '' } = flow.metadata;
    const write = ownRequest(this.#kind, { name, manager: consumer, subresource: 'status' });
    const applied = {
      ...{ apiVersion: `${group}/v1`, kind: 'FlowSchema', metadata: { name } },
      status: { conditions: [condition] },
    };
    const merged = applyFields(this.#core, { write, applied, force: true }, flow);
    const next = decodeApplied(write, merged, applied);
    updateObject(this.#core, { request: write, live: flow, next, tracked: true });
  }
}

/** A FlowSchema whose priority level exists, and the headers of the requests that it matches. */
interface UsableFlow {
  readonly flow: FlowSchema;
  readonly headers: Readonly<Record<string, string>>;
}

function headersFor(flow: FlowSchema, level: UnstructuredObject): UsableFlow['headers'] {
  return {
    'x-kubernetes-pf-flowschema-uid': flow.metadata.uid ?? '',
    'x-kubernetes-pf-prioritylevel-uid': level.metadata.uid ?? '',
  };
}

function levelOf(flow: FlowSchema | undefined): string | undefined {
  return flow?.spec?.priorityLevelConfiguration.name;
}

function firstPart(subresource = ''): string {
  return subresource.split('/', 1)[0] ?? '';
}

function matches({ spec }: FlowSchema, info: RequestInfo, user: UserInfo): boolean {
  return (spec?.rules ?? []).some(({ subjects, resourceRules, nonResourceRules }) => {
    if (!subjects.some((subject) => isSubject(subject, user))) return false;
    if (info.type === 'resource') {
      return (resourceRules ?? []).some((rule) => coversResource(rule, info));
    }
    const verb = info.method.toLowerCase();
    return (nonResourceRules ?? []).some((rule) => coversPath(rule, verb, info.path));
  });
}

/**
 * Returns whether a user matches a subject. The validation of FlowSchemas requires the member that belongs to `kind`.
 */
function isSubject(subject: Wire<FlowcontrolV1Subject>, { username, groups }: UserInfo): boolean {
  const { user, group: wanted, serviceAccount } = subject;
  switch (subject.kind) {
    case 'User':
      return user?.name === '*' || user?.name === username;
    case 'Group':
      return wanted?.name === '*' || groups.includes(wanted?.name ?? '');
    // The validation of FlowSchemas allows only one other kind: ServiceAccount.
    default: {
      const { namespace = '', name = '' } = serviceAccount ?? {};
      const prefix = `system:serviceaccount:${namespace}:`;
      return name === '*' ? username.startsWith(prefix) : username === prefix + name;
    }
  }
}

function includes(list: readonly string[] | undefined, value: string): boolean {
  return (list ?? []).some((one) => one === '*' || one === value);
}

function coversResource(
  rule: Wire<V1ResourcePolicyRule>,
  { verb, group: apiGroup, resource, subresource, namespace }: ResourceRequest,
): boolean {
  const wanted = subresource === undefined ? resource : `${resource}/${subresource}`;
  const { verbs, resources, apiGroups, clusterScope, namespaces } = rule;
  if (!includes(verbs, verb) || !includes(resources, wanted)) return false;
  if (!includes(apiGroups, apiGroup)) return false;
  return namespace === '' ? clusterScope === true : includes(namespaces, namespace);
}

function coversPath(
  { verbs, nonResourceURLs }: Wire<V1NonResourcePolicyRule>,
  verb: string,
  path: string,
): boolean {
  if (!includes(verbs, verb)) return false;
  return nonResourceURLs.some((url) => {
    if (url === '*' || url === path) return true;
    const prefix = url.replace(/\*$/, '');
    return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
  });
}
