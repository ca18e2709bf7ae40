import { CelError, CelList } from '../../crd/internal.js';
import {
  apiVersionOf,
  applyJsonPatch,
  deepEqual,
  isJsonObject,
  JsonPatchError,
} from '../../object/index.js';
import type { JsonPatchOperation, UnstructuredObject } from '../../object/index.js';
import { DecodeError } from '../go-json/decoding.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { failure, forbidden } from '../status-error.js';
import { mergeByPolicy } from '../structured-merge/index.js';
import type { AdmissionAttributes } from './admission-review.js';
import { inVersion, jsonValue, typeChange } from './admission-review.js';
import { paramsOf } from './admission-policies.js';
import type {
  CompiledBinding,
  CompiledPolicy,
  PolicyMutation,
  PolicyValues,
} from './admission-policies.js';
import { matchedKind } from './match-webhook.js';
import { mutationJson } from './mutation-expressions.js';
import { bindingMatches, conditionsOf, evaluated, valuesOf } from './policy-admission.js';

/** The result of the MutatingAdmissionPolicies of a write. */
export interface PolicyMutations {
  readonly object: UnstructuredObject;
  /**
   * The policies with the `reinvocationPolicy` `IfNeeded` that ran, each with its binding and parameter. The real
   * server runs them again after any change, even after their own.
   */
  readonly reinvocable: ReadonlySet<string>;
}

/** A mutation has no valid result. */
class MutationError extends Error {}

/**
 * Applies all bound MutatingAdmissionPolicies, in the order of their names.
 * @param only - the policies to run again: some of `reinvocable` of the first run. @defaultValue all policies
 * @throws StatusError 403: mutations fail, and their policies do not ignore that.
 */
export function mutateByPolicies(
  core: ServerCore,
  attributes: Mutable,
  only?: ReadonlySet<string>,
): PolicyMutations {
  let current = attributes.object;
  const reinvocable = new Set<string>();
  const failures: string[] = [];
  for (const policy of core.mutatingPolicies.all()) {
    const kind = matchedKind(core, policy.constraints, { ...attributes, object: current });
    if (kind === undefined) continue;
    for (const binding of policy.bindings) {
      const seen = { ...attributes, object: current };
      if (!bindingMatches(core, binding, seen)) continue;
      const where = `policy '${policy.name}' with binding '${binding.name}'`;
      current = mutated(core, { policy, binding, kind }, seen, {
        runs: (key) => only?.has(key) !== false,
        ran: (key) => {
          if (policy.isReinvocable) reinvocable.add(key);
        },
        fail: (problem) => {
          if (!policy.ignoresFailures) failures.push(`${where} denied request: ${problem}`);
        },
      });
    }
  }
  const [message] = failures;
  if (message !== undefined) throw refusal(attributes, message, failures);
  return { object: current, reinvocable };
}

function refusal(
  { kind, name, object }: Mutable,
  message: string,
  failures: readonly string[],
): Error {
  const { group, plural } = kind.type;
  const own = name || object.metadata.name || object.metadata.generateName || 'Unknown';
  const { body } = forbidden({ group, plural, name: own }, message);
  const causes = failures.map((failed) => ({ message: failed }));
  // As on a real server: the code 403 with the reason `Invalid`, which elsewhere has the code 422.
  return failure(403, 'Invalid', message, { ...body.details, causes });
}

type Mutable = AdmissionAttributes & { readonly object: UnstructuredObject };

interface Applied {
  readonly policy: CompiledPolicy;
  readonly binding: CompiledBinding;
  readonly kind: ServedKind;
}

/** Callbacks of the evaluation of a mutating policy. A key names a policy, a binding and a parameter. */
interface PolicyRun {
  readonly runs: (key: string) => boolean;
  readonly ran: (key: string) => void;
  readonly fail: (problem: string) => void;
}

/** Applies a policy. A mutation that fails changes nothing, and the next mutation runs. */
function mutated(
  core: ServerCore,
  { policy, binding, kind }: Applied,
  attributes: Mutable,
  { runs, ran, fail }: PolicyRun,
): UnstructuredObject {
  const { programs } = policy;
  const { paramRef } = binding;
  let current = attributes.object;
  if (typeof programs === 'string') {
    fail(programs);
    return current;
  }
  const params = paramsOf(core, policy, { paramRef, namespace: attributes.namespace });
  if (typeof params === 'string') {
    fail(params);
    return current;
  }
  for (const param of params) {
    const valuesFor = (object: UnstructuredObject): PolicyValues => {
      const seen = valuesOf(core, kind, { ...attributes, object });
      return programs.policy.withVariables({ ...seen, params: jsonValue(param) });
    };
    const unmet = conditionsOf(programs, valuesFor(current));
    if (unmet !== undefined) {
      if (unmet !== 'unmet') fail(unmet);
      continue;
    }
    const { name, namespace } = param?.metadata ?? {};
    const key = JSON.stringify([policy.name, binding.name, namespace, name]);
    if (!runs(key)) continue;
    ran(key);
    for (const mutation of programs.mutations) {
      const given = inVersion(current, attributes, kind) ?? current;
      const reader = attributes.objectKind ?? kind;
      const result = attempted(mutation, { kind: reader, given, values: valuesFor(current) });
      const changed = typeof result === 'string' ? result : (scaleProblem(attributes) ?? result);
      if (typeof changed === 'string') fail(changed);
      else if (!deepEqual(changed, given)) {
        const { kind: own } = attributes;
        current = inVersion(changed, { ...attributes, kind }, own) ?? changed;
      }
    }
  }
  return current;
}

/**
 * Returns the error for a policy that changes the Scale of a custom resource. The real server converts the Scale as if
 * it were a custom resource, which fails.
 */
function scaleProblem({ kind, objectKind }: Mutable): string | undefined {
  if (kind.custom === undefined || objectKind === undefined) return undefined;
  return `request to convert CR to an invalid group/version: ${apiVersionOf(objectKind.type)}`;
}

interface Given {
  readonly kind: ServedKind;
  readonly given: UnstructuredObject;
  readonly values: PolicyValues;
}

/** Returns the object after a mutation, or a string with the problem. */
function attempted(
  mutation: PolicyMutation,
  { kind, given, values }: Given,
): UnstructuredObject | string {
  const result = evaluated(() => mutation.program.evaluate(values));
  if (result instanceof CelError) {
    return `expression '${mutation.expression}' resulted in error: ${result.message}`;
  }
  try {
    return changedBy(mutation, kind, { given, result });
  } catch (error) {
    if (error instanceof MutationError) return error.message;
    throw error;
  }
}

type Value = ReturnType<PolicyMutation['program']['evaluate']>;

function changedBy(
  { type }: PolicyMutation,
  kind: ServedKind,
  { given, result }: { readonly given: UnstructuredObject; readonly result: Value },
): UnstructuredObject {
  try {
    const next =
      type === 'JSONPatch'
        ? patched(given, kind, result)
        : merged(given, kind, mutationJson(result));
    const { object } = kind.decode(isJsonObject(next) ? next : {});
    kind.rules.defaults?.(object);
    return object;
  } catch (error) {
    if (error instanceof CelError) throw new MutationError(error.message);
    if (error instanceof DecodeError) throw new MutationError(error.message);
    throw error;
  }
}

function patched(
  given: UnstructuredObject,
  kind: ServedKind,
  result: Value,
): Readonly<Record<string, unknown>> {
  const items = result instanceof CelList ? result.items : [];
  const operations = items.map((item) => mutationJson(item) as JsonPatchOperation);
  let next: unknown;
  try {
    next = applyJsonPatch(given, operations, { dialect: 'kubernetes' });
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    // As on a real server: if a `test` operation fails, the whole JSON patch changes nothing.
    if (error.problem === 'test-failed') return given;
    const { op, path = '' } = operations[error.index] ?? {};
    const isMissing = error.problem === 'missing-path' && op === 'add';
    const missing = `add operation does not apply: doc is missing path: "${path}": missing value`;
    const problem = error.message.replace(/^JSON patch: /, '');
    throw new MutationError(`JSON Patch: ${isMissing ? missing : problem}`);
  }
  const object = isJsonObject(next) ? next : {};
  const change = typeChange(kind, given, object);
  if (change !== undefined) throw new MutationError(`JSON Patch: ${change}`);
  return object;
}

function merged(given: UnstructuredObject, kind: ServedKind, applied: unknown): unknown {
  const { atomics, value } = mergeByPolicy(given, applied, kind.schema());
  if (atomics.length === 0) return value;
  const problem = `may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`;
  throw new MutationError(`error applying patch: invalid ApplyConfiguration: ${problem}`);
}
