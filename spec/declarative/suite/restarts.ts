import { expect } from 'chai';
import type { Client } from '../../../lib/client/index.js';
import { Group } from '../../../lib/declarative/operator/index.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import { ConfigMap, Deployment, Secret } from '../../../lib/object/kinds.js';
import type {
  KubernetesObject,
  UnstructuredObject,
} from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import { apiVersionOf } from '../../../lib/object/resource-type.js';
import { isWrite } from '../../builder/suite/target.js';
import type { BuilderTarget, Operator } from '../../builder/suite/target.js';
import { sameName } from '../runtime/controller-scene.js';
import { Gadget, Widget, installKinds } from './target-scene.js';

/** A kind whose objects contain a text, and how operators name the kind. */
interface Texts {
  readonly type: ResourceType<KubernetesObject>;
  readonly named: object;
  /** Returns the content of an object with this text. In a pipeline, the text is an expression. */
  readonly content: (text: string) => object;
  readonly textOf: (object: UnstructuredObject) => unknown;
}

const pod = (image: string): object => ({
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'main', image }] },
});

const configMaps: Texts = {
  type: ConfigMap,
  named: { apiGroup: '', version: 'v1', kind: 'ConfigMap' },
  content: (text) => ({ data: { text } }),
  textOf: ({ data }) => (data as { readonly text?: string } | undefined)?.text,
};
const deployments: Texts = {
  type: Deployment,
  named: { apiGroup: 'apps', version: 'v1', kind: 'Deployment' },
  content: (image) => ({
    spec: { replicas: 0, selector: { matchLabels: { app: 'a' } }, template: pod(image) },
  }),
  textOf: (object) => (object as Deployment).spec?.template.spec?.containers[0]?.image,
};
const gadgets: Texts = {
  type: Gadget,
  named: { apiGroup: Gadget.group, kind: 'Gadget' },
  content: (text) => ({ spec: { text } }),
  textOf: ({ spec }) => (spec as { readonly text?: string }).text,
};
const widgets: Texts = {
  type: Widget,
  named: { apiGroup: Widget.group, kind: 'Widget' },
  content: (color) => ({ spec: { color, parts: [{ name: 'lid' }] } }),
  textOf: ({ spec }) => (spec as { readonly color?: string }).color,
};

const labels = { suite: 'restarts' };

/** A process of an operator, which is restarted repeatedly. */
class Process {
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #isSynced = false;

  private constructor(group: Group, synced: Promise<void>) {
    this.#running = group.start(this.#stop.signal);
    synced.then(
      () => (this.#isSynced = true),
      () => undefined, // The wait below fails.
    );
  }

  /** Starts a process, and waits for the initial reconcile. */
  static async start(
    target: BuilderTarget,
    client: Client,
    { name, controllers }: { readonly name: string; readonly controllers: readonly object[] },
  ): Promise<Process> {
    const { clock } = target;
    const manager = await DeclarativeManager.create({ client, clock, rbacPreflight: 'off' });
    const group = new Group({ manager });
    const operator = await group.addOperator(name, { controllers } as never);
    const started = new Process(group, operator.whenSynced());
    await target.eventually(async () => expect(started.#isSynced).to.equal(true));
    return started;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** Specs of operators that stop and restart while the cluster changes. */
export function restartsSuite(target: () => BuilderTarget): void {
  let namespace: string;
  let operator: Operator;

  before(() => installKinds(target().admin, target().clock));
  beforeEach(async () => {
    [namespace, operator] = await Promise.all([target().namespace(), target().operator()]);
  });

  const start = (controller: object): Promise<Process> => {
    // A process deletes leftovers of its name in all namespaces, so the name must be unique.
    const named = { name: `restarts-${namespace}`, controllers: [controller] };
    return Process.start(target(), operator.client, named);
  };
  const create = ({ type, content }: Texts, name: string, text: string): Promise<unknown> => {
    const metadata = { namespace, name, labels };
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, ...content(text) };
    return target().admin.create<UnstructuredObject>(object);
  };
  const keyed = (name: string): { readonly namespace: string; readonly name: string } => ({
    namespace,
    name,
  });
  const list = async ({ type }: Texts): Promise<readonly UnstructuredObject[]> => {
    const { items } = await target().admin.list(type, {
      namespace,
      labelSelector: 'suite=restarts',
    });
    return items as unknown as readonly UnstructuredObject[];
  };
  const expectTexts = (kind: Texts, texts: object): Promise<unknown> =>
    target().eventually(async () => {
      const found = (await list(kind)).map((object) => [object.metadata.name, kind.textOf(object)]);
      expect(Object.fromEntries(found)).to.deep.equal(texts);
    });

  for (const [title, from, to, text] of [
    ['built-in kinds with their versions', configMaps, deployments, '$.data.text'],
    ['custom kinds without their versions', gadgets, widgets, '$.spec.text'],
  ] as const) {
    const sources = (): readonly object[] => [
      { ...from.named, namespace, labelSelector: { matchLabels: labels } },
    ];

    it(`operators of ${title} undo changes and delete objects without a result after a restart, and then write nothing`, async () => {
      const updater = {
        ...{ name: 'copies', sources: sources(), target: to.named },
        pipeline: [{ '@project': { metadata: { ...sameName, labels }, ...to.content(text) } }],
      };
      for (const name of ['a', 'b', 'c']) await create(from, name, 'one');
      const first = await start(updater);
      await expectTexts(to, { a: 'one', b: 'one', c: 'one' });
      await first.stop();
      const { admin } = target();
      await admin.delete(from.type, keyed('b'));
      await admin.delete(to.type, keyed('c'));
      await create(from, 'd', 'two');
      await admin.patch(to.type, keyed('a'), { type: 'merge', body: to.content('by-hand') });
      const second = await start(updater);
      await expectTexts(to, { a: 'one', c: 'one', d: 'two' });
      await second.stop();
      await operator.requests();
      const third = await start(updater);
      await expectTexts(to, { a: 'one', c: 'one', d: 'two' });
      await third.stop();
      expect((await operator.requests()).filter(isWrite)).to.deep.equal([]);
    });

    it(`operators of ${title} set fields of a Patcher again after a restart, and remove fields whose source was deleted`, async () => {
      const onto = from === configMaps ? secrets : widgets;
      const patch = { checked: 'yes' };
      const patcher = {
        ...{ name: 'checks', sources: sources(), target: { ...onto.named, type: 'Patcher' } },
        pipeline: [{ '@project': { metadata: { ...sameName, labels: patch } } }],
      };
      for (const name of ['a', 'b']) {
        await create(from, name, 'one');
        await create(onto, name, 'one');
      }
      const expectChecked = (checked: object): Promise<unknown> =>
        target().eventually(async () => {
          const found = (await list(onto)).map(({ metadata }) => [metadata.name, metadata.labels]);
          expect(Object.fromEntries(found)).to.deep.equal(checked);
        });
      const both = { ...labels, ...patch };
      const first = await start(patcher);
      await expectChecked({ a: both, b: both });
      await first.stop();
      const { admin } = target();
      await admin.delete(from.type, keyed('b'));
      const body = { metadata: { labels: { checked: 'no' } } };
      await admin.patch(onto.type, keyed('a'), { type: 'merge', body });
      const second = await start(patcher);
      await expectChecked({ a: both, b: labels });
      await second.stop();
    });
  }
}

const secrets: Texts = {
  type: Secret,
  named: { apiGroup: '', version: 'v1', kind: 'Secret' },
  content: (text) => ({ stringData: { text } }),
  textOf: () => undefined,
};
