import { CelError, CelList } from '../../crd/internal.js';
import { applyJsonPatch, deepEqual, isJsonObject, JsonPatchError } from '../../object/index.js';
import type { JsonPatchOperation, UnstructuredObject } from '../../object/index.js';
import { DecodeError } from '../go-json/decoding.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { mergeByPolicy } from '../structured-merge/index.js';
import type { AdmissionAttributes } from './admission-review.js';
import { inVersion, jsonValue } from './admission-review.js';
import { paramsOf } from './admission-policies.js';
import type { CompiledBinding, CompiledPolicy, PolicyMutation } from './admission-policies.js';
import { matchedKind } from './match-webhook.js';
import { mutationJson } from './mutation-expressions.js';
import {
  bindingMatches,
  conditionsOf,
  evaluated,
  policyRefusal,
  valuesOf,
} from './policy-admission.js';

/** The result of the MutatingAdmissionPolicies of a write. */
export interface PolicyMutations {
  readonly object: UnstructuredObject;
  /** Policies that must run again, because a later one changed the object. */
  readonly again: ReadonlySet<string>;
  /** Policies that ran and accept a second run. */
  readonly reinvocable: ReadonlySet<string>;
}

/** A mutation fails; the failure policy decides about the write. */
class MutationError extends Error {
  override readonly name = 'MutationError';
}

/**
 * Applies all bound MutatingAdmissionPolicies, in the order of their names.
 * @param only - the policies to apply. @defaultValue all
 * @throws StatusError 422: a mutation fails, and its policy does not ignore that.
 */
export function mutateByPolicies(
  core: ServerCore,
  attributes: AdmissionAttributes & { readonly object: UnstructuredObject },
  only?: ReadonlySet<string>,
): PolicyMutations {
  let current = attributes.object;
  const again = new Set<string>();
  const reinvocable = new Set<string>();
  for (const policy of core.mutatingPolicies.all()) {
    if (only !== undefined && !only.has(policy.name)) continue;
    const given = { ...attributes, object: current };
    const kind = matchedKind(core, policy.constraints, given);
    if (kind === undefined) continue;
    for (const binding of policy.bindings) {
      const seen = { ...attributes, object: current };
      if (!bindingMatches(core, binding, seen)) continue;
      const next = mutated(core, { policy, binding, kind }, seen);
      if (next !== current) for (const name of reinvocable) again.add(name);
      current = next;
    }
    if (policy.isReinvocable) reinvocable.add(policy.name);
  }
  return { object: current, again, reinvocable };
}

interface Applied {
  readonly policy: CompiledPolicy;
  readonly binding: CompiledBinding;
  readonly kind: ServedKind;
}

function mutated(
  core: ServerCore,
  applied: Applied,
  attributes: AdmissionAttributes & { readonly object: UnstructuredObject },
): UnstructuredObject {
  const { policy, binding, kind } = applied;
  try {
    return mutatedBy(core, applied, attributes);
  } catch (error) {
    if (!(error instanceof MutationError)) throw error;
    if (policy.ignoresFailures) return attributes.object;
    const where = `policy '${policy.name}' with binding '${binding.name}'`;
    const message = `${where} denied request: ${error.message}`;
    throw policyRefusal({ ...attributes, kind }, { message, reason: undefined });
  }
}

function mutatedBy(
  core: ServerCore,
  { policy, binding, kind }: Applied,
  attributes: AdmissionAttributes & { readonly object: UnstructuredObject },
): UnstructuredObject {
  const { programs } = policy;
  if (typeof programs === 'string') throw new MutationError(programs);
  const { paramRef } = binding;
  const params = paramsOf(core, policy, { paramRef, namespace: attributes.namespace });
  if (typeof params === 'string') throw new MutationError(params);
  let current = attributes.object;
  for (const param of params) {
    const valuesFor = (object: UnstructuredObject) => {
      const seen = valuesOf(core, kind, { ...attributes, object });
      return programs.policy.withVariables({ ...seen, params: jsonValue(param) });
    };
    const unmet = conditionsOf(programs, valuesFor(current));
    if (unmet === 'unmet') continue;
    if (unmet !== undefined) throw new MutationError(unmet);
    for (const mutation of programs.mutations) {
      const result = evaluated(() => mutation.program.evaluate(valuesFor(current)));
      if (result instanceof CelError) {
        const where = `expression '${mutation.expression}' resulted in error`;
        throw new MutationError(`${where}: ${result.message}`);
      }
      const given = inVersion(current, attributes, kind) ?? current;
      const changed = changedBy(mutation, kind, { given, result });
      if (deepEqual(changed, given)) continue;
      const { kind: own } = attributes;
      current = inVersion(changed, { ...attributes, kind }, own) ?? changed;
    }
  }
  return current;
}

type Value = ReturnType<PolicyMutation['program']['evaluate']>;

function changedBy(
  { type }: PolicyMutation,
  kind: ServedKind,
  { given, result }: { readonly given: UnstructuredObject; readonly result: Value },
): UnstructuredObject {
  try {
    const next =
      type === 'JSONPatch' ? patched(given, result) : merged(given, kind, mutationJson(result));
    const { object } = kind.decode(isJsonObject(next) ? next : {});
    kind.rules.defaults?.(object);
    return object;
  } catch (error) {
    if (error instanceof CelError) throw new MutationError(error.message);
    if (error instanceof DecodeError) throw new MutationError(error.message);
    throw error;
  }
}

function patched(given: UnstructuredObject, result: Value): unknown {
  const items = result instanceof CelList ? result.items : [];
  const operations = items.map((item) => mutationJson(item) as JsonPatchOperation);
  try {
    return applyJsonPatch(given, operations, { dialect: 'kubernetes' });
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    // As on a real server: the patch of a failed test is not applied.
    if (error.message.includes('test')) return given;
    throw new MutationError(`JSON Patch: ${error.message}`);
  }
}

function merged(given: UnstructuredObject, kind: ServedKind, applied: unknown): unknown {
  const { atomics, value } = mergeByPolicy(given, applied, kind.schema());
  if (atomics.length === 0) return value;
  const problem = `may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`;
  throw new MutationError(`error applying patch: invalid ApplyConfiguration: ${problem}`);
}
