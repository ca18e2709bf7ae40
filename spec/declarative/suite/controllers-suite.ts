import { expect } from 'chai';
import { ensureCrd } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { DeclarativeController } from '../../../lib/declarative/runtime/declarative-controller.js';
import type { ReportedError } from '../../../lib/declarative/runtime/reported-errors.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import { ConfigMap, Secret } from '../../../lib/object/kinds.js';
import type { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { isWrite } from '../../builder/suite/target.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { readController, sameName } from '../runtime/controller-scene.js';
import { restartsSuite } from './restarts.js';

/** A process with controllers of the operator `suite`. */
class Process {
  readonly errors: ReportedError[] = [];
  readonly controllers: DeclarativeController[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  async start(target: BuilderTarget, client: Client, specs: readonly object[]): Promise<void> {
    const { clock } = target;
    const manager = await DeclarativeManager.create({ client, clock, rbacPreflight: 'off' });
    const onError = (error: ReportedError): void => void this.errors.push(error);
    for (const spec of specs.map(readController)) {
      const controller = new DeclarativeController({ operator: 'suite', spec, manager, onError });
      await controller.start();
      this.controllers.push(controller);
    }
    this.#running = manager.run(this.#stop.signal);
  }

  async synced(target: BuilderTarget): Promise<void> {
    const synced = { is: false };
    void Promise.all(this.controllers.map((each) => each.whenSynced())).then(
      () => (synced.is = true),
      () => undefined, // The wait below fails then.
    );
    await target.eventually(async () => expect(synced.is).to.equal(true));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** Controllers that write a view for each ConfigMap in a namespace, and a Secret for each view. */
function chain(namespace: string): readonly object[] {
  const passed = { '@project': { metadata: sameName, data: '$.data' } };
  return [
    {
      ...{ name: 'views', target: { kind: 'Copy' }, pipeline: [passed] },
      sources: [{ apiGroup: '', kind: 'ConfigMap', namespace, labelSelector }],
    },
    {
      ...{ name: 'secrets', target: { apiGroup: '', kind: 'Secret' }, pipeline: [passed] },
      sources: [{ kind: 'Copy' }],
    },
  ];
}

// Excludes the ConfigMap that a real server adds to each namespace.
const labelSelector = { matchLabels: { suite: 'controllers' } };

function configMap(namespace: string, name: string, text: string): ConfigMap {
  const metadata = { namespace, name, labels: { suite: 'controllers' } };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text } };
}

const byPerson = { fieldManager: 'person', force: true };

/** Specs of declarative controllers, for the embedded server and a real one. */
export function declarativeControllersSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;

  before(async () => {
    target = await newTarget();
  });
  after(async () => {
    await target.close();
  });

  describe('when their process restarts', () => restartsSuite(() => target));

  const texts = async (namespace: string): Promise<object> => {
    const { items } = await target.admin.list(Secret, { namespace });
    const decoded = items.map(({ metadata, data }) => {
      const text = Buffer.from(data?.['text'] ?? '', 'base64').toString();
      return [metadata.name ?? '', text] as const;
    });
    return Object.fromEntries(decoded);
  };

  it('declarative controllers write their results, and after a restart write only changed objects', async () => {
    const namespace = await target.namespace();
    const operator = await target.operator();
    for (const name of ['a', 'b']) await target.admin.create(configMap(namespace, name, 'one'));
    const run = async (): Promise<Process> => {
      const started = new Process();
      await started.start(target, operator.client, chain(namespace));
      await started.synced(target);
      return started;
    };
    const first = await run();
    await target.eventually(async () =>
      expect(await texts(namespace)).to.deep.equal({ a: 'one', b: 'one' }),
    );
    await target.admin.apply(configMap(namespace, 'a', 'two'), byPerson);
    await target.eventually(async () =>
      expect(await texts(namespace)).to.deep.equal({ a: 'two', b: 'one' }),
    );
    await first.stop();

    await operator.requests();
    const second = await run();
    await target.eventually(async () =>
      expect(await texts(namespace)).to.deep.equal({ a: 'two', b: 'one' }),
    );
    await second.stop();
    expect((await operator.requests()).filter(isWrite)).to.deep.equal([]);

    await target.admin.delete(ConfigMap, { namespace, name: 'b' });
    await target.admin.delete(Secret, { namespace, name: 'a' });
    const third = await run();
    await target.eventually(async () => expect(await texts(namespace)).to.deep.equal({ a: 'two' }));
    const [, secrets] = third.controllers;
    await secrets?.stop({ cleanUp: 'delete' });
    expect(await texts(namespace)).to.deep.equal({});
    await third.stop();
    expect([first, second, third].flatMap(({ errors }) => errors)).to.deep.equal([]);
  });

  it('declarative controllers undo changes and deletions of their target objects at once, and then send no requests', async () => {
    const namespace = await target.namespace();
    const operator = await target.operator();
    await target.admin.create(configMap(namespace, 'a', 'one'));
    const started = new Process();
    await started.start(target, operator.client, chain(namespace));
    await started.synced(target);
    const isRight = (): Promise<unknown> =>
      target.eventually(async () => expect(await texts(namespace)).to.deep.equal({ a: 'one' }));
    await isRight();
    const body = { data: { text: Buffer.from('by hand').toString('base64') } };
    await target.admin.patch(Secret, { namespace, name: 'a' }, { type: 'merge', body });
    await isRight();
    await target.admin.delete(Secret, { namespace, name: 'a' });
    await isRight();
    // Own writes and unrelated changes cause no requests.
    await target.eventually(async () => expect(await operator.requests()).to.deep.equal([]));
    const metadata = { labels: { theirs: '1' } };
    await target.admin.patch(
      Secret,
      { namespace, name: 'a' },
      { type: 'merge', body: { metadata } },
    );
    await target.admin.apply(configMap(namespace, 'b', 'two'), byPerson);
    await target.eventually(async () =>
      expect(await texts(namespace)).to.deep.equal({ a: 'one', b: 'two' }),
    );
    const asked = (await operator.requests()).filter(({ name }) => name === 'a');
    expect(asked).to.deep.equal([]);
    await started.stop();
    expect(started.errors).to.deep.equal([]);
  });

  it('declarative controllers set a field of a Patcher again that another client has changed, and patch a missing object as soon as it exists', async () => {
    const namespace = await target.namespace();
    const operator = await target.operator();
    await target.admin.create(configMap(namespace, 'a', 'one'));
    const labels = { checked: 'yes' };
    const patcher = {
      ...{ name: 'labels', target: { apiGroup: '', kind: 'Secret', type: 'Patcher' } },
      sources: [{ apiGroup: '', kind: 'ConfigMap', namespace, labelSelector }],
      pipeline: [{ '@project': { metadata: { ...sameName, labels } } }],
    };
    const started = new Process();
    await started.start(target, operator.client, [patcher]);
    const key = { namespace, name: 'a' };
    await target.eventually(async () => expect(started.errors).not.to.deep.equal([]));
    await target.admin.create({ apiVersion: 'v1', kind: 'Secret', metadata: key });
    const isRight = (): Promise<unknown> =>
      target.eventually(async () =>
        expect((await target.admin.get(Secret, key)).metadata.labels).to.deep.equal(labels),
      );
    await isRight();
    const body = { metadata: { labels: { checked: 'no' } } };
    await target.admin.patch(Secret, key, { type: 'merge', body });
    await isRight();
    await started.stop();
  });

  it('declarative controllers wait for a kind that is not served yet', async () => {
    // The embedded server would need virtual time to advance; other specs cover it.
    if (!target.real) return;
    const namespace = await target.namespace();
    const operator = await target.operator();
    const gizmos = {
      ...{ name: 'gizmos', target: { apiGroup: '', kind: 'ConfigMap' } },
      sources: [{ apiGroup: 'controllers.example.com', kind: 'Gizmo', namespace }],
      pipeline: [{ '@project': { metadata: sameName, data: { text: '$.spec.text' } } }],
    };
    const started = new Process();
    await started.start(target, operator.client, [gizmos]);
    expect(started.controllers[0]?.status().conditions[0]).to.include({ status: 'Unknown' });
    await ensureCrd(target.admin, definition as CustomResourceDefinition, { clock: target.clock });
    const gizmo: UnstructuredObject = {
      ...{ apiVersion: 'controllers.example.com/v1', kind: 'Gizmo' },
      ...{ metadata: { namespace, name: 'g' }, spec: { text: 'there' } },
    };
    await target.admin.create(gizmo);
    await target.eventually(async () => {
      const made = await target.admin.get(ConfigMap, { namespace, name: 'g' });
      expect(made.data).to.deep.equal({ text: 'there' });
    });
    expect(started.controllers[0]?.status().conditions[0]).to.include({ status: 'True' });
    await started.stop();
  });
}

const definition = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'gizmos.controllers.example.com' },
  spec: {
    ...{ group: 'controllers.example.com', scope: 'Namespaced' as const },
    names: { kind: 'Gizmo', plural: 'gizmos', singular: 'gizmo', listKind: 'GizmoList' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
};
