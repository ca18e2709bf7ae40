import { expect } from 'chai';
import { OperatorEvents } from '../../lib/events/operator-events.js';
import type { ObjectEvent } from '../../lib/events/recorder.js';
import { recordingClient } from '../../lib/events/recording-client.js';
import type { RecordingClientOptions } from '../../lib/events/recording-client.js';
import type { Secret } from '../../lib/object/kinds.js';
import { ConfigMap, Event, Lease } from '../../lib/object/kinds.js';
import type { Logger } from '../../lib/system/logger.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { FakeClient, apiError } from './fake-client.js';

const owner = { apiVersion: 'example.com/v1', kind: 'Tenant', namespace: 'shop', name: 'acme' };
const key = { namespace: 'shop', name: 'web' };
const web: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
const live = { ...web, metadata: { ...key, uid: 'u-1', resourceVersion: '7' } };
const ref = { apiVersion: 'v1', kind: 'ConfigMap', ...key };
const secret: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: key,
  stringData: { password: 'hunter2' },
};
const patch = { type: 'merge', body: { data: { a: 'b' } } } as const;

function setUp(options: RecordingClientOptions = {}) {
  const fake = new FakeClient();
  const recorded: ObjectEvent[] = [];
  const emitted: [string, unknown][] = [];
  const emitter = new OperatorEvents();
  for (const name of ['created', 'configured', 'deleted', 'failed'] as const) {
    emitter.on(name, (payload: unknown) => emitted.push([name, payload]));
  }
  const recorder = { record: (event: ObjectEvent): number => recorded.push(event) };
  const client = recordingClient(fake.client, { recorder, emitter, owner, ...options });
  const summary = (): string[] => recorded.map(({ reason, note }) => `${reason}: ${note}`);
  return { fake, client, recorded, emitted, summary };
}

describe('recordingClient', () => {
  const writes = [
    { verb: 'create', outcome: 'created', text: 'Created: Created ConfigMap shop/web' },
    { verb: 'update', outcome: 'configured', text: 'Configured: Configured ConfigMap shop/web' },
    { verb: 'patch', outcome: 'configured', text: 'Configured: Configured ConfigMap shop/web' },
    { verb: 'delete', outcome: 'deleted', text: 'Deleted: Deleted ConfigMap shop/web' },
  ] as const;

  const write = (client: ReturnType<typeof setUp>['client'], verb: string): Promise<unknown> => {
    if (verb === 'patch') return client.patch(ConfigMap, key, patch);
    if (verb === 'delete') return client.delete(ConfigMap, key);
    if (verb === 'apply') return client.apply(web);
    return verb === 'create' ? client.create(web) : client.update(web);
  };

  for (const { verb, outcome, text } of writes) {
    it(`reports a successful ${verb}`, async () => {
      const { fake, client, recorded, emitted, summary } = setUp();
      fake.answer = () => live;
      expect(await write(client, verb)).to.equal(live);
      expect(summary()).to.deep.equal([text]);
      expect(recorded[0]).to.deep.include({ regarding: owner, type: 'Normal' });
      expect(recorded[0]?.related).to.deep.equal({ ...ref, uid: 'u-1' });
      const payload = { ref: { ...ref, uid: 'u-1' }, owner, changes: [], cause: undefined };
      expect(emitted).to.deep.equal([[outcome, payload]]);
    });
  }

  it('distinguishes an apply that created the object from one that changed it', async () => {
    const { fake, client, summary } = setUp();
    for (const created of [true, false]) {
      fake.answer = () => ({ object: live, created });
      expect(await client.apply(web)).to.deep.equal({ object: live, created });
    }
    expect(summary()).to.deep.equal([
      'Created: Created ConfigMap shop/web',
      'Configured: Configured ConfigMap shop/web',
    ]);
  });

  for (const verb of ['create', 'update', 'patch', 'apply', 'delete']) {
    it(`reports a failed ${verb} and throws the error of the inner client`, async () => {
      const { fake, client, recorded, emitted, summary } = setUp();
      const error = apiError(500, 'InternalError', { message: 'broken', verb });
      fake.answer = () => {
        throw error;
      };
      const thrown = await write(client, verb).catch((each: unknown) => each);
      expect(thrown).to.equal(error);
      const action = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;
      expect(summary()).to.deep.equal([
        `${action}Failed: ${action} ConfigMap shop/web: ${error.message}`,
      ]);
      expect(recorded[0]).to.deep.include({ type: 'Warning', action, regarding: owner });
      expect(emitted).to.deep.equal([['failed', { ref, owner, verb, error }]]);
    });
  }

  it('does not report reads', async () => {
    const { client, recorded, emitted } = setUp();
    await client.get(ConfigMap, key);
    await client.list(ConfigMap);
    expect([...recorded, ...emitted]).to.be.empty;
  });

  for (const metadata of [{}, { name: 'may-i' }]) {
    it(`does not report the create of an access review ${metadata.name ?? 'without a name'}, since the server does not store it`, async () => {
      const { fake, client, recorded, emitted } = setUp();
      const review = {
        ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', metadata },
        spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
      };
      fake.answer = () => ({ ...review, status: { allowed: true } });
      expect(await client.create(review)).to.have.property('status');
      expect([recorded, emitted]).to.deep.equal([[], []]);
    });
  }

  it('does not report dry runs, subresources, Events and Leases, even failed ones', async () => {
    const { fake, client, recorded, emitted } = setUp();
    const event = { apiVersion: 'v1', kind: 'Event', metadata: key };
    const lease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key };
    const silent = async (): Promise<void> => {
      const calls = [
        client.create(web, { dryRun: true }),
        client.delete(ConfigMap, key, { dryRun: true }),
        client.deleteCollection(ConfigMap, { dryRun: true }),
        client.update(web, { subresource: 'status' }),
        client.patch(ConfigMap, key, patch, { subresource: 'scale' }),
        client.apply(web, { subresource: 'status' }),
        client.create(event),
        client.patch(Event, key, patch),
        client.update(lease),
        client.delete(Lease, key),
      ];
      await Promise.allSettled(calls);
    };
    await silent();
    fake.answer = () => {
      throw apiError(500);
    };
    await silent();
    expect(fake.calls).to.have.length(20);
    expect([...recorded, ...emitted]).to.be.empty;
  });

  it('reports writes of a custom kind that is named Event or Lease', async () => {
    const { client, recorded } = setUp();
    await client.create({ apiVersion: 'example.com/v1', kind: 'Event', metadata: key });
    await client.create({ apiVersion: 'example.com/v1', kind: 'Lease', metadata: key });
    expect(recorded).to.have.length(2);
  });

  it('does not report an update without a change', async () => {
    const { client, fake, recorded } = setUp();
    await client.update(live);
    expect(recorded).to.be.empty;
    fake.answer = () => ({ ...live, metadata: { ...live.metadata, resourceVersion: '8' } });
    await client.update(live);
    expect(recorded).to.have.length(1);
  });

  it('does not report an apply that names the resourceVersion and changes nothing', async () => {
    const { client, fake, recorded } = setUp();
    const answer = (resourceVersion: string, created = false) => ({
      ...{ object: { ...live, metadata: { ...live.metadata, resourceVersion } }, created },
    });
    const { resourceVersion } = live.metadata;
    fake.answer = () => answer(resourceVersion);
    await client.apply(live);
    expect(recorded).to.be.empty;
    fake.answer = () => answer('8');
    await client.apply(live);
    fake.answer = () => answer(resourceVersion, true);
    await client.apply(live);
    expect(recorded.map(({ reason }) => reason)).to.deep.equal(['Configured', 'Created']);
  });

  const game = [
    { title: 'a conflict', error: apiError(409, 'Conflict'), verb: 'update' },
    {
      title: 'a failed test of a JSON patch',
      error: apiError(422, '', { verb: 'patch' }),
      verb: 'patch',
    },
    {
      title: 'a create of an existing object',
      error: apiError(409, 'AlreadyExists'),
      verb: 'create',
    },
    { title: 'a delete of a missing object', error: apiError(404, 'NotFound'), verb: 'delete' },
    { title: 'an aborted call', error: new OperatorError('Aborted', 'stop'), verb: 'apply' },
    {
      title: 'a write that was not sent, because the replica no longer leads',
      ...{ error: new OperatorError('Fenced', 'not sent'), verb: 'apply' },
    },
    {
      title: 'a write that was not sent, because the operator stops',
      ...{ error: new OperatorError('Stopped', 'not sent'), verb: 'delete' },
    },
    {
      title: 'a namespace that is being deleted',
      error: apiError(403, 'Forbidden', { causes: [{ reason: 'NamespaceTerminating' }] }),
      verb: 'create',
    },
  ];
  it('reports that a webhook refuses a patch, even if the error names no field', async () => {
    const { fake, client, recorded } = setUp();
    const message = 'admission webhook "v.example.com" denied the request: frozen';
    const error = apiError(422, 'Invalid', { verb: 'patch', message });
    fake.answer = () => {
      throw error;
    };
    expect(await write(client, 'patch').catch((each: unknown) => each)).to.equal(error);
    expect(recorded.map(({ note }) => note).join()).to.include(message);
  });

  for (const { title, error, verb } of game) {
    it(`does not report ${title}`, async () => {
      const { fake, client, recorded, emitted } = setUp();
      fake.answer = () => {
        throw error;
      };
      expect(await write(client, verb).catch((each: unknown) => each)).to.equal(error);
      expect([...recorded, ...emitted]).to.be.empty;
    });
  }

  it('reports a create whose namespace or kind is missing', async () => {
    const { fake, client, recorded } = setUp();
    fake.answer = () => {
      throw apiError(404, 'NotFound');
    };
    await client.create(web).catch(() => undefined);
    expect(recorded[0]?.reason).to.equal('CreateFailed');
  });

  it('lists the first changed paths and the cause if the caller passes them', async () => {
    const changes = Array.from({ length: 12 }, (_, n) => ({ path: `data.k${n}`, from: 0, to: n }));
    const { fake, client, emitted, summary } = setUp();
    fake.answer = () => live;
    await client.patch(ConfigMap, key, patch, { details: { changes, cause: 'drift' } });
    const paths = 'data.k0, data.k1, data.k2, data.k3, data.k4, data.k5, data.k6, data.k7';
    const note = `Configured ConfigMap shop/web: ${paths}, data.k8, data.k9, 2 more (drift)`;
    expect(summary()).to.deep.equal([`Configured: ${note}`]);
    expect(emitted[0]?.[1]).to.deep.include({ changes, cause: 'drift' });
  });

  it('names each field manager that caused drift once, and omits unknown ones', async () => {
    const managers = ['kubectl-edit', 'unknown', undefined, 'kubectl-edit', 'helm'];
    const changes = managers.map((manager, n) => ({ path: `data.k${n}`, from: 0, to: n, manager }));
    const { fake, client, summary } = setUp();
    fake.answer = () => live;
    await client.patch(ConfigMap, key, patch, { details: { changes, cause: 'drift' } });
    expect(summary()[0]).to.match(/data\.k4 \(drift by kubectl-edit, helm\)$/);
  });

  describe('when a Secret is written', () => {
    const leaky = 'Secret "web" is invalid: data.password: Invalid value: "hunter2"';

    const failures = [
      {
        error: apiError(422, 'Invalid', { message: leaky, causes: [{ field: 'data.password' }] }),
        text: '422 Invalid at data.password',
      },
      { error: new OperatorError('InvalidObject', leaky), text: 'InvalidObject' },
      { error: new TypeError(leaky), text: 'the reason is not shown, it may quote data' },
    ];
    for (const { error, text } of failures) {
      it(`never quotes the Secret's data when ${error.name} fails the write`, async () => {
        const { fake, client, recorded } = setUp();
        fake.answer = () => {
          throw error;
        };
        await client.create(secret).catch(() => undefined);
        expect(recorded[0]?.note).to.equal(`Create Secret shop/web: ${text}`);
      });
    }

    it('shows the changed keys without their values', async () => {
      const changes = [{ path: 'data.password', from: undefined, to: 'hunter2' }];
      const { client, recorded, emitted } = setUp();
      await client.create(secret, { details: { changes } });
      expect(recorded[0]?.note).to.equal('Created Secret shop/web: data.password');
      expect(JSON.stringify([recorded, emitted])).not.to.contain('hunter2');
    });
  });

  it('writes the Event on the object itself if there is no owner', async () => {
    const { client, recorded } = setUp({ owner: undefined });
    await client.create(web);
    expect(recorded[0]).to.deep.include({ regarding: ref, related: undefined });
  });

  it('omits the related object if it is the owner itself', async () => {
    const { fake, client, recorded } = setUp({ owner: live });
    fake.answer = () => live;
    await client.patch(ConfigMap, key, patch);
    expect(recorded[0]).to.deep.include({ related: undefined });
    expect(recorded[0]?.regarding).to.deep.include({ name: 'web', uid: 'u-1' });
  });

  it('names the written object as related if only its name, or its name and kind, equal those of the owner', async () => {
    const { client, recorded } = setUp({ owner: live });
    await client.create(secret);
    await client.create({ ...web, apiVersion: 'example.com/v1' });
    expect(recorded.map(({ related }) => related)).to.deep.equal([
      { ...ref, kind: 'Secret' },
      { ...ref, apiVersion: 'example.com/v1' },
    ]);
  });

  it('uses the name that the server generated', async () => {
    const { fake, client, summary } = setUp();
    const generated = { ...web, metadata: { namespace: 'shop', generateName: 'web-' } };
    fake.answer = ({ body }) => ({ ...(body as object), metadata: { ...key, name: 'web-x' } });
    await client.create(generated);
    expect(summary()).to.deep.equal(['Created: Created ConfigMap shop/web-x']);
  });

  it('names kind, namespace and selector of a deleteCollection', async () => {
    const { client, recorded, emitted, summary } = setUp();
    const labelSelector = { matchLabels: { app: 'web' } };
    await client.deleteCollection(ConfigMap, { namespace: 'shop', labelSelector });
    expect(summary()).to.deep.equal(['Deleted: Deleted every ConfigMap in shop with app=web']);
    expect(recorded[0]).to.deep.include({ regarding: owner, related: undefined });
    expect(emitted).to.be.empty;
  });

  it('lets a write succeed although recording its Event fails', async () => {
    const lines: string[] = [];
    const logger = { error: (line: string) => lines.push(line) } as Partial<Logger> as Logger;
    const recorder = {
      record: () => {
        throw new Error('broken');
      },
    };
    const { client } = setUp({ recorder, logger });
    expect(await client.create(web)).to.equal(web);
    expect(lines).to.deep.equal(['the Event about a write could not be recorded']);
  });
});
