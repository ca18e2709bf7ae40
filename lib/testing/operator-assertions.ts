import type { RequestEntry } from '../apiserver/index.js';
import { findCondition, describeObject, isControlledBy } from '../object/index.js';
import type { Condition, KubernetesObject, UnstructuredObject } from '../object/index.js';
import { refuseUnknownOptions } from '../system/index.js';
import type { OptionNames } from '../system/index.js';

declare global {
  // chai's types are in a global namespace, which others can only extend.
  // eslint-disable-next-line @typescript-eslint/no-namespace
  namespace Chai {
    interface Assertion {
      /** Asserts the number of requests that match `filter`, in a log, a cluster or a list of entries. */
      requests(filter: RequestFilter, count: number): Assertion;
      /**
       * Asserts the number of writes among the requests, or among those that match `filter`. Writes of Events
       * count only if `filter.resource` is `'events'`.
       */
      writes(count: number, filter?: RequestFilter): Assertion;
      /** Asserts the number of reads among the requests, or those that match `filter`; watches count. */
      reads(count: number, filter?: RequestFilter): Assertion;
      /** Asserts a condition in the object's status, with this status and reason if given. */
      condition(type: string, status?: 'True' | 'False' | 'Unknown', reason?: string): Assertion;
      /** Asserts that `owner` is the controller of the object, by UID. */
      controlledBy(owner: KubernetesObject): Assertion;
      /** Asserts a finalizer of the object. */
      finalizer(name: string): Assertion;
      /** Asserts a label of the object, with this value if given. */
      label(name: string, value?: string): Assertion;
      /** Asserts an annotation of the object, with this value if given. */
      annotation(name: string, value?: string): Assertion;
    }
  }
}

/** The part of chai that a plugin uses; any version of chai has it. */
export interface ChaiLike {
  readonly Assertion: {
    // Typed as in chai: each method declares its own arguments.
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    addMethod(name: string, method: (this: ChaiAssertion, ...given: any[]) => void): void;
  };
}

/** The `this` of a chai method. */
export interface ChaiAssertion {
  readonly _obj: unknown;
  assert(
    holds: boolean,
    message: string,
    negatedMessage: string,
    expected?: unknown,
    actual?: unknown,
  ): void;
}

/**
 * Assertions about API budgets and Kubernetes objects, for `chai.use(operatorAssertions)`. Includes their
 * types; it does not load chai.
 *
 * @example
 * ```ts
 * chai.use(operatorAssertions);
 * expect(cluster.requests.since(mark)).to.have.writes(0);
 * expect(cluster).to.have.requests({ verb: 'create', resource: 'configmaps' }, 1);
 * expect(tenant).to.have.condition('Available', 'True');
 * ```
 */
export function operatorAssertions({ Assertion }: ChaiLike): void {
  Assertion.addMethod('requests', function (filter: RequestFilter, count: number) {
    assertRequests(this, { what: 'requests', filter, count });
  });
  Assertion.addMethod('writes', function (count: number, filter: RequestFilter = {}) {
    // Events are written a second after the writes that they report, which would break most budgets.
    const counted = ({ resource }: RequestEntry): boolean =>
      resource !== 'events' || filter.resource === 'events';
    const only = (entry: RequestEntry): boolean => isWrite(entry) && counted(entry);
    assertRequests(this, { what: 'writes', filter, count, only });
  });
  Assertion.addMethod('reads', function (count: number, filter: RequestFilter = {}) {
    assertRequests(this, { what: 'reads', filter, count, only: (entry) => !isWrite(entry) });
  });
  Assertion.addMethod('condition', function (type: string, status?: string, reason?: string) {
    assertCondition(this, { type, status, reason });
  });
  Assertion.addMethod('controlledBy', function (owner: KubernetesObject) {
    assertControlledBy(this, owner);
  });
  Assertion.addMethod('finalizer', function (name: string) {
    const { finalizers = [] } = objectOf(this).metadata;
    const text = `${describeObject(objectOf(this))} to have finalizer ${name}`;
    const found = `, got ${finalizers.join(', ') || 'none'}`;
    this.assert(finalizers.includes(name), `expected ${text}${found}`, negated(text));
  });
  Assertion.addMethod('label', function (name: string, value?: string) {
    assertEntry(this, { field: 'labels', name, value });
  });
  Assertion.addMethod('annotation', function (name: string, value?: string) {
    assertEntry(this, { field: 'annotations', name, value });
  });
}

interface Budget {
  readonly what: 'requests' | 'writes' | 'reads';
  readonly filter: RequestFilter;
  readonly count: number;
  readonly only?: (entry: RequestEntry) => boolean;
}

const mostListed = 20;

function assertRequests(assertion: ChaiAssertion, budget: Budget): void {
  const { what, filter, count, only = () => true } = budget;
  checkBudget(budget);
  const all = requestsOf(assertion._obj);
  if (all === undefined) {
    throw new TypeError(`.${what}() wants a request log, a cluster or a list of its entries`);
  }
  const found = all.filter((entry) => only(entry) && matchesFilter(entry, filter));
  const listed = found.slice(0, mostListed).map((entry) => `\n  ${describeEntry(entry)}`);
  const rest = found.length > mostListed ? `\n  … and ${found.length - mostListed} more` : '';
  const text = `${count} ${what}${describeFilter(filter)}`;
  const message = `expected ${text}, got ${found.length}${listed.length > 0 ? ':' : ''}`;
  const holds = found.length === count;
  assertion.assert(holds, message + listed.join('') + rest, `expected not to find ${text}`);
}

const filterNames: OptionNames<RequestFilter> = {
  ...{ verb: true, resource: true, subresource: true, namespace: true, name: true, user: true },
};
const verbs: readonly string[] = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
];

/**
 * Refuses a filter that no request can match: a budget of 0, or a negated budget, would then hold whatever the operator
 * does.
 * @throws TypeError
 */
function checkBudget({ what, filter, count }: Budget): void {
  refuseUnknownOptions<RequestFilter>(`.${what}()`, filter, filterNames);
  const refuse = (name: string, wanted: string, got: unknown): never => {
    throw new TypeError(`.${what}(): ${name}: want ${wanted}, got ${JSON.stringify(got)}`);
  };
  if (!Number.isSafeInteger(count) || count < 0)
    refuse('count', 'a whole number, at least 0', count);
  const { verb = 'get', resource = '' } = filter;
  if (!verbs.includes(verb)) refuse('verb', `${verbs.join(', ')} (an apply is a patch)`, verb);
  // Paths of requests without a resource have any case.
  const isPlural = resource === resource.toLowerCase() && !resource.includes('/');
  if (!isPlural && !resource.startsWith('/')) {
    refuse('resource', 'the plural, such as configmaps, without its subresource', resource);
  }
}

interface WantedCondition {
  readonly type: string;
  readonly status: string | undefined;
  readonly reason: string | undefined;
}

function assertCondition(assertion: ChaiAssertion, wanted: WantedCondition): void {
  const { type, status, reason } = wanted;
  const object = objectOf(assertion);
  const { conditions = [] } = (object['status'] ?? {}) as {
    readonly conditions?: readonly Condition[];
  };
  const found = findCondition(conditions, type);
  const holds =
    found !== undefined &&
    (status === undefined || found.status === status) &&
    (reason === undefined || found.reason === reason);
  const want = [type, status, reason].filter((part) => part !== undefined).join(' ');
  const text = `${describeObject(object)} to have condition ${want}`;
  const types = conditions.map((each) => each.type).join(', ') || 'none';
  const got = found === undefined ? `only ${types}` : describeCondition(found);
  assertion.assert(holds, `expected ${text}, got ${got}`, negated(text));
}

function describeCondition({ type, status, reason, message }: Condition): string {
  return `${type} ${status} ${reason}: ${message}`;
}

function assertControlledBy(assertion: ChaiAssertion, owner: KubernetesObject): void {
  const object = objectOf(assertion);
  const controller = object.metadata.ownerReferences?.find((each) => each.controller === true);
  const text = `${describeObject(object)} to be controlled by ${describeObject(owner)}`;
  const got = controller === undefined ? 'no controller' : `${controller.kind} ${controller.name}`;
  const uids = `, UID ${controller?.uid ?? 'none'} where ${owner.metadata.uid ?? 'none'} is wanted`;
  const message = `expected ${text}, got ${got}${uids}`;
  assertion.assert(isControlledBy(object, owner), message, negated(text));
}

interface WantedEntry {
  readonly field: 'labels' | 'annotations';
  readonly name: string;
  readonly value: string | undefined;
}

function assertEntry(assertion: ChaiAssertion, { field, name, value }: WantedEntry): void {
  const object = objectOf(assertion);
  const entries = object.metadata[field] ?? {};
  const found = Object.hasOwn(entries, name) ? entries[name] : undefined;
  const holds = found !== undefined && (value === undefined || found === value);
  const want = value === undefined ? name : `${name}=${value}`;
  const text = `${describeObject(object)} to have ${want} among its ${field}`;
  const message = `expected ${text}, got ${found ?? 'none'}`;
  assertion.assert(holds, message, negated(text));
}

function negated(text: string): string {
  return `expected ${text.replace(' to ', ' not to ')}`;
}

function objectOf({ _obj: object }: ChaiAssertion): UnstructuredObject {
  const isObject = typeof object === 'object' && object !== null && 'metadata' in object;
  if (!isObject)
    throw new TypeError('this assertion is for Kubernetes objects; pass one to expect(…)');
  return object as UnstructuredObject;
}

/** Selects requests of a log; fields that are left out match everything. */
export interface RequestFilter {
  /** The verb in the API server's terms: an apply is a `patch`. */
  readonly verb?: RequestEntry['verb'] | undefined;
  /** The plural, for example `configmaps`. */
  readonly resource?: string | undefined;
  /** The subresource; an empty string matches requests without one. */
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly user?: string | undefined;
}

const reading: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Returns true if the request was a write. */
function isWrite({ verb }: RequestEntry): boolean {
  return !reading.has(verb);
}

/** Returns the requests of `source`; undefined if it is not a source of requests. */
function requestsOf(source: unknown): readonly RequestEntry[] | undefined {
  if (Array.isArray(source)) return source as readonly RequestEntry[];
  if (typeof source !== 'object' || source === null) return undefined;
  if ('entries' in source && Array.isArray(source.entries)) {
    return source.entries as readonly RequestEntry[];
  }
  return 'requests' in source ? requestsOf(source.requests) : undefined;
}

function matchesFilter(entry: RequestEntry, filter: RequestFilter): boolean {
  const { verb, resource, subresource = '', namespace, name, user } = entry;
  const asked: Required<RequestFilter> = { verb, resource, subresource, namespace, name, user };
  const fields = Object.keys(asked) as (keyof RequestFilter)[];
  return fields.every((field) => filter[field] === undefined || filter[field] === asked[field]);
}

/** Describes a request: `patch deployments/status shop/web by operator → 200`. */
function describeEntry(entry: RequestEntry): string {
  const { verb, resource, subresource, namespace, name, user, code } = entry;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const key = [namespace, name].filter((part) => part !== '').join('/');
  return `${verb} ${what} ${key} by ${user} → ${code}`;
}

/** Describes a filter in messages: `{ verb: create, resource: configmaps }`; empty if it matches all. */
function describeFilter(filter: RequestFilter): string {
  const parts = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => `${field}: ${String(value)}`);
  return parts.length === 0 ? '' : ` { ${parts.join(', ')} }`;
}
