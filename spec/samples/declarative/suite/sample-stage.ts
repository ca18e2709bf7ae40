import { DeclarativeManager } from '../../../../lib/declarative/index.js';
import { DeclarativeOperator } from '../../../../lib/declarative/operator/operator.js';
import { viewGroupOf } from '../../../../lib/declarative/spec/operator-spec.js';
import { ensureCrd } from '../../../../lib/client/index.js';
import type { CustomResourceDefinition } from '../../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';
import { applyAll, loadSample } from '../../../../samples/declarative/sample.js';
import type { Sample, SampleName } from '../../../../samples/declarative/sample.js';
import type { BuilderTarget } from '../../../builder/suite/target.js';
import { RunningOperators } from '../../suite/running-operators.js';

/** Namespaces that the samples name. */
const namespaces = ['default', 'edge', 'shop', 'lab'] as const;
type SampleNamespace = (typeof namespaces)[number];

/** A declarative sample on a target, in its own namespaces. */
export class SampleStage {
  readonly sample: Sample;
  readonly target: BuilderTarget;
  readonly #running: RunningOperators;
  readonly #names: ReadonlyMap<string, string>;
  #manager: DeclarativeManager | undefined;

  private constructor(target: BuilderTarget, sample: Sample, names: ReadonlyMap<string, string>) {
    this.target = target;
    this.sample = sample;
    this.#names = names;
    this.#running = new RunningOperators(target);
  }

  /** Creates the kinds and objects of a sample, without an operator. */
  static async open(target: BuilderTarget, name: SampleName): Promise<SampleStage> {
    const sample = await loadSample(name);
    const own = await target.namespace();
    const names = namespaces.map((each) => [each, each === 'default' ? own : `${own}-${each}`]);
    const stage = new SampleStage(target, sample, new Map(names as [string, string][]));
    for (const definition of sample.definitions) {
      await ensureCrd(target.admin, definition as unknown as CustomResourceDefinition);
    }
    await applyAll(target.admin, stage.relocated(sample.objects));
    return stage;
  }

  /** Returns the name of the test's namespace for a namespace of the sample. */
  namespace(name: SampleNamespace = 'default'): string {
    return this.#names.get(name) ?? name;
  }

  /** Starts an operator; resolves when it has written its initial state. */
  async start(): Promise<void> {
    const { client } = await this.target.operator();
    const { clock } = this.target;
    await this.#running.start(async ({ signal, onReady }) => {
      const manager = await DeclarativeManager.create({ client, clock });
      this.#manager = manager;
      const operator = await DeclarativeOperator.fromFile(
        this.sample.name,
        manager,
        this.sample.path,
      );
      const running = operator.start(signal);
      await Promise.race([operator.whenSynced(signal), running]);
      onReady();
      await running;
    });
  }

  /** Returns the views of a kind in the stage's namespace. */
  async views(kind: string): Promise<readonly UnstructuredObject[]> {
    const type = { apiVersion: `${viewGroupOf(this.sample.name)}/v1alpha1`, kind };
    const views = this.#manager?.views.client;
    const found = await views?.list<UnstructuredObject>(type, { namespace: this.namespace() });
    return found?.items ?? [];
  }

  stop(): Promise<void> {
    return this.#running.stop();
  }

  /** Applies the sample's change. */
  async change(): Promise<void> {
    await applyAll(this.target.admin, this.relocated(this.sample.change), 'change');
  }

  /** Calls `check` until it no longer throws. */
  eventually<T>(check: () => Promise<T>): Promise<T> {
    return this.#running.eventually(check);
  }

  /** Returns objects of the sample in the test's namespaces. */
  relocated(objects: readonly UnstructuredObject[]): UnstructuredObject[] {
    return objects.map((object) => {
      const moved = this.#moved(object) as UnstructuredObject;
      if (object.kind !== 'Namespace') return moved;
      const { name = '' } = object.metadata;
      return { ...moved, metadata: { ...moved.metadata, name: this.#names.get(name) ?? name } };
    });
  }

  #moved(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#moved(item));
    if (typeof value !== 'object' || value === null) return value;
    const moved = Object.entries(value).map(([name, member]) => {
      const isNamespace = name === 'namespace' && typeof member === 'string';
      return [name, isNamespace ? (this.#names.get(member) ?? member) : this.#moved(member)];
    });
    return Object.fromEntries(moved) as unknown;
  }
}
