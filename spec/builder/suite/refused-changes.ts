import { expect } from 'chai';
import type { Builder } from '../../../lib/builder/index.js';
import { forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { ApiError } from '../../../lib/object/api-error.js';
import { Deployment } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { errorsOf } from './immutable.js';
import { podSpec } from './scene.js';
import type { Scene } from './scene.js';

/** Specs about changes that a webhook or a policy refuses. */
export function refusedChangesSuite(open: OpenScene): void {
  for (const [title, message, causes] of [
    [
      'a policy, even if its message says that objects cannot be changed',
      `deployments.apps "api" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: objects of this namespace can't be changed`,
      [{ message: "objects of this namespace can't be changed" }],
    ],
    [
      'a webhook, although an immutable field changes too',
      'admission webhook "freeze.example.com" denied the request: no changes until Monday',
      [],
    ],
    [
      'a webhook that reports an unchanged field as immutable',
      'admission webhook "api.example.com" denied the request: spec.paused: Forbidden: field is immutable',
      [{ field: 'spec.paused', message: 'Forbidden: field is immutable' }],
    ],
  ] as const) {
    it(`the builder deletes nothing if the change is refused by ${title}`, async () => {
      const scene = await open();
      await recreatingChain(scene, 'a').reconcile();
      const { uid } = (await scene.get(Deployment, 'api')).metadata;
      const client = { ...forwarding(scene.operator.client), apply: refusal(message, causes) };
      const [error] = await errorsOf(recreatingChain(scene, 'b', client));
      expect(error?.message).to.include(message);
      expect((await scene.get(Deployment, 'api')).metadata.uid).to.equal(uid);
    });
  }

  it('the builder recreates an object if a webhook reports a changed field as immutable', async () => {
    const scene = await open();
    await recreatingChain(scene, 'a').reconcile();
    const { uid } = (await scene.get(Deployment, 'api')).metadata;
    const message =
      'admission webhook "api.example.com" denied the request: spec.selector is immutable';
    const { client } = scene.operator;
    const refused = refusal(message, [{ field: 'spec.selector', message: 'is immutable' }]);
    let applies = 0;
    const apply: Client['apply'] = (...call) =>
      applies++ === 0 ? refused() : client.apply(...call);
    await recreatingChain(scene, 'b', { ...forwarding(client), apply }).reconcile();
    expect((await scene.get(Deployment, 'api')).metadata.uid).not.to.equal(uid);
  });

  it('the builder tries again to recreate an object if a policy refuses the new object', async () => {
    const scene = await open();
    await recreatingChain(scene, 'a').reconcile();
    const message = `deployments.apps "api" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`;
    const client = { ...forwarding(scene.operator.client), create: refusal(message, []) };
    const [error] = await errorsOf(recreatingChain(scene, 'b', client));
    expect(error?.code).not.to.equal('Terminal');
    expect(error?.message).to.include(message);
  });
}

function recreatingChain(scene: Scene, app: string, client?: Client): Builder {
  return scene
    .builder({ onImmutable: 'recreate', ...(client && { client }) })
    .deployment({ name: 'api', selector: { app }, podSpec });
}

/** Returns a call that a webhook or a policy refuses with 422. */
function refusal(
  message: string,
  causes: readonly { readonly field?: string; readonly message: string }[],
): () => Promise<never> {
  const body = { reason: 'Invalid', message, details: { causes: [...causes] } };
  return () =>
    Promise.reject(
      new ApiError(body, { verb: 'apply', kind: 'Deployment', name: 'api', status: 422 }),
    );
}
