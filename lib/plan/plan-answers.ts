import { Deadline, getIfExists } from '../client/index.js';
import type { Client } from '../client/index.js';
import { readableMessage } from '../feed/index.js';
import type {
  HttpAnswer,
  HttpQuestion,
  OperatorDefinition,
  PostAnswer,
  Reviewed,
  ReviewedAccess,
  ReviewedUser,
} from '../manager/index.js';
import {
  checkDepth,
  describeObject,
  groupOfType,
  isApiError,
  isForbidden,
  isJsonObject,
  keyOf,
  parseYamlValues,
} from '../object/index.js';
import type {
  KubernetesObject,
  ResourceType,
  TypeReference,
  UnstructuredObject,
} from '../object/index.js';
import { OperatorError, asError, isOperatorError, silentLogger } from '../system/index.js';
import type { Clock } from '../system/index.js';
import { hideUnreadable } from './hide-unreadable.js';
import { planJson, planResource } from './plan-resource.js';
import type { ResourcePlan } from './plan-resource.js';
import { renderSteps } from './render-steps.js';

/** Parts of {@link planAnswers}. */
export interface PlanAnswersParts {
  readonly operator: OperatorDefinition;
  /** The kinds that can be planned without an effect outside the cluster, see `Operator.plannedKinds`. */
  readonly kinds: readonly TypeReference<KubernetesObject>[];
  /** The operator's own client: dry runs need the rights of its role. */
  readonly client: Client;
  readonly clock: Clock;
}

/** Maximum size of a request, in bytes: that of an object in etcd. */
const maxBytes = 1_572_864;
/** Maximum size of a request in YAML, in bytes: it takes about 100 times as long to parse as JSON. */
const maxYamlBytes = 131_072;
/** Maximum number of plans at once. A plan takes as much time of the process as some reconciles. */
const maxPlans = 2;
/** Time limit of a plan, in milliseconds. */
const maxPlanMs = 60_000;

/**
 * Answers `POST /plan` in a deployed operator. The body is a custom resource in YAML or JSON, and the answer what the
 * operator would do if it were applied. All writes are dry runs.
 *
 * ## Access The client needs a token whose user may `post` the path, and `update` the resource; to plan a resource that
 * does not exist, also `create` it. Values of kinds that the user is not allowed to `get` are hidden, and values of
 * Secrets always. The operator itself needs `create` and `patch` for the resource.
 */
export function planAnswers(parts: PlanAnswersParts): PostAnswer {
  let running = 0;
  return async (question, access) => {
    const review = await reviewed(access, question);
    if (review.refusal !== undefined) return review.refusal;
    // Read the body before the plan counts as running: a slow body must not make the operator refuse other plans.
    const text = await question.body(maxBytes);
    if (text === undefined)
      return failure(400, unusable(`has more than ${maxBytes} bytes`).message);
    if (running >= maxPlans) return busy;
    running++;
    const deadline = new Deadline(question.signal, parts.clock, maxPlanMs);
    try {
      const { user } = review;
      const asked = { question, text, access, user, signal: deadline.signal };
      return await deadline.until(planAnswer(asked, parts));
    } catch (error) {
      if (deadline.expired) return failure(504, `the plan took longer than ${maxPlanMs / 1_000} s`);
      return errorAnswer(asError(error), question);
    } finally {
      deadline.release();
      running--;
    }
  };
}

/** A request of a known user. */
interface Asked {
  readonly question: HttpQuestion;
  /** The body of the request. */
  readonly text: string;
  readonly access: ReviewedAccess;
  readonly user: ReviewedUser;
  readonly signal: AbortSignal;
}

async function reviewed(access: ReviewedAccess, question: HttpQuestion): Promise<Reviewed> {
  const review = await access.review(question);
  if (review.refusal === undefined) return review;
  const { status, headers, body } = review.refusal;
  const remedy = remedies[status] ?? 'see the log of the operator';
  return { refusal: failure(status, `${String(body).trim()}: ${remedy}`, headers) };
}

const remedies: Readonly<Record<number, string>> = {
  401: 'send a token that the API server accepts',
  403: 'a ClusterRole must allow POST on the path, like <operator>-planner of config/plan',
  429: 'try again later',
};

async function planAnswer(asked: Asked, parts: PlanAnswersParts): Promise<HttpAnswer> {
  const { question, user, signal } = asked;
  const { operator, client, clock } = parts;
  const { searchParams: query } = question.url;
  const given = requestedObject(asked.text);
  requireKind(given, parts);
  const type = await client.resourceType<UnstructuredObject>(given);
  const namespace = query.get('namespace') ?? 'default';
  // Remove the namespace from a cluster-scoped resource. Otherwise the access reviews would accept a user who has
  // rights only in that namespace.
  const { namespace: own, ...metadata } = given.metadata;
  const place = type.namespaced ? { namespace: own ?? namespace } : {};
  const object = { ...given, metadata: { ...metadata, ...place } };
  const refused = await accessRefusal(object, { ...asked, type, client });
  if (refused !== undefined) return refused;
  const serverSide = query.has('serverSide') ? query.get('serverSide') === 'true' : undefined;
  const plan = await planResource(object, {
    ...{ operator, client, clock, signal, namespace, serverSide, logger: silentLogger },
    fieldManager: query.get('fieldManager') ?? undefined,
    forceConflicts: query.get('forceConflicts') === 'true',
  });
  const shown = await hideUnreadable(
    plan,
    (resource) => {
      return asked.access.allows(user, { verb: 'get', ...resource });
    },
    client,
  );
  const { changed, settled } = plan;
  const { username } = user;
  question.logger.info('planned', { object: describeObject(object), username, changed, settled });
  return answerOf(shown, query);
}

function answerOf(plan: ResourcePlan, query: URLSearchParams): HttpAnswer {
  if (query.get('output') === 'json') {
    const headers = { 'content-type': 'application/json' };
    return { status: 200, headers, body: `${JSON.stringify(planJson(plan))}\n` };
  }
  const error = plan.error === undefined ? '' : `error: ${readableMessage(plan.error)}\n`;
  const text = renderSteps(plan, { unchanged: query.get('unchanged') === 'true' });
  return { status: 200, body: text + error };
}

/** @throws OperatorError `InvalidObject`: the body is not one object with kind and name. */
function requestedObject(text: string): UnstructuredObject {
  const value = text.startsWith('{') ? jsonValue(text) : yamlValue(text);
  const { apiVersion, kind, metadata } = isJsonObject(value) ? value : {};
  const { name } = isJsonObject(metadata) ? metadata : {};
  for (const [field, found] of Object.entries({ apiVersion, kind, 'metadata.name': name })) {
    if (typeof found !== 'string' || found === '') throw unusable(`has no ${field}`);
  }
  return value as UnstructuredObject;
}

function jsonValue(text: string): unknown {
  try {
    return checkDepth(JSON.parse(text) as unknown, 'the request');
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw unusable('begins with { and is not valid JSON', cause);
  }
}

function yamlValue(text: string): unknown {
  if (Buffer.byteLength(text) > maxYamlBytes) {
    throw unusable(`has more than ${maxYamlBytes} bytes of YAML; send JSON`);
  }
  const [value, ...others] = parseYamlValues(text, 'the request', { untrusted: true });
  if (others.length > 0) throw unusable('has several objects; send one request for each');
  return value;
}

function unusable(problem: string, cause?: Error): OperatorError {
  const message = `the request ${problem}: want a custom resource`;
  return new OperatorError('InvalidObject', message, { cause });
}

function requireKind(object: UnstructuredObject, { operator, kinds }: PlanAnswersParts): void {
  const isPlanned = kinds.some(
    (type) => type.kind === object.kind && groupOfType(type) === groupOfType(object),
  );
  if (isPlanned) return;
  const names = [...new Set(kinds.map(({ kind }) => kind))].join(', ');
  const message = `operator ${operator.name} plans no ${object.kind} of ${object.apiVersion}`;
  throw new OperatorError('UnknownKind', `${message}; it plans ${names || 'no kinds'}`);
}

interface Access extends Asked {
  readonly type: ResourceType;
  readonly client: Client;
}

/** Returns a refusal if the user is not allowed to change the object; otherwise undefined. */
async function accessRefusal(
  object: UnstructuredObject,
  { access, user, signal, type, client }: Access,
): Promise<HttpAnswer | undefined> {
  const { group, plural: resource } = type;
  const key = keyOf(object);
  const refusal = async (verb: string): Promise<HttpAnswer | undefined> => {
    if (await access.allows(user, { verb, group, resource, ...key })) return undefined;
    const what = `${verb} ${describeObject(object)}`;
    return failure(
      403,
      `user ${user.username ?? ''} may not ${what}: a plan needs the same permission`,
    );
  };
  // Check before the first read: a user without this right cannot find out whether the object exists.
  const refused = await refusal('update');
  if (refused !== undefined) return refused;
  const live = await getIfExists(client, type, key, { signal });
  return live === undefined ? refusal('create') : undefined;
}

function errorAnswer(error: Error, { logger, signal }: HttpQuestion): HttpAnswer {
  if (signal.aborted) throw error;
  // Details of the API server's errors can contain the whole object.
  const message = readableMessage(error);
  if (isApiError(error)) {
    const isOwn = isForbidden(error) && error.body.details !== undefined;
    const remedy = isOwn ? "; the operator's role must allow dry runs, see config/plan" : '';
    return failure(error.status, `${message}${remedy}`);
  }
  if (isOperatorError(error, 'UnknownKind')) return failure(404, message);
  if (isOperatorError(error)) return failure(400, message);
  logger.error('a plan failed', { error });
  return failure(500, 'the plan failed; see the log of the operator');
}

/** Returns an error in the form of the API server. The details distinguish it from that server's errors. */
function failure(code: number, message: string, headers: HttpAnswer['headers'] = {}): HttpAnswer {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };
  const body = `${JSON.stringify({ ...status, message, details: { kind: 'Plan' }, code })}\n`;
  return { status: code, headers: { 'content-type': 'application/json', ...headers }, body };
}

const busy = failure(429, `${maxPlans} plans are under way; try again later`, {
  'retry-after': '1',
});
