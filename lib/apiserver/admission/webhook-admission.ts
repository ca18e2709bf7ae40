import {
  applyJsonPatch,
  JsonPatchError,
  isJsonObject,
  deepEqual,
  withoutMembers,
} from '../../object/index.js';
import type { JsonPatchOperation, UnstructuredObject } from '../../object/index.js';
import { DecodeError, jsonTypeName } from '../go-json/decoding.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { Question } from '../outside/outside.js';
import type { ServerCore } from '../server-core.js';
import { StatusError, internalError } from '../status-error.js';
import { managedFieldsProblem } from '../structured-merge/index.js';
import type { AdmittedWrite, WriteHooks } from '../writes/write-request.js';
import type {
  AdmissionAttributes,
  AdmissionRequest,
  AdmissionResponse,
} from './admission-review.js';
import {
  admissionReview,
  inVersion,
  readAdmissionResponse,
  typeChange,
} from './admission-review.js';
import { checkPolicies } from './policy-admission.js';
import { mutateByPolicies } from './policy-mutation.js';
import type { PolicyMutations } from './policy-mutation.js';
import { invokedKind } from './match-webhook.js';
import type { ConfiguredWebhook } from './match-webhook.js';

const optionKinds = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
} as const;

function optionsOf(
  operation: keyof typeof optionKinds,
  { options }: AdmissionRequest,
): AdmissionRequest['options'] {
  return { kind: optionKinds[operation], apiVersion: 'meta.k8s.io/v1', ...options };
}

/** A webhook that matches a write. */
interface Invoked extends ConfiguredWebhook {
  readonly kind: ServedKind;
}

/** The result of the mutating webhooks of a write. */
interface WebhookMutations {
  readonly write: AdmittedWrite;
  /** The ids of webhooks that must be called again, because a later webhook changed the object. */
  readonly again: ReadonlySet<string>;
  /** The ids of the called webhooks with the `reinvocationPolicy` `IfNeeded`. */
  readonly reinvocable: ReadonlySet<string>;
}

/** The webhooks to call again, by their ids. */
interface SecondRound {
  readonly due: ReadonlySet<string>;
  /** The webhooks to call instead of `due` as soon as a webhook of this round changes the object. */
  readonly reinvocable: ReadonlySet<string>;
}

const invalidManagers =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests';

/** The result of a webhook call. */
type Outcome = { readonly response: AdmissionResponse } | { readonly failure: string };

/** Runs the configured webhooks and policies for the writes of a request. */
export class WebhookAdmission implements WriteHooks {
  readonly #core: ServerCore;
  readonly #request: AdmissionRequest;
  /** The name of the object before webhooks and policies changed it. */
  #name: string | undefined;

  constructor(core: ServerCore, request: AdmissionRequest) {
    this.#core = core;
    this.#request = request;
  }

  /**
   * Applies mutating policies, then calls mutating webhooks one after the other. If they change the object, the
   * server's own admission runs again, then policies with `IfNeeded`, then webhooks with `IfNeeded` that have not
   * received the last change.
   */
  admit(write: AdmittedWrite & { readonly object: UnstructuredObject }): UnstructuredObject {
    const { object: given, operation } = write;
    // The object of a CONNECT is its options, which have no metadata.
    if (operation === 'CONNECT') return this.#admitted(write);
    this.#name = given.metadata.name;
    return this.#withValidManagers(given, this.#admitted(write));
  }

  #admitted(write: AdmittedWrite & { readonly object: UnstructuredObject }): UnstructuredObject {
    const policies = this.#mutateByPolicies(write, write.object);
    const webhooks = this.#mutate({ ...write, object: policies.object });
    // Only a deletion has no object.
    const object = webhooks.write.object ?? policies.object;
    if (object === write.object) return object;
    const readmitted = write.readmit?.(object) ?? object;
    const next = this.#mutateByPolicies(write, readmitted, policies.reinvocable).object;
    const { again, reinvocable } = webhooks;
    const due = next === object ? again : reinvocable;
    if (due.size === 0) return next;
    return this.#mutate({ ...write, object: next }, { due, reinvocable }).write.object ?? next;
  }

  /**
   * Returns the mutated object. If its `managedFields` are invalid, replaces them by those of `given`, with a warning.
   */
  #withValidManagers(given: UnstructuredObject, mutated: UnstructuredObject): UnstructuredObject {
    const { managedFields } = given.metadata;
    const { managedFields: changed } = mutated.metadata;
    const problem = changed === managedFields ? undefined : managedFieldsProblem(changed);
    if (problem === undefined) return mutated;
    this.#request.warn(`${invalidManagers}: ${problem}`);
    const rest = withoutMembers(mutated.metadata, 'managedFields');
    return { ...mutated, metadata: { ...rest, ...(managedFields && { managedFields }) } };
  }

  #mutateByPolicies(
    write: AdmittedWrite,
    object: UnstructuredObject,
    only?: ReadonlySet<string>,
  ): PolicyMutations {
    const core = this.#core;
    if (core.mutatingPolicies.empty || only?.size === 0) return { object, reinvocable: new Set() };
    return mutateByPolicies(core, { ...this.#attributes(write), object }, only);
  }

  validate(write: AdmittedWrite): void {
    if (write.operation === 'DELETE') this.#mutate(write);
    const attributes = this.#attributes(write);
    if (!this.#core.policies.empty) checkPolicies(this.#core, attributes);
    const invoked = this.#invoked('validating', attributes);
    const questions = invoked.map((one) =>
      this.#question(one, attributes, { mutating: false, round: 0 }),
    );
    if (questions.length === 0) return;
    const outcomes = this.#core.outside.answers(questions);
    for (const [index, one] of invoked.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) this.#verdict(one, outcome);
    }
  }

  /** @param second - the webhooks to call again. @defaultValue undefined: the first round, which calls every webhook */
  #mutate(write: AdmittedWrite, second?: SecondRound): WebhookMutations {
    const round = second === undefined ? 0 : 1;
    let called = second?.due;
    let current = write;
    const reinvocable = new Set<string>();
    const again = new Set<string>();
    for (const one of this.#core.webhooks.all('mutating')) {
      if (called?.has(one.id) === false) continue;
      const attributes = this.#attributes(current);
      const kind = invokedKind(this.#core, one, attributes);
      if (kind === undefined) continue;
      const invoked = { ...one, kind };
      const question = this.#question(invoked, attributes, { mutating: true, round });
      const [outcome] = this.#core.outside.answers([question]);
      const patch = outcome === undefined ? undefined : this.#verdict(invoked, outcome)?.patch;
      const changed = patch === undefined ? current : this.#patched(invoked, current, patch);
      if (changed !== current) {
        current = changed;
        for (const id of reinvocable) again.add(id);
        // In the second round, this change makes all later webhooks with `IfNeeded` due.
        called = second?.reinvocable;
      }
      if (one.webhook.reinvocationPolicy === 'IfNeeded') reinvocable.add(one.id);
    }
    return { write: current, again, reinvocable };
  }

  #attributes(write: AdmittedWrite): AdmissionAttributes {
    const request = this.#request;
    const { operation } = write;
    const options = operation === 'CONNECT' ? null : optionsOf(operation, request);
    return { ...request, ...write, options, name: request.name || (this.#name ?? '') };
  }

  #invoked(type: 'mutating' | 'validating', attributes: AdmissionAttributes): Invoked[] {
    return this.#core.webhooks.all(type).flatMap((one) => {
      const kind = invokedKind(this.#core, one, attributes);
      return kind === undefined ? [] : [{ ...one, kind }];
    });
  }

  #question(
    { id, webhook, kind }: Invoked,
    attributes: AdmissionAttributes,
    { mutating, round }: { readonly mutating: boolean; readonly round: number },
  ): Question<Outcome> {
    const { apiVersion, request } = admissionReview(attributes, { webhook, kind });
    const key = `admission ${id} ${mutating} ${round} ${JSON.stringify(request)}`;
    const { webhookClient, systemRandom } = this.#core;
    const ask = async (): Promise<Outcome> => {
      const uid = systemRandom.uuid();
      const body = { kind: 'AdmissionReview', apiVersion, request: { uid, ...request } };
      const timeoutMs = (webhook.timeoutSeconds ?? 10) * 1000;
      const address = webhook.clientConfig;
      const answer = await webhookClient.call({ address, body, timeoutMs });
      if ('failure' in answer) return { failure: `failed to call webhook: ${answer.failure}` };
      return outcomeOf(answer.body, { uid, apiVersion, mutating });
    };
    return { key, ask };
  }

  /**
   * Checks the outcome of a webhook call.
   * @returns undefined if the call failed, and the webhook's failure policy ignores that
   */
  #verdict({ webhook }: Invoked, outcome: Outcome): AdmissionResponse | undefined {
    if ('failure' in outcome) {
      if (webhook.failurePolicy === 'Ignore') return undefined;
      throw internalError(
        `failed calling webhook ${JSON.stringify(webhook.name)}: ${outcome.failure}`,
      );
    }
    const { response } = outcome;
    for (const warning of response.warnings) this.#request.warn(warning);
    if (!response.allowed) throw refusal(webhook.name, response);
    return response;
  }

  #patched({ webhook, kind }: Invoked, write: AdmittedWrite, patch: string): AdmittedWrite {
    const operations = this.#operations(webhook, patch);
    if (operations.length === 0) return write;
    const { object } = write;
    if (object === undefined) {
      const name = JSON.stringify(webhook.name);
      throw internalError(
        `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
      );
    }
    const { kind: own, objectKind } = this.#request;
    const given = inVersion(object, this.#request, kind) ?? object;
    const reader = objectKind ?? kind;
    const patched = patchedObject(given, operations);
    const change = typeChange(reader, given, patched);
    if (change !== undefined) {
      throw internalError(`admission webhook ${JSON.stringify(webhook.name)} ${change}`);
    }
    const next = decoded(reader, patched);
    reader.rules.defaults?.(next);
    if (deepEqual(next, given)) return write;
    return { ...write, object: inVersion(next, { ...this.#request, kind }, own) ?? next };
  }

  #operations(
    { name, failurePolicy }: ConfiguredWebhook['webhook'],
    patch: string,
  ): readonly JsonPatchOperation[] {
    let problem: string;
    try {
      const operations: unknown = JSON.parse(patch) ?? [];
      if (Array.isArray(operations) && operations.every(isJsonObject)) {
        return operations as unknown as readonly JsonPatchOperation[];
      }
      const [wrong, type] = Array.isArray(operations)
        ? [operations.find((one) => !isJsonObject(one)) as unknown, 'Operation']
        : [operations, 'Patch'];
      problem = `json: cannot unmarshal ${jsonTypeName(wrong)} into Go value of type jsonpatch.${type}`;
    } catch {
      problem = patch.slice(0, 100);
    }
    if (failurePolicy === 'Ignore') return [];
    const why = 'received undecodable patch in webhook response';
    throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${why}: ${problem}`);
  }
}

function patchedObject(
  object: UnstructuredObject,
  operations: readonly JsonPatchOperation[],
): Readonly<Record<string, unknown>> {
  try {
    const next = applyJsonPatch(object, operations, { dialect: 'kubernetes' });
    return isJsonObject(next) ? next : {};
  } catch (error) {
    if (error instanceof JsonPatchError) throw internalError(error.message);
    throw error;
  }
}

function decoded(kind: ServedKind, value: Readonly<Record<string, unknown>>): UnstructuredObject {
  try {
    return kind.decode(value).object;
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
}

/** Returns the outcome of a call that answered with `body`. */
function outcomeOf(body: unknown, asked: Parameters<typeof readAdmissionResponse>[1]): Outcome {
  try {
    const response = readAdmissionResponse(body, asked);
    if (typeof response !== 'string') return { response };
    const unsupported = response.startsWith('unsupported');
    return { failure: unsupported ? response : `received invalid webhook response: ${response}` };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { failure: `failed to call webhook: ${error.message}` };
  }
}

/** Returns the `Status` of a refusal, completed as on the real server. */
function refusal(name: string, { status: given = {} }: AdmissionResponse): StatusError {
  const { code = 0, message = '', reason = '', details, metadata = {} } = given;
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  const said = message || reason;
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: 'Failure',
    message: said === '' ? `${denied} without explanation` : `${denied}: ${said}`,
    ...(reason !== '' && { reason }),
    ...(details && { details }),
    code: code >= 400 ? code : 400,
  });
}
