import type {
  StatusCause,
  CustomResourceDefinition,
  KubernetesObject,
  ObjectMeta,
  UnstructuredObject,
  ResourceType,
  Schema,
} from '../../object/index.js';
import {
  describeObject,
  isJsonObject,
  jsonCopy,
  setMember,
  versionOf,
} from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { Convertible } from './convert-object.js';
import { materialize } from '../schema/embedded-schema.js';
import { defaultFields, prune } from '../validation/prune.js';
import { FieldErrors } from '../validation/field-errors.js';
import { jsonProblem } from '../validation/json-problem.js';
import { validateScaleSpec, validateScaleStatus } from '../validation/scale-range.js';
import { validateResource } from '../validation/validate-resource.js';
import { convertObject } from './convert-object.js';
import { InvalidDefinitionError } from './resource-definition.js';
import type { ResolvedDefinition, ResolvedVersion } from './resource-definition.js';
import { schemaFormProblems } from './schema-form.js';
import { validateStructure } from './schema-structure.js';
import { standardProps } from './standard-schema.js';
import type { StandardProps } from './standard-schema.js';

/** The address of a conversion webhook, as the API server reaches it. */
export type WebhookClientConfig = NonNullable<
  NonNullable<
    NonNullable<CustomResourceDefinition['spec']['conversion']>['webhook']
  >['clientConfig']
>;

/** A CustomResourceDefinition with a name. */
export type NamedDefinition = CustomResourceDefinition & { metadata: { name: string } };

/**
 * A custom resource made by `defineResource`: its `ResourceType` (for `Client` and `controllerFor`), its
 * CustomResourceDefinition, and the API server's validation. `T` is the type of an object as read, `I` as
 * written.
 *
 * Schemas are built, and rules compiled, on first use.
 */
export class CustomResource<out T extends KubernetesObject, in I>
  implements ResourceType<T>, Convertible
{
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** The names of all versions. */
  readonly versions: readonly string[];
  /** The version through which objects are converted: that of `conversion`, or the storage version. */
  readonly hub: string;
  readonly #definition: ResolvedDefinition;
  #schemas: ReadonlyMap<string, Schema> | undefined;
  /** Schemas that have only the status, by version. Each is made once: compiled rules are cached by schema object. */
  readonly #statusOnly = new Map<string, Schema>();

  /** @internal Use `defineResource`. */
  constructor(definition: ResolvedDefinition) {
    const { group, kind, plural, scope, versions, conversion } = definition;
    this.group = group;
    this.kind = kind;
    this.plural = plural;
    this.namespaced = scope === 'Namespaced';
    this.versions = versions.map(({ name }) => name);
    this.version = storageOf(versions).name;
    this.hub = typeof conversion === 'object' ? conversion.hub : this.version;
    this.#definition = definition;
  }

  /**
   * Whether functions convert the objects, so that the definition loses data without a conversion webhook.
   * @internal
   */
  get isConverted(): boolean {
    return typeof this.#definition.conversion === 'object' && this.versions.length > 1;
  }

  /** Group and version in which objects are stored: `example.com/v1`. */
  get apiVersion(): string {
    return `${this.group}/${this.version}`;
  }

  /**
   * Builds the CustomResourceDefinition, a new object on each access. It has no conversion: a resource with
   * functions that convert needs {@link CustomResource.crdWithWebhook}, or the API server drops fields.
   * @throws InvalidDefinitionError a schema is not structural, or a rule does not compile
   */
  get crd(): NamedDefinition {
    return structuredClone(crdObject(this.#definition, this.#allSchemas()));
  }

  /**
   * Builds the CustomResourceDefinition with a conversion webhook, for a resource with a `conversion`.
   * @throws InvalidDefinitionError
   */
  crdWithWebhook(clientConfig: WebhookClientConfig): NamedDefinition {
    const { crd } = this;
    const webhook = { clientConfig, conversionReviewVersions: ['v1'] };
    return { ...crd, spec: { ...crd.spec, conversion: { strategy: 'Webhook', webhook } } };
  }

  /**
   * Returns the structural schema of whole objects. The schema is shared; do not modify it.
   * @param version - @defaultValue the storage version
   * @throws InvalidDefinitionError
   * @throws OperatorError `InvalidOption`: unknown version
   */
  schema(version: string = this.version): Schema {
    const schema = this.#allSchemas().get(version);
    if (schema === undefined) throw this.#unknownVersion(version);
    return schema;
  }

  /**
   * Returns the schema of `status` as defined, with built-in types unresolved; undefined without a status.
   * @param version - @defaultValue the storage version
   */
  statusSchema(version: string = this.version): Schema | undefined {
    return this.#definition.versions.find(({ name }) => name === version)?.status;
  }

  /**
   * Checks that a version exists, without building its schema, which may be large.
   * @throws OperatorError `InvalidOption`: unknown version
   */
  checkVersion(version: string): void {
    if (!this.versions.includes(version)) throw this.#unknownVersion(version);
  }

  /**
   * Returns an object with apiVersion, kind and the defaults that the API server fills in. JSON drops undefined
   * members.
   * @throws OperatorError `InvalidValue`: part of the input has no JSON form, for example NaN; names the path.
   */
  object(input: I): T {
    const { apiVersion, kind } = this;
    const { metadata } = input as { readonly metadata?: ObjectMeta };
    const name = metadata?.name ?? metadata?.generateName ?? '';
    const copy = jsonCopy({ apiVersion, kind, ...(input as object) }, `${kind} ${name}`.trim());
    return this.withDefaults(copy as KubernetesObject) as T;
  }

  /** Returns a copy with the defaults that the API server fills in and without the nulls that it drops. */
  withDefaults<O extends KubernetesObject>(object: O): O {
    const schema = this.#schemaOf(object);
    const copy = structuredClone(object);
    defaultFields(copy, schema);
    return copy;
  }

  /** Returns a copy without the fields that the API server prunes, and the paths of these fields. */
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
   * Returns the problems for which the API server would reject an object, in its words; empty if the object
   * is valid. Prunes unknown fields and fills in defaults, then checks the schema, the CEL rules and the
   * replica range of a scale. Checks only those parts of the metadata that the schema describes.
   * @param old - the stored object; makes this an update: transition rules apply, and unchanged parts may
   * stay invalid
   * @throws OperatorError `InvalidObject`: wrong kind or version
   */
  validate(object: KubernetesObject, old?: KubernetesObject): readonly StatusCause[] {
    return this.#causesOf(this.#asStored(object), old && this.#asStored(old));
  }

  #causesOf(stored: KubernetesObject, old?: KubernetesObject): readonly StatusCause[] {
    const errors = new FieldErrors();
    const version = versionOf(stored.apiVersion);
    const fields = stored as unknown as Readonly<Record<string, unknown>>;
    const oldFields = old as unknown as Readonly<Record<string, unknown>> | undefined;
    validateResource(fields, { schema: this.schema(version), errors, old: oldFields });
    const scale = this.#definition.versions.find(({ name }) => name === version)?.scale;
    validateScaleSpec(fields, scale, errors);
    validateScaleStatus(fields, scale, errors);
    return errors.causes;
  }

  /**
   * Throws if {@link CustomResource.validate} finds a problem.
   * @throws OperatorError `InvalidObject`
   */
  assertValid(object: KubernetesObject, old?: KubernetesObject): void {
    const causes = this.validate(object, old);
    if (causes.length === 0) return;
    const text = `${describeObject(object)} is invalid: ${textOf(causes)}`;
    throw new OperatorError('InvalidObject', text);
  }

  /**
   * Returns the problems of a status: fields that the schema lacks (except in conditions), and violations of the
   * status's schema and rules. Rules of the whole object are not evaluated.
   * @param old - the stored status: unchanged parts may stay invalid
   * @param version - the version of the object
   * @throws OperatorError `InvalidOption`: unknown version
   * @internal
   */
  statusProblem(status: object, old: unknown, version: string): string | undefined {
    const schema = this.#statusOnlySchema(version);
    const pruned = (value: unknown) => {
      const result = prune({ ...(value !== undefined && { status: value }) }, schema);
      defaultFields(result.value, schema);
      return result as { value: Record<string, unknown>; unknownFields: readonly string[] };
    };
    const [{ value, unknownFields }, before] = [pruned(status), pruned(old)];
    // Two kinds of unknown fields are not reported. The operator writes the fields of conditions and
    // `observedGeneration` itself, and drops those that the server lacks. A newer release may have written the
    // fields that the stored status has.
    const isOwn = (field: string): boolean =>
      field.startsWith('status.conditions') || field === 'status.observedGeneration';
    const unknown = unknownFields.filter(
      (field) => !isOwn(field) && !before.unknownFields.includes(field),
    );
    const errors = new FieldErrors();
    validateResource(value, { schema, errors, old: before.value });
    const all = [
      ...unknown.map((field) => ({ field, message: 'not in the schema' })),
      // A cause without a field says only that rules were not checked because of the other causes.
      ...errors.causes.filter(({ field }) => field !== '<nil>'),
    ];
    return all.length === 0 ? undefined : textOf(all);
  }

  /**
   * The Standard Schema and Standard JSON Schema of whole objects, for frameworks that validate by them. The
   * value of a valid object has the defaults and lacks unknown fields, as the API server would store it.
   */
  get '~standard'(): StandardProps<T> {
    return standardProps<T>({
      causesOf: (object) => this.validate(object),
      stored: (object) => this.#asStored(object) as T,
      schema: () => this.schema(),
    });
  }

  convert(object: UnstructuredObject, desiredApiVersion: string): UnstructuredObject {
    return convertObject(this.#definition, {
      ...{ object, desiredApiVersion },
      problems: (stored) => this.#causesOf(stored).map((cause) => textOf([cause])),
      stored: (one) => this.#asStored(one),
      schema: (version) => this.schema(version),
    });
  }

  #asStored<O extends KubernetesObject>(object: O): O {
    const { value } = this.prune(object);
    defaultFields(value, this.schema(versionOf(object.apiVersion)));
    return value;
  }

  #schemaOf(object: KubernetesObject): Schema {
    const problem = objectProblem(object);
    if (problem !== undefined) {
      throw new OperatorError('InvalidObject', `the value for a ${this.kind} ${problem}`);
    }
    const { apiVersion, kind } = object;
    const version = versionOf(apiVersion);
    if (kind === this.kind && apiVersion === `${this.group}/${version}`)
      return this.schema(version);
    const text = `${apiVersion} ${kind} is not a ${this.kind} of ${this.group}`;
    throw new OperatorError('InvalidObject', text);
  }

  #statusOnlySchema(version: string): Schema {
    const known = this.#statusOnly.get(version);
    if (known !== undefined) return known;
    const { status = {} } = this.schema(version).properties ?? {};
    const schema: Schema = { type: 'object', properties: { status } };
    this.#statusOnly.set(version, schema);
    return schema;
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

/** Returns why a value is not an API object; undefined if it is one. Callers in plain JavaScript may pass anything. */
function objectProblem(object: unknown): string | undefined {
  if (!isJsonObject(object)) return 'is not an object';
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

type CrdVersion = CustomResourceDefinition['spec']['versions'][number];

/** Builds the CustomResourceDefinition, without a conversion webhook. */
function crdObject(
  definition: ResolvedDefinition,
  schemas: ReadonlyMap<string, Schema>,
): NamedDefinition {
  const { group, kind, plural, singular, listKind, scope, labels, annotations } = definition;
  const { shortNames, categories, versions } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      ...(Object.keys(labels).length > 0 && { labels: { ...labels } }),
      ...(Object.keys(annotations).length > 0 && { annotations: { ...annotations } }),
    },
    spec: {
      group,
      scope,
      names: {
        ...{ kind, listKind, plural, singular },
        ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
        ...(categories.length > 0 && { categories: [...categories] }),
      },
      versions: versions.map((version) => crdVersion(version, schemas.get(version.name) ?? {})),
    },
  };
}

function crdVersion(version: ResolvedVersion, schema: Schema): CrdVersion {
  const { name, served, storage, deprecated, status, scale } = version;
  const { printerColumns, selectableFields } = version;
  const subresources = {
    ...(status !== undefined && { status: {} }),
    ...(scale !== undefined && { scale: given(scale) }),
  };
  return {
    ...{ name, served, storage },
    ...(deprecated !== false && { deprecated: true }),
    ...(typeof deprecated === 'string' && { deprecationWarning: deprecated }),
    // The JSON is the same; the types of client-node are narrower.
    schema: { openAPIV3Schema: schema as never },
    ...(Object.keys(subresources).length > 0 && { subresources }),
    ...(printerColumns.length > 0 && {
      additionalPrinterColumns: printerColumns.map((column) => given(column)),
    }),
    ...(selectableFields.length > 0 && {
      selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })),
    }),
  };
}

function given<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** Builds the schema of a version's whole object. */
function wholeSchema({ schema, status }: ResolvedVersion): Schema {
  const whole = materialize(schema);
  if (status === undefined) return whole;
  return { ...whole, properties: { ...whole.properties, status: materialize(status) } };
}
