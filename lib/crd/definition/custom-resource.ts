import type { StatusCause } from '../../object/api-error.js';
import { describeObject } from '../../object/describe-object.js';
import { isJsonObject, setMember } from '../../object/json.js';
import type { CustomResourceDefinition } from '../../object/kinds.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { versionOf } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { Schema } from '../../object/schema.js';
import { OperatorError } from '../../system/operator-error.js';
import type { Convertible } from '../convertible.js';
import { defaultFields } from '../validation/default-fields.js';
import { FieldErrors } from '../validation/field-errors.js';
import { jsonProblem } from '../validation/json-problem.js';
import { prune } from '../validation/prune.js';
import { validateScaleSpec, validateScaleStatus } from '../validation/scale-range.js';
import { validateResource } from '../validation/validate-resource.js';
import { convertObject } from './convert-object.js';
import { crdObject, wholeSchema } from './crd-object.js';
import { InvalidDefinitionError } from './invalid-definition-error.js';
import type { ResolvedDefinition, ResolvedVersion } from './resolve-definition.js';
import { schemaFormProblems } from './schema-form.js';
import { validateStructure } from './schema-structure.js';
import { refuseUnknownOptions } from '../../system/known-options.js';

/** How an API server reaches a conversion webhook. */
export type WebhookClientConfig = NonNullable<
  NonNullable<
    NonNullable<CustomResourceDefinition['spec']['conversion']>['webhook']
  >['clientConfig']
>;

/** A CustomResourceDefinition with a name. */
export type NamedDefinition = CustomResourceDefinition & { metadata: { name: string } };

/** Options of {@link CustomResource.validate}. */
export interface ValidateOptions {
  /** Only the status is written, through its subresource. @defaultValue false */
  readonly statusOnly?: boolean;
}

/**
 * A custom resource that `defineResource` made: where its objects are served (a `ResourceType`, for
 * `Client` and `controllerFor`), its CustomResourceDefinition, and what the API server would say of
 * an object. `T` is an object as it is read, `I` what may be written.
 *
 * Schemas are put together, and rules compiled, when they are first asked for.
 */
export class CustomResource<out T extends KubernetesObject, in I>
  implements ResourceType<T>, Convertible
{
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** The names of all its versions. */
  readonly versions: readonly string[];
  readonly #definition: ResolvedDefinition;
  #schemas: ReadonlyMap<string, Schema> | undefined;

  /** @internal Use `defineResource`. */
  constructor(definition: ResolvedDefinition) {
    const { group, kind, plural, scope, versions } = definition;
    this.group = group;
    this.kind = kind;
    this.plural = plural;
    this.namespaced = scope === 'Namespaced';
    this.versions = versions.map(({ name }) => name);
    this.version = storageOf(versions).name;
    this.#definition = definition;
  }

  /** Group and version of the objects that are stored: `example.com/v1`. */
  get apiVersion(): string {
    return `${this.group}/${this.version}`;
  }

  /**
   * The CustomResourceDefinition: a new object each time.
   * @throws InvalidDefinitionError a schema is not structural, or a rule does not compile
   */
  get crd(): NamedDefinition {
    return structuredClone(crdObject(this.#definition, this.#allSchemas()));
  }

  /**
   * The CustomResourceDefinition with a conversion webhook, for a resource with a `conversion`.
   * @throws InvalidDefinitionError
   */
  crdWithWebhook(clientConfig: WebhookClientConfig): NamedDefinition {
    const { crd } = this;
    const webhook = { clientConfig, conversionReviewVersions: ['v1'] };
    return { ...crd, spec: { ...crd.spec, conversion: { strategy: 'Webhook', webhook } } };
  }

  /**
   * The structural schema of whole objects. Shared: don't write into it.
   * @param version - @defaultValue the one that objects are stored in
   * @throws InvalidDefinitionError
   * @throws OperatorError `InvalidOption`: there is no such version
   */
  schema(version: string = this.version): Schema {
    const schema = this.#allSchemas().get(version);
    if (schema === undefined) throw this.#unknownVersion(version);
    return schema;
  }

  /**
   * The schema of `status` as it was defined, built-in types not put in; undefined where there is none.
   * @param version - @defaultValue the one that objects are stored in
   */
  statusSchema(version: string = this.version): Schema | undefined {
    return this.#definition.versions.find(({ name }) => name === version)?.status;
  }

  /**
   * Checks a version's name without its schema, which may be large.
   * @throws OperatorError `InvalidOption`: there is no such version
   */
  checkVersion(version: string): void {
    if (!this.versions.includes(version)) throw this.#unknownVersion(version);
  }

  /** An object with apiVersion and kind, and with the defaults that the API server fills in. */
  object(input: I): T {
    const { apiVersion, kind } = this;
    // By JSON's rules: what is undefined is left out.
    const copy: unknown = JSON.parse(JSON.stringify({ apiVersion, kind, ...(input as object) }));
    return this.withDefaults(copy as KubernetesObject) as T;
  }

  /** A copy with the defaults that the API server fills in, and without the nulls that it drops. */
  withDefaults<O extends KubernetesObject>(object: O): O {
    const schema = this.#schemaOf(object);
    const copy = structuredClone(object);
    defaultFields(copy, schema);
    return copy;
  }

  /** A copy without the fields that the API server would not store, and where these were. */
  prune<O extends KubernetesObject>(object: O): { value: O; unknownFields: readonly string[] } {
    const schema = this.#schemaOf(object);
    const { apiVersion, kind, metadata, ...rest } = object;
    const { value, unknownFields } = prune(rest, schema);
    const whole: Record<string, unknown> = {
      apiVersion,
      kind,
      metadata: structuredClone(metadata),
    };
    for (const [name, one] of Object.entries(value as object)) setMember(whole, name, one);
    return { value: whole as unknown as O, unknownFields };
  }

  /**
   * What the API server would refuse in an object, in its words: what the schema and its CEL rules
   * say after unknown fields are dropped and defaults filled in, and the range of the replicas of a
   * scale. Empty: nothing. Of the metadata nothing is checked but what the schema says of it.
   * @param old - what is stored: then it is an update, transition rules count, and what did not
   * change may stay invalid
   * @throws OperatorError `InvalidObject`: it is of another kind or version
   */
  validate(
    object: KubernetesObject,
    old?: KubernetesObject,
    options: ValidateOptions = {},
  ): readonly StatusCause[] {
    const { statusOnly = false } = options;
    refuseUnknownOptions<ValidateOptions>('validate', options, { statusOnly });
    const errors = new FieldErrors();
    const schema = this.#schemaOf(object);
    const stored = this.#asStored(object);
    validateResource(stored, {
      ...{ schema, errors, statusOnly },
      old: old === undefined ? undefined : this.#asStored(old),
    });
    const version = versionOf(object.apiVersion);
    const scale = this.#definition.versions.find(({ name }) => name === version)?.scale;
    if (!statusOnly) validateScaleSpec(stored, scale, errors);
    validateScaleStatus(stored, scale, errors);
    return errors.causes;
  }

  /**
   * Throws where {@link CustomResource.validate} finds something.
   * @throws OperatorError `InvalidObject`
   */
  assertValid(object: KubernetesObject, old?: KubernetesObject): void {
    const causes = this.validate(object, old);
    if (causes.length === 0) return;
    const text = `${describeObject(object)} is invalid: ${textOf(causes)}`;
    throw new OperatorError('InvalidObject', text);
  }

  convert(object: UnstructuredObject, desiredApiVersion: string): UnstructuredObject {
    const problems = (): string | undefined => {
      const causes = this.validate(object);
      return causes.length === 0 ? undefined : textOf(causes);
    };
    return convertObject(this.#definition, { object, desiredApiVersion, problems });
  }

  #asStored(object: KubernetesObject): Readonly<Record<string, unknown>> {
    const { value } = this.prune(object);
    return this.withDefaults(value) as unknown as Readonly<Record<string, unknown>>;
  }

  #schemaOf(object: KubernetesObject): Schema {
    const problem = objectProblem(object);
    if (problem !== undefined) {
      throw new OperatorError('InvalidObject', `what is given for a ${this.kind} ${problem}`);
    }
    const { apiVersion, kind } = object;
    const version = versionOf(apiVersion);
    if (kind === this.kind && apiVersion === `${this.group}/${version}`)
      return this.schema(version);
    const text = `${apiVersion} ${kind} is no ${this.kind} of ${this.group}`;
    throw new OperatorError('InvalidObject', text);
  }

  #unknownVersion(version: string): OperatorError {
    const what = `${this.kind} has no version ${version}: it has ${this.versions.join(', ')}`;
    return new OperatorError('InvalidOption', what);
  }

  #allSchemas(): ReadonlyMap<string, Schema> {
    this.#schemas ??= checkedSchemas(this.#definition);
    return this.#schemas;
  }
}

function textOf(causes: readonly StatusCause[]): string {
  return causes.map(({ field = '', message = '' }) => `${field}: ${message}`).join('; ');
}

/** Why a value is no object of the API; undefined: it is one. Plain JavaScript may give anything. */
function objectProblem(object: unknown): string | undefined {
  if (!isJsonObject(object)) return 'is no object';
  if (typeof object['apiVersion'] !== 'string') return 'has no apiVersion';
  if (typeof object['kind'] !== 'string') return 'has no kind';
  return jsonProblem(object);
}

function storageOf(versions: readonly ResolvedVersion[]): ResolvedVersion {
  const storage = versions.find((version) => version.storage);
  if (storage === undefined) throw new InvalidDefinitionError('', []);
  return storage;
}

function checkedSchemas({ kind, versions }: ResolvedDefinition): ReadonlyMap<string, Schema> {
  const errors = new FieldErrors();
  const schemas = versions.map((version, index) => {
    const field = `versions[${index}]`;
    const malformed = [
      ...schemaFormProblems(version.schema, `${field}.schema`),
      ...(version.status === undefined
        ? []
        : schemaFormProblems(version.status, `${field}.status`)),
    ];
    if (malformed.length > 0) throw new InvalidDefinitionError(kind, malformed);
    const schema = wholeSchema(version);
    validateStructure(schema, { field: `versions[${index}].schema`, errors });
    return [version.name, schema] as const;
  });
  if (errors.empty) return new Map(schemas);
  const problems = errors.causes.map(({ field = '', message = '' }) => ({ field, message }));
  throw new InvalidDefinitionError(kind, problems);
}
