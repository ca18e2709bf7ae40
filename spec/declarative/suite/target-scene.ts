import { TargetWriter } from '../../../lib/declarative/runtime/target-writer.js';
import { expect } from 'chai';
import { ensureCrd, retryOnConflict } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import type { Operation } from '../../../lib/apply/index.js';
import type { WriteContext } from '../../../lib/declarative/runtime/target-writer.js';
import type { Document } from '../../../lib/declarative/document.js';
import type { TargetType } from '../../../lib/declarative/spec/operator-spec.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import type { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import type {
  KubernetesObject,
  UnstructuredObject,
} from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import type { BuilderTarget, Operator } from '../../builder/suite/target.js';
import { isWrite } from '../../builder/suite/target.js';

const group = 'targets.example.com';

/** A kind with a schema, defaults, lists of all types and a status subresource. */
export const Widget: ResourceType = customType('Widget', true);
/** A kind without a schema or subresources. */
export const Gadget: ResourceType = customType('Gadget', true);
/** A kind without a schema or namespaces. */
export const Realm: ResourceType = customType('Realm', false);

function customType(kind: string, namespaced: boolean): ResourceType {
  return { group, version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced };
}

/** Installs the kinds of the suite. */
export async function installKinds(client: Client, clock: BuilderTarget['clock']): Promise<void> {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const definitions = [
    definition(Widget, widgetSchema, { status: {} }),
    ...[Gadget, Realm].map((type) => definition(type, open)),
  ];
  await Promise.all(definitions.map((each) => ensureCrd(client, each, { clock })));
}

const text = { type: 'string' };
const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', default: 3 },
        color: text,
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            ...{ type: 'object', required: ['name'] },
            properties: { name: text, weight: { type: 'integer', default: 1 }, note: text },
          },
        },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        steps: {
          type: 'array',
          items: {
            type: 'object',
            properties: { run: text, retries: { type: 'integer', default: 2 } },
          },
        },
      },
    },
    status: {
      type: 'object',
      properties: { phase: text, seen: { type: 'integer' }, note: text },
    },
  },
};

function definition(
  { kind, plural, namespaced }: ResourceType,
  openAPIV3Schema: object,
  subresources?: object,
): CustomResourceDefinition {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, names: { kind, plural }, scope: namespaced ? 'Namespaced' : 'Cluster' },
      versions: [{ ...version, ...(subresources !== undefined && { subresources }) }],
    },
  };
}

/** Opens a {@link TargetScene}. */
export type OpenTargetScene = () => Promise<TargetScene>;

/** A separate namespace, and an operator that writes to targets. */
export class TargetScene {
  readonly target: BuilderTarget;
  readonly namespace: string;
  readonly #operator: Operator;

  private constructor(target: BuilderTarget, operator: Operator, namespace: string) {
    this.target = target;
    this.#operator = operator;
    this.namespace = namespace;
  }

  static async open(target: BuilderTarget): Promise<TargetScene> {
    const [operator, namespace] = await Promise.all([target.operator(), target.namespace()]);
    await operator.requests();
    return new TargetScene(target, operator, namespace);
  }

  get admin(): Client {
    return this.target.admin;
  }

  get context(): WriteContext {
    return { client: this.#operator.client, signal: new AbortController().signal };
  }

  /** Creates a writer that has not written anything yet, as in a new process. */
  writing(type: ResourceType<KubernetesObject>, how: TargetType, manager = 'shop/web'): Writing {
    const resource = type as ResourceType;
    const writer = new TargetWriter({
      ...{ type: resource, how, fieldManager: manager },
    });
    return new Writing(this, resource, writer);
  }

  updater(type: ResourceType<KubernetesObject>, manager?: string): Writing {
    return this.writing(type, 'Updater', manager);
  }

  patcher(type: ResourceType<KubernetesObject>, manager?: string): Writing {
    return this.writing(type, 'Patcher', manager);
  }

  /** Creates an object as another client, like `kubectl create`. */
  create(type: ResourceType<KubernetesObject>, content: Document, name = 'web'): Promise<unknown> {
    const { group: ofType, version, kind } = type;
    const apiVersion = ofType === '' ? version : `${ofType}/${version}`;
    const { metadata = {}, ...rest } = content as Partial<UnstructuredObject>;
    const own = { ...metadata, name, ...(type.namespaced && { namespace: this.namespace }) };
    const object = { ...rest, apiVersion, kind, metadata: own };
    return this.admin.create<UnstructuredObject>(object, { fieldManager: 'kubectl-create' });
  }

  /** Changes an object as another client, like `kubectl edit`. */
  edit(
    type: ResourceType<KubernetesObject>,
    body: Document,
    subresource?: string,
  ): Promise<KubernetesObject> {
    const key = { namespace: this.namespace, name: 'web' };
    const options = { fieldManager: 'kubectl-edit', subresource };
    return this.admin.patch(type, key, { type: 'merge', body }, options);
  }

  /** Returns the object named `web`, or undefined if absent. */
  async find(type: ResourceType<KubernetesObject>): Promise<UnstructuredObject | undefined> {
    try {
      return await this.get(type);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  get(type: ResourceType<KubernetesObject>): Promise<UnstructuredObject> {
    const key = { namespace: this.namespace, name: 'web' };
    return this.admin.get(type as ResourceType, key);
  }

  /** Returns the operator's writes since the last call. */
  async writes(): Promise<readonly string[]> {
    const requests = await this.#operator.requests();
    return requests
      .filter(isWrite)
      .map(({ verb, resource, name }) => `${verb} ${resource}/${name}`);
  }
}

/** Kinds that a controller of the cluster also writes. */
const controlledKinds: ReadonlySet<string> = new Set([
  ...['CronJob', 'Deployment', 'PersistentVolumeClaim', 'Service', 'StatefulSet'],
]);

/** A writer and the object `web` of its target. */
export class Writing {
  readonly #scene: TargetScene;
  readonly #type: ResourceType;
  readonly writer: TargetWriter;

  constructor(scene: TargetScene, type: ResourceType, writer: TargetWriter) {
    this.#scene = scene;
    this.#type = type;
    this.writer = writer;
  }

  /** Writes the document, given without its name. Checks the writer's state before the write, and its result. */
  async write(document: Document, client = this.#scene.context.client): Promise<Operation> {
    const before = await this.#scene.find(this.#type);
    const wasCurrent = before !== undefined && this.isCurrent(before, document);
    const operation = await this.#noted(this.#whole(document), client);
    if (this.#isShared) return operation;
    if (wasCurrent) expect(operation, 'a write of a current object').to.equal('unchanged');
    const after = await this.#scene.get(this.#type);
    expect(this.isCurrent(after, document), 'is current after its write').to.equal(true);
    return operation;
  }

  remove(client = this.#scene.context.client): Promise<Operation> {
    return this.#noted(undefined, client);
  }

  isCurrent(live: UnstructuredObject, document: Document): boolean {
    return this.writer.isCurrent(live, this.#whole(document));
  }

  #whole(document: Document): Document {
    const { metadata = {}, ...rest } = document as { readonly metadata?: object };
    return { ...rest, metadata: { ...metadata, ...this.#key } };
  }

  /** Writes, and checks that the noted changes lead from the object before the write to the object after it. */
  async #noted(document: Document | undefined, client: Client): Promise<Operation> {
    const before = await this.#scene.find(this.#type);
    const notes: (string | undefined)[][] = [];
    const note: WriteContext['note'] = (...objects) => {
      notes.push(objects.map((object) => object?.metadata.resourceVersion));
    };
    const context = { ...this.#scene.context, client, note };
    const operation = await this.#queued(() => this.writer.write(this.#key, document, context));
    if (this.#isShared) return operation;
    const after = await this.#scene.find(this.#type);
    const [from, to] = [before, after].map((object) => object?.metadata.resourceVersion);
    if (operation === 'unchanged') expect(notes.filter(([a, b]) => a !== b)).to.deep.equal([]);
    else expect([notes[0]?.[0], notes.at(-1)?.[1]], 'notes').to.deep.equal([from, to]);
    return operation;
  }

  /** Whether a controller of the cluster writes the object too. */
  get #isShared(): boolean {
    return controlledKinds.has(this.#type.kind);
  }

  /** Retries conflicts with controllers of the cluster, as the queue would. */
  #queued(write: () => Promise<Operation>): Promise<Operation> {
    return this.#isShared ? retryOnConflict(write, { maxAttempts: 10 }) : write();
  }

  get #key() {
    const { namespace } = this.#scene;
    return this.#type.namespaced ? { namespace, name: 'web' } : { name: 'web' };
  }
}
