import type {
  V1MatchResources,
  V1ParamRef,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
} from '@kubernetes/client-node';
import { CelCompileError, compileCel, dynType, structType, CelError } from '../../crd/internal.js';
import type { CelExtension, CelProgram, CelType, CelMap, CelValue } from '../../crd/internal.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { groupOf, versionOf } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { storageKey } from '../server-core.js';
import type { ServerCore } from '../server-core.js';
import type { Collection, MvccLog } from '../storage/mvcc-log.js';
import { selects } from '../rules/metadata.js';
import { admissionVariables } from './admission-review.js';
import { authorizerFunctions, authorizerVariables } from './authorizer-expressions.js';
import { mutationExtension, mutationTypeProblem, mutationTypes } from './mutation-expressions.js';

/** One of `spec.mutations` of a MutatingAdmissionPolicy. */
interface Mutation {
  readonly patchType: keyof typeof mutationTypes;
  readonly jsonPatch?: { readonly expression?: string };
  readonly applyConfiguration?: { readonly expression?: string };
}

type PolicySpec = NonNullable<Wire<V1ValidatingAdmissionPolicy>['spec']> & {
  readonly mutations?: readonly Mutation[];
  readonly reinvocationPolicy?: string;
};

/** A ValidatingAdmissionPolicy or a MutatingAdmissionPolicy. */
interface AnyPolicy extends Omit<Wire<V1ValidatingAdmissionPolicy>, 'spec'> {
  spec?: PolicySpec;
}

type Binding = Wire<V1ValidatingAdmissionPolicyBinding>;

/** The writes that a policy or a binding matches. */
type MatchResources = Wire<V1MatchResources>;

export interface PolicyValidation {
  readonly expression: string;
  readonly program: CelProgram;
  readonly message: string | undefined;
  readonly messageProgram: CelProgram | undefined;
  readonly reason: string | undefined;
}

export interface PolicyMutation {
  readonly type: keyof typeof mutationTypes;
  readonly expression: string;
  readonly program: CelProgram;
}

export interface CompiledPolicy {
  readonly name: string;
  readonly constraints: MatchResources;
  readonly ignoresFailures: boolean;
  readonly paramKind: { readonly apiVersion?: string; readonly kind?: string } | undefined;
  readonly bindings: readonly CompiledBinding[];
  /** True if a mutating policy may run again after later changes. */
  readonly isReinvocable: boolean;
  /** The compiled expressions, or a string with the compile error. */
  readonly programs: CompiledPrograms | string;
}

/** The expressions of a policy. */
export interface CompiledPrograms {
  readonly policy: PolicyPrograms;
  readonly conditions: readonly { readonly expression: string; readonly program: CelProgram }[];
  readonly validations: readonly PolicyValidation[];
  readonly mutations: readonly PolicyMutation[];
}

/** A compiled binding: the writes that it matches, and its actions. */
export interface CompiledBinding {
  readonly name: string;
  readonly resources: MatchResources;
  readonly actions: readonly string[];
  readonly paramRef: Wire<V1ParamRef> | undefined;
}

const group = 'admissionregistration.k8s.io';

/** The current policies of one type, each with its bindings. */
export class AdmissionPolicies {
  readonly #stored: readonly [policies: Collection, bindings: Collection];
  #state = '';
  #policies: readonly CompiledPolicy[] = [];

  constructor(log: MvccLog, type: 'validating' | 'mutating') {
    const name = `${group}/${type}admissionpolic`;
    this.#stored = [log.collection(`${name}ies`), log.collection(`${name}ybindings`)];
  }

  /** True if there are no policies or no bindings. */
  get empty(): boolean {
    const [ofPolicies, ofBindings] = this.#stored;
    return ofPolicies.size === 0 || ofBindings.size === 0;
  }

  all(): readonly CompiledPolicy[] {
    const [ofPolicies, ofBindings] = this.#stored;
    const state = `${ofPolicies.end} ${ofBindings.end}`;
    if (state === this.#state) return this.#policies;
    const bound = [...ofBindings.contents().values()] as unknown as Binding[];
    this.#policies = [...ofPolicies.contents().values()].map((policy) =>
      compiled(policy as unknown as AnyPolicy, bound),
    );
    this.#state = state;
    return this.#policies;
  }
}

function compiled({ metadata, spec = {} }: AnyPolicy, bound: readonly Binding[]): CompiledPolicy {
  const name = metadata?.name ?? '';
  const own = bound.filter((binding) => binding.spec?.policyName === name);
  return {
    name,
    constraints: spec.matchConstraints ?? {},
    ignoresFailures: spec.failurePolicy === 'Ignore',
    paramKind: spec.paramKind,
    bindings: own.map((binding) => ({
      name: binding.metadata?.name ?? '',
      resources: binding.spec?.matchResources ?? {},
      actions: binding.spec?.validationActions ?? [],
      paramRef: binding.spec?.paramRef,
    })),
    isReinvocable: spec.reinvocationPolicy === 'IfNeeded',
    programs: compiledPrograms(spec),
  };
}

function compiledPrograms(spec: PolicySpec): CompiledPrograms | string {
  try {
    const rights = { functions: authorizerFunctions };
    const extension = spec.mutations === undefined ? rights : mutationExtension;
    const policy = new PolicyPrograms(spec.variables ?? [], extension);
    const conditions = (spec.matchConditions ?? []).map(({ expression }) => {
      return { expression, program: policy.compile(expression) };
    });
    const validations = (spec.validations ?? []).map((validation) => {
      const { expression, message, messageExpression = '', reason } = validation;
      const messageProgram =
        messageExpression === '' ? undefined : policy.compile(messageExpression);
      return { expression, program: policy.compile(expression), message, messageProgram, reason };
    });
    const mutations = (spec.mutations ?? []).map((mutation) => compiledMutation(policy, mutation));
    return { policy, conditions, validations, mutations };
  } catch (error) {
    if (error instanceof CelCompileError) return `compilation error: ${error.message}`;
    throw error;
  }
}

/** @throws CelCompileError */
function compiledMutation(policy: PolicyPrograms, given: Mutation): PolicyMutation {
  const { patchType: type, jsonPatch, applyConfiguration } = given;
  const { expression = '' } = (type === 'JSONPatch' ? jsonPatch : applyConfiguration) ?? {};
  const program = policy.compile(expression);
  const problem = mutationTypeProblem(program, mutationTypes[type]);
  if (problem !== undefined) throw new CelCompileError(expression, [{ at: 0, message: problem }]);
  return { type, expression, program };
}

/**
 * Returns the parameter objects for which a binding evaluates a policy. An undefined entry stands for an evaluation
 * without a parameter.
 * @returns a string with the reason if the binding cannot be used
 */
export function paramsOf(
  core: ServerCore,
  { paramKind }: CompiledPolicy,
  {
    paramRef,
    namespace,
  }: { readonly paramRef: CompiledBinding['paramRef']; readonly namespace: string },
): readonly (UnstructuredObject | undefined)[] | string {
  if (paramKind === undefined || paramRef === undefined) return [undefined];
  const { apiVersion = '', kind: name = '' } = paramKind;
  const kind = core.kinds.findKind(groupOf(apiVersion), versionOf(apiVersion), name);
  if (kind === undefined) {
    return `failed to configure binding: paramKind kind \`${apiVersion}, Kind=${name}\` not known`;
  }
  const given = paramRef.namespace ?? '';
  if (given !== '' && !kind.type.namespaced) {
    return 'failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`';
  }
  const where = kind.type.namespaced ? given || namespace : '';
  if (kind.type.namespaced && where === '') {
    return 'failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources';
  }
  const found = selectedParams(core, kind, { paramRef, namespace: where });
  if (found.length > 0 || paramRef.parameterNotFoundAction !== 'Deny') return found;
  return 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';
}

function selectedParams(
  core: ServerCore,
  kind: ServedKind,
  { paramRef, namespace }: { readonly paramRef: Wire<V1ParamRef>; readonly namespace: string },
): UnstructuredObject[] {
  const collection = core.log.collection(kind.collection);
  const { name = '', selector } = paramRef;
  const keys =
    name === ''
      ? collection.keys(namespace === '' ? '' : `${namespace}/`)
      : [storageKey(namespace, name)];
  return keys
    .map((key) => collection.get(key))
    .filter((object) => object !== undefined)
    .filter((object) => name !== '' || selects(selector ?? {}, object.metadata.labels) === true)
    .map((object) => kind.fromStorage(object));
}

/** The values of an expression's variables. */
export type PolicyValues = Readonly<Record<string, CelValue>>;

/** A variable of a policy: `variables` of its spec. */
interface PolicyVariable {
  readonly name: string;
  readonly expression: string;
}

/** Compiles the expressions of one policy, which share its variables. */
class PolicyPrograms {
  readonly #types: Map<string, CelType>;
  readonly #extension: CelExtension;
  readonly #variables: readonly { readonly name: string; readonly program: CelProgram }[];

  /** Compiles the variables. @throws CelCompileError a variable cannot be compiled. */
  constructor(variables: readonly PolicyVariable[], extension: CelExtension) {
    this.#extension = extension;
    this.#types = new Map([...admissionVariables, ...authorizerVariables, ['params', dynType]]);
    const fields = new Map<string, CelType>();
    this.#variables = variables.map(({ name, expression }) => {
      this.#types.set('variables', structType('kubernetes.variables', new Map(fields)));
      const program = compileCel(expression, this.#types, this.#extension);
      fields.set(name, program.type);
      return { name, program };
    });
    this.#types.set('variables', structType('kubernetes.variables', fields));
  }

  /** Compiles an expression. @throws CelCompileError */
  compile(expression: string): CelProgram {
    return compileCel(expression, this.#types, this.#extension);
  }

  /** Returns `values` with the policy's variables, each computed at its first use. */
  withVariables(values: PolicyValues): PolicyValues {
    const all: Record<string, CelValue> = { ...values };
    const programs = new Map(this.#variables.map(({ name, program }) => [name, program]));
    all['variables'] = new LazyVariables(programs, all);
    return all;
  }
}

class LazyVariables implements CelMap {
  readonly isMap = true;
  readonly #programs: ReadonlyMap<string, CelProgram>;
  readonly #values: PolicyValues;
  readonly #known = new Map<string, CelValue>();

  constructor(programs: ReadonlyMap<string, CelProgram>, values: PolicyValues) {
    this.#programs = programs;
    this.#values = values;
  }

  get size(): number {
    return this.#programs.size;
  }

  keys(): readonly CelValue[] {
    return [...this.#programs.keys()];
  }

  get(key: CelValue): CelValue | undefined {
    const name = typeof key === 'string' ? key : '';
    const program = this.#programs.get(name);
    if (program === undefined) return undefined;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    try {
      const value = program.evaluate(this.#values);
      this.#known.set(name, value);
      return value;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      throw new CelError(`composited variable "${name}" fails to evaluate: ${error.message}`);
    }
  }
}
