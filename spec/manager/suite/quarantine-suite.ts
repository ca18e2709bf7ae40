import { expect } from 'chai';
import { Builder } from '../../../lib/builder/index.js';
import { ensureCrd } from '../../../lib/client/ensure-crd.js';
import { controllerFor } from '../../../lib/controller/controller.js';
import { done } from '../../../lib/controller/result.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { Event } from '../../../lib/object/kinds.js';
import type {
  KubernetesObject,
  UnstructuredObject,
} from '../../../lib/object/kubernetes-object.js';
import { Manager } from '../../../lib/manager/manager.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { inspected, sectionText } from '../inspector/inspected.js';
import { onLoopback, served } from '../served.js';

interface Box extends KubernetesObject {
  spec?: Record<string, unknown>;
}
const type = { apiVersion: 'shop.example/v1', kind: 'Box' };
const boxType = {
  ...type,
  group: 'shop.example',
  version: 'v1',
  plural: 'boxes',
  namespaced: true,
};

const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const names = { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' };
const crd = {
  ...({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' } as const),
  metadata: { name: 'boxes.shop.example' },
  spec: {
    ...{ group: 'shop.example', scope: 'Namespaced', names },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
      },
    ],
  },
};

/** Specs about objects that nest too deeply, on the embedded and the real server. */
export function quarantineSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let namespace: string;
  let manager: Manager;
  let stop: () => Promise<void>;
  let seen: string[];
  let failed: string[];

  before(async () => {
    target = await newTarget();
    const { clock } = target;
    await ensureCrd(target.admin, crd, clock instanceof VirtualClock ? {} : { clock });
  });

  beforeEach(async () => {
    namespace = await target.namespace();
    [seen, failed] = [[], []];
    const { client } = await target.operator();
    const stopping = new AbortController();
    manager = new Manager({
      ...{ client, clock: target.clock, cacheOptions: { namespaces: [namespace] } },
      ...{ health: onLoopback, metrics: onLoopback, inspector: onLoopback, rbacPreflight: 'off' },
    });
    manager.add(boxKeeper());
    const over = manager.run(stopping.signal);
    stop = async () => {
      stopping.abort();
      await over;
    };
    await manager.whenLeading();
  });

  afterEach(() => stop());

  after(() => target.close());

  /** Returns a controller that records the objects it reads. */
  function boxKeeper() {
    return controllerFor<Box>(type)
      .withOptions({ name: 'box-keeper' })
      .complete(async ({ key, client }) => {
        try {
          const box = await client.get<Box>(type, key);
          seen.push(`${key.name} ${sizeOf(box)}`);
        } catch (error) {
          if (!isNotFound(error)) failed.push(`${key.name}: ${(error as { code: string }).code}`);
          if (!isNotFound(error)) throw error;
        }
        return done();
      });
  }

  const keyOf = (name: string) => ({ namespace, name });

  const create = (name: string, spec: Record<string, unknown>): Promise<Box> =>
    target.admin.create<Box>({ ...type, metadata: keyOf(name), spec });

  const replace = (name: string, spec: Record<string, unknown>): Promise<Box> =>
    target.admin.patch<Box>(type, keyOf(name), {
      type: 'json',
      operations: [{ op: 'replace', path: '/spec', value: spec }],
    });

  it('the manager quarantines an object that nests too deeply and reconciles all others', async () => {
    await create('before', { size: 1 });
    await create('poison', deep(target));
    await create('after', { size: 2 });
    await target.eventually(async () =>
      expect([...new Set(seen)]).to.have.members(['before 1', 'after 2']),
    );
    const ready = await served(manager, '/readyz?verbose');
    expect(ready.status).to.equal(200);
    expect(ready.text).to.match(/caches ok: in quarantine: Box .*\/poison \(object: nests deeper/);
    const { text } = await served(manager, '/metrics');
    expect(text).to.match(/operator_builder_cache_quarantined_objects\{kind="Box"\} 1/);
    const page = await inspected(manager, '/');
    expect(sectionText(page.text, 'quarantine')).to.match(/Box .*\/poison \d+ object: nests/);
    const shown = await inspected(manager, `/object?${query('poison')}`);
    expect(shown.status).to.equal(502);
    await target.eventually(async () => {
      const { items } = await target.admin.list(Event, { namespace });
      const about = items.map(({ regarding, reason, type: sort }) =>
        [regarding?.name, reason, sort].join(' '),
      );
      expect(about).to.deep.equal(['poison Quarantined Warning']);
    });
  });

  it('the manager reconciles a quarantined object again when a later version of it is valid', async () => {
    await create('poison', deep(target));
    await target.eventually(async () => expect(quarantined()).to.deep.equal(['poison']));
    await replace('poison', { size: 3 });
    await target.eventually(async () => expect(seen).to.deep.equal(['poison 3']));
    expect(quarantined()).to.deep.equal([]);
    expect(await served(manager, '/readyz/caches')).to.include({ status: 200 });
  });

  it('the manager fails reads of an object that has become invalid, instead of reporting it as deleted', async () => {
    await create('poison', { size: 1 });
    await target.eventually(async () => expect(seen).to.deep.equal(['poison 1']));
    await replace('poison', deep(target));
    await target.eventually(async () => expect(quarantined()).to.deep.equal(['poison']));
    expect(await codeOf(manager.client.get(type, keyOf('poison')))).to.equal('Quarantined');
    expect(await codeOf(manager.client.list(type, { namespace }))).to.equal('Quarantined');
    expect(await codeOf(manager.liveClient.get(type, keyOf('poison')))).to.equal('TooDeep');
    expect(await codeOf(manager.liveClient.list(type, { namespace }))).to.equal('TooDeep');
    expect([seen, failed]).to.deep.equal([['poison 1'], []]);
    await target.admin.delete(type, keyOf('poison'));
    await target.eventually(async () => expect(quarantined()).to.deep.equal([]));
    expect(await codeOf(manager.client.get(type, keyOf('poison')))).to.equal('ApiError');
  });

  it('the manager neither creates an owned object again whose live version is quarantined, nor prunes other objects of its owner', async () => {
    const owner = await create('owner', { size: 0 });
    const box = (name: string): UnstructuredObject => ({
      ...{ ...type, metadata: keyOf(name), spec: { size: 1 } },
    });
    const chain = (...owned: string[]): Builder =>
      owned.reduce<Builder>(
        (links, name) => links.object(box(name)),
        new Builder({
          ...{ client: manager.client, owner, controllerName: 'box-keeper', clock: target.clock },
          owns: [boxType],
        }),
      );
    await chain('one', 'other').reconcile();
    await replace('one', deep(target));
    await target.eventually(async () => expect(quarantined()).to.deep.equal(['one']));
    const before = await versions();
    expect(await codeOf(chain('one', 'other').reconcile())).to.equal('ReconcileFailed');
    expect(await codeOf(chain('one').reconcile())).to.equal('ReconcileFailed');
    expect(await codeOf(chain().reconcile())).to.not.equal('answered');
    expect(await versions()).to.deep.equal(before);
  });

  it('the manager records a single Event about a quarantined object although several replicas quarantine it', async () => {
    const { client } = await target.operator();
    const replicas = [1, 2].map(() => {
      const cacheOptions = { namespaces: [namespace] };
      const replica = new Manager({
        ...{ client, clock: target.clock, cacheOptions, rbacPreflight: 'off', metrics: onLoopback },
      });
      replica.add(boxKeeper());
      return replica;
    });
    const stopping = new AbortController();
    const over = Promise.all(replicas.map((replica) => replica.run(stopping.signal)));
    await Promise.all(replicas.map((replica) => replica.whenLeading()));
    await create('poison', deep(target));
    await target.eventually(async () => {
      for (const each of [manager, ...replicas]) {
        const { text } = await served(each, '/metrics');
        expect(text).to.include('\noperator_builder_events_written_total 1\n');
      }
    });
    stopping.abort();
    await over;
    const { items } = await target.admin.list(Event, { namespace });
    expect(items.map(({ regarding }) => regarding?.name)).to.deep.equal(['poison']);
  });

  const versions = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { items } of target.admin.pages(type, { namespace })) {
      found.push(...items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`));
    }
    return found;
  };

  const quarantined = (): string[] =>
    manager.cache.status().flatMap((kind) => kind.quarantined.map(({ name }) => name));

  const query = (name: string): string =>
    new URLSearchParams({ ...type, namespace, name }).toString();
}

/**
 * Returns a value so deep that recursive functions fail on it. The embedded server accepts at most
 * 1,000 levels.
 */
function deep({ real }: BuilderTarget): Record<string, unknown> {
  const levels = real ? 3_000 : 800;
  return JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as Record<string, unknown>;
}

function sizeOf({ spec }: Box): string {
  return String(spec?.['size']);
}

function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'answered',
    (error: unknown) => (error as { code: string }).code,
  );
}
