import { expect } from 'chai';
import { addFinalizer, removeFinalizer } from '../../lib/client/index.js';
import { configMapNamed } from './embedded-client.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';

const finalizer = 'example.com/hold';
const object = (finalizers?: string[]) => ({
  ...configMapNamed('web'),
  metadata: {
    ...configMapNamed('web').metadata,
    ...{ uid: 'u', resourceVersion: '7', ...(finalizers && { finalizers }) },
  },
});

describe('finalizers', () => {
  it('are written by a merge patch guarded by uid and resourceVersion', async () => {
    const { client, transport } = scripted(() => ({ json: object() }));
    await addFinalizer(client, object(['a']), { finalizer, fieldManager: 'me' });
    await removeFinalizer(client, object(['a', finalizer]), { finalizer });
    const path = '/api/v1/namespaces/default/configmaps/web';
    expect(transport.calls).to.deep.equal([`PATCH ${path}?fieldManager=me`, `PATCH ${path}`]);
    const bodies = transport.requests.map(({ body }) => JSON.parse(body as string) as unknown);
    const guard = { uid: 'u', resourceVersion: '7' };
    expect(bodies).to.deep.equal([
      { metadata: { ...guard, finalizers: ['a', finalizer] } },
      { metadata: { ...guard, finalizers: ['a'] } },
    ]);
  });

  it('send no request when there is no change', async () => {
    const { client, transport } = scripted(() => new Error('not asked'));
    const held = object([finalizer]);
    expect(await addFinalizer(client, held, { finalizer })).to.equal(held);
    const free = object();
    expect(await removeFinalizer(client, free, { finalizer })).to.equal(free);
    expect(transport.calls).to.deep.equal([]);
  });

  it('cannot be added to an object that no longer exists, but are removed from it without an error', async () => {
    const { client } = scripted(() => refusal(404, 'NotFound'));
    expect(await removeFinalizer(client, object([finalizer]), { finalizer })).to.equal(undefined);
    const error = await failureOf(addFinalizer(client, object(), { finalizer }));
    expect(error).to.have.property('status', 404);
  });

  it('cannot be added to an object without a resourceVersion', async () => {
    const { client } = scripted(() => new Error('not asked'));
    const error = await failureOf(addFinalizer(client, configMapNamed('web'), { finalizer }));
    expect(error).to.have.property('code', 'InvalidObject');
    expect(error.message).to.contain('ConfigMap default/web has no resourceVersion');
  });
});
